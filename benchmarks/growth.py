"""`make bench-growth`: what a run of the pipeline costs, and how that grows with commits, forks and sources.

Writes GROWTH.md; with names of parts it measures these, and leaves the other sections as they are. Seconds are those
of the clock, as users wait for them; CPU seconds are those of all processes, which other work on the machine disturbs
less.
"""

from __future__ import annotations

import argparse
import datetime
import inspect
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle
from pathlib import Path
from typing import NamedTuple

from benchmarks.pipeline.watch import ALL, DRIVER, JVM, TASKS, WORKERS, Watched, watch
from benchmarks.results import aligned
from benchmarks.sample import WHO, arguments
from benchmarks.timing import CommandError
from benchmarks.workspace import REPOSITORY, corpus_root, empty_scratch, find_corpus
from kiplint.text.words import plural

PAGE = REPOSITORY / "benchmarks" / "GROWTH.md"
SIZES = (1, 10, 100, 1_000, 2_000)
HISTORIES, HISTORY = (1, 8, 32, 128), 1_000
"""How many long histories there are, and how many commits each has."""
EXECUTORS, SHARED = (1, 2, 4), 4
"""How many executors there are, of one core each, and how many long histories they share."""
FORKS, REPOSITORIES = 30, 300
COMMITS = 20_000
FLOOR = "from kiplint.pipeline.session import make_session; make_session().range(1000).repartition(2).count()"
OPEN_FILES = 256
TIME = 1_790_000_000
VERSIONS = ("0", "0-1", "0-2")
"""The valid versions of a small repository's RPC, commit by commit."""
MEMORY = {"driver MiB": DRIVER, "JVM MiB": JVM, "workers MiB": WORKERS, "together MiB": ALL}
COLUMNS = ("run", "seconds", "target", "met", "CPU s", "task CPU s", *MEMORY)
_STAGE = re.compile(r"(\w+) +([\d.]+) s  ")


class Row(NamedTuple):
    """A measured run, and the limit of its duration in seconds; 0 for no limit.

    `task CPU s` of the page are those of Spark's tasks: threads of the JVM, and workers in Python.
    """

    title: str
    done: Watched
    most: float = 0.0


def increment() -> Iterator[Row]:
    """Kafka's trunk and releases: whole, with one new commit, and with nothing new; before them three commits.

    The floor is a session of Spark with a single job; three commits may take three times as long.
    """
    where = empty_scratch("growth", "increment")
    floor = watch([sys.executable, "-P", "-c", FLOOR])
    yield Row("the floor", floor)
    three = _run(where / "little", *arguments([f"small={small(where / 'small', 1)}#main"]))
    yield Row("three commits", three, 3 * floor.wall)
    repository = clone(_history(), where / "kafka")
    last = git(repository, "rev-parse", "refs/heads/trunk")
    git(repository, "update-ref", "refs/heads/trunk", f"{last}~1")
    sources = arguments((f"kafka={repository}#trunk", f"kafka={repository}#tags"))
    yield Row("Kafka's whole history", _run(where / "lake", *sources), 60)
    git(repository, "update-ref", "refs/heads/trunk", last)
    yield Row("one new commit", _run(where / "lake", "--resume"), 25)
    yield Row("nothing new", _run(where / "lake", "--resume"), 1)


def forks() -> Iterator[Row]:
    """Forks with upstream's releases and a definition of their own, among small repositories; then what is asked."""
    where = empty_scratch("growth", "forks")
    bundle = _history()
    sources = [f"kafka={bundle}#trunk", f"kafka={bundle}#tags"]
    sources += [f"fork-{number}={fork(bundle, where / f'fork-{number}', number)}#tags" for number in range(FORKS)]
    others = range(FORKS, REPOSITORIES)
    sources += [f"small-{number}={small(where / f'small-{number}', number)}#main" for number in others]
    lake = where / "lake"
    yield Row(f"{FORKS} forks of Kafka among {REPOSITORIES} repositories", _run(lake, *arguments(sources)))
    yield Row("forks", _kiplint("forks", str(lake)), 10)
    yield Row("forks --merging 3.8.0", _kiplint("forks", str(lake), "--merging", "3.8.0"), 10)
    yield Row("report, with its page", _kiplint("report", str(lake), "--output-format", f"html={where / 'page.html'}"))


def sources() -> Iterator[Row]:
    """Small repositories, each with definitions of its own, by a process that may open 256 files."""
    where = empty_scratch("growth", "sources")
    places = [small(where / f"repository-{number}", number) for number in range(max(SIZES))]
    for count in SIZES:
        options = arguments(f"source-{number}={place}#main" for number, place in enumerate(places[:count]))
        yield Row(
            f"{plural(count, 'source')} of three commits", _run(where / f"lake-{count}", *options, files=OPEN_FILES)
        )


def histories() -> Iterator[Row]:
    """Sources with long histories of their own: each commit changes a definition of the sample set."""
    where = empty_scratch("growth", "histories")
    places = [busy(where / f"history-{number}", HISTORY, f"{number}-") for number in range(max(HISTORIES))]
    for count in HISTORIES:
        options = arguments(f"history-{number}={place}#main" for number, place in enumerate(places[:count]))
        yield Row(f"{plural(count, 'source')} of {HISTORY:,} commits", _run(where / f"lake-{count}", *options))


def executors() -> Iterator[Row]:
    """The same long histories on Spark's standalone master, with workers that have a core each, on this machine."""
    where = empty_scratch("growth", "executors")
    places = [busy(where / f"history-{number}", HISTORY, f"{number}-") for number in range(SHARED)]
    options = arguments(f"history-{number}={place}#main" for number, place in enumerate(places))
    for count in EXECUTORS:
        run = _run(where / f"lake-{count}", *options, "--master", f"local-cluster[{count},1,1024]")
        yield Row(f"{plural(count, 'executor')}, {SHARED} sources of {HISTORY:,} commits", run)


def commits() -> Iterator[Row]:
    """A line on which each commit changes a definition of the sample set."""
    where = empty_scratch("growth", "commits")
    repository = busy(where / "repository", COMMITS)
    yield Row(f"{COMMITS:,} commits", _run(where / "lake", *arguments([f"busy={repository}#main"])))


PARTS: dict[str, Callable[[], Iterator[Row]]] = {
    "increment": increment,
    "forks": forks,
    "sources": sources,
    "histories": histories,
    "executors": executors,
    "commits": commits,
}


def git(repository: Path, *words: str, stdin: bytes | None = None) -> str:
    """What git prints."""
    env = {**WHO, "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(repository)}
    command = ["git", "-C", str(repository), *words]
    process = subprocess.run(command, input=stdin, env=env, capture_output=True, check=True)
    return process.stdout.decode().strip()


def clone(bundle: Path, place: Path) -> Path:
    """A bundle as a bare repository."""
    place.mkdir()
    git(place.parent, "clone", "--quiet", "--mirror", str(bundle), str(place))
    return place


def fork(bundle: Path, place: Path, number: int) -> Path:
    """A clone whose last release was taken back for one of its own, with a definition more."""
    clone(bundle, place)
    form = "--format=%(refname:strip=2)"
    last = git(place, "for-each-ref", "--sort=-version:refname", "--count=1", form, "refs/tags")
    paths = git(place, "ls-tree", "-r", "--name-only", f"{last}^{{tree}}").splitlines()
    folder = next(path for path in paths if path.endswith("/ApiVersionsRequest.json")).rpartition("/")[0]
    files = {f"{folder}/{name}": text for name, text in _rpc(number, "0").items()}
    _import(place, _commit(f"refs/tags/{last}", TIME + number, files, parent=f"{last}^{{commit}}"))
    return place


def small(place: Path, number: int) -> Path:
    """A bare repository with a branch `main` of three commits, and an RPC that no other one has."""
    revisions = ({f"schemas/{name}": text for name, text in _rpc(number, versions).items()} for versions in VERSIONS)
    return _make_repository(place, revisions)


def busy(place: Path, count: int, prefix: str = "") -> Path:
    """A bare repository: its branch `main` begins with the sample set, then each commit changes one description."""
    texts = {file.name: file.read_text("utf-8") for file in (REPOSITORY / "fixtures/sets/broker").rglob("*.json")}
    schemas = {name: text for name, text in texts.items() if '"about": "' in text}

    def revisions() -> Iterator[dict[str, str]]:
        yield {f"schemas/{name}": text for name, text in texts.items()}
        for number, name in zip(range(1, count), cycle(sorted(schemas))):
            yield {f"schemas/{name}": schemas[name].replace('"about": "', f'"about": "Revision {prefix}{number}: ', 1)}

    return _make_repository(place, revisions())


def _make_repository(place: Path, revisions: Iterable[dict[str, str]]) -> Path:
    place.mkdir()
    git(place, "init", "--quiet", "--bare", "--template=", "--initial-branch=main")
    _import(place, "".join(_commit("refs/heads/main", TIME + at, files) for at, files in enumerate(revisions)))
    return place


def _import(place: Path, stream: str) -> None:
    git(place, "fast-import", "--quiet", "--force", stdin=f"{stream}done\n".encode())


def _commit(ref: str, time: int, files: dict[str, str], parent: str = "") -> str:
    """A commit as `git fast-import` reads it."""
    above = f"from {parent}\n" if parent else ""
    head = f"commit {ref}\ncommitter kiplint <kiplint@example.org> {time} +0000\ndata 0\n{above}"
    changes = (f"M 644 inline {path}\ndata {len(text.encode())}\n{text}\n" for path, text in files.items())
    return head + "".join(changes) + "\n"


def _rpc(number: int, versions: str) -> dict[str, str]:
    name = f"Fork{number}Thing"
    fields = [{"name": f"Field{number}", "type": "int32", "versions": "0+", "about": "A number."}]
    same = {"apiKey": 5_000 + number, "validVersions": versions, "flexibleVersions": "0+", "fields": fields}
    kinds = {"Request": {"listeners": ["broker"]}, "Response": {}}
    return {
        f"{name}{kind}.json": json.dumps({"type": kind.lower(), "name": f"{name}{kind}", **more, **same})
        for kind, more in kinds.items()
    }


def _run(lake: Path, *words: str, files: int = 0) -> Watched:
    return _kiplint("run", *words, "--out", str(lake), files=files)


def _kiplint(*words: str, files: int = 0) -> Watched:
    command = [sys.executable, "-P", "-m", "kiplint", "pipeline", *words]
    limit = ["sh", "-c", f'ulimit -S -n {files} && exec "$@"', "sh"] if files else []
    return watch([*limit, *command])


def _history() -> Path:
    history = find_corpus().history
    if not history:
        raise CommandError(f"Kafka's own history is not at {corpus_root()}: set KIPLINT_CORPUS")
    return history


def tables(rows: list[Row]) -> Iterator[str]:
    """Markdown tables: one of all runs, and one with the seconds of each stage, for runs that executed stages."""
    lines = [COLUMNS, ("---", *("---:" for _ in COLUMNS[1:]))]
    for row in rows:
        verdict = ("yes" if row.done.wall <= row.most else "no") if row.most else "-"
        sizes = (f"{row.done.peaks.get(kind, 0):,.0f}" for kind in MEMORY.values())
        last = row.done.moments[-1]
        tasks = last.threads.get(TASKS, 0.0) + last.cpu.get(WORKERS, 0.0)
        target = f"<= {row.most:.3g}" if row.most else "-"
        seconds = (f"{sum(last.cpu.values()):,.1f}", f"{tasks:,.1f}")
        lines.append((row.title, f"{row.done.wall:,.1f}", target, verdict, *seconds, *sizes))
    yield _table(lines)
    stages = {row.title: dict(filter(None, map(_stage, row.done.lines))) for row in rows}
    names = list(dict.fromkeys(name for seconds in stages.values() for name in seconds))
    if names:
        rest = ((title, *(seconds.get(name, "-") for name in names)) for title, seconds in stages.items() if seconds)
        yield _table([("seconds of stage", *names), ("---", *("---:" for _ in names)), *rest])


def _stage(line: tuple[float, str]) -> tuple[str, str] | None:
    match = _STAGE.match(line[1])
    return (match[1], match[2]) if match else None


def _table(lines: list[tuple[str, ...]]) -> str:
    return "\n".join(f"| {line} |" for line in aligned(lines, between=" | "))


def main() -> int:
    """Print a section for each part, and write it into the page; 0 unless a command failed, whatever figures are."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)} (default: all)")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    for name in options.parts or PARTS:
        try:
            section = _section(name, list(PARTS[name]()))
        except CommandError as error:
            print(f"benchmarks: {error}", file=sys.stderr)
            return 1
        print(f"\n{section}", flush=True)
        sections = _sections() | {name: section}
        PAGE.write_text("\n".join([_ABOUT, *(sections[part] for part in PARTS if part in sections)]), "utf-8")
    return 0


def _section(name: str, rows: list[Row]) -> str:
    head = f"{inspect.getdoc(PARTS[name])}\n\n{datetime.date.today()}, {_machine()}:"
    return "\n\n".join((f"## {name.capitalize()}", head, *tables(rows))) + "\n"


def _sections() -> dict[str, str]:
    """The sections of the page by their parts."""
    text = PAGE.read_text("utf-8") if PAGE.exists() else ""
    sections = (f"## {section.rstrip()}\n" for section in text.split("\n## ")[1:])
    return {section.split()[1].lower(): section for section in sections}


_ABOUT = """\
# How the pipeline grows

Written by `make bench-growth`; do not edit. `KIPLINT_CORPUS` names the directory of Kafka's history.

Each run is the command that users run, `kiplint pipeline run` into a new lake unless the title says otherwise, on all
cores, the start of Spark included. Seconds are those of the clock; CPU seconds and memory (resident, at the worst
moment) are those of all processes; `task CPU s` are those of Spark's tasks alone. The runs of `Sources` may open 256
files at once.
"""


def _machine() -> str:
    return f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()} {platform.release()}"


if __name__ == "__main__":
    raise SystemExit(main())
