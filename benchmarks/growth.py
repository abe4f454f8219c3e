"""`make bench-growth`: what a run of the pipeline costs, and how that grows with commits and sources.

Writes GROWTH.md; with names of parts it measures these, and leaves the other sections as they are.
"""

from __future__ import annotations

import argparse
import datetime
import inspect
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import cycle
from pathlib import Path

from benchmarks.results import aligned
from benchmarks.sample import WHO
from benchmarks.timing import CommandError
from benchmarks.watch import Watched, watch
from benchmarks.workspace import REPOSITORY, corpus_root, empty_scratch, find_corpus
from kiplint.text.words import plural

PAGE = REPOSITORY / "benchmarks" / "GROWTH.md"
HISTORIES, HISTORY = (1, 8, 32), 1_000
"""How many long histories there are, and how many commits each has."""
TIME = 1_790_000_000
COLUMNS = ("run", "seconds", "CPU s", "task CPU s", "peak MiB")
Row = tuple[str, Watched]


def increment() -> Iterator[Row]:
    """Kafka's trunk and releases: whole, with one new commit, and with nothing new."""
    where = empty_scratch("growth", "increment")
    repository = where / "kafka"
    git(where, "clone", "--quiet", "--mirror", str(_history()), str(repository))
    last = git(repository, "rev-parse", "refs/heads/trunk")
    git(repository, "update-ref", "refs/heads/trunk", f"{last}~1")
    sources = (f"kafka={repository}#trunk", f"kafka={repository}#tags")
    yield "Kafka's whole history", _run(where / "lake", *sources)
    git(repository, "update-ref", "refs/heads/trunk", last)
    yield "one new commit", _run(where / "lake")
    yield "nothing new", _run(where / "lake")


def histories() -> Iterator[Row]:
    """Sources with long histories of their own: each commit changes a definition of the sample set."""
    where = empty_scratch("growth", "histories")
    repositories = [make_history(where / f"history-{number}", f"{number}-") for number in range(max(HISTORIES))]
    for count in HISTORIES:
        sources = [f"history-{number}={place}#main" for number, place in enumerate(repositories[:count])]
        yield f"{plural(count, 'source')} of {HISTORY:,} commits", _run(where / f"lake-{count}", *sources)


PARTS: dict[str, Callable[[], Iterator[Row]]] = {"increment": increment, "histories": histories}


def make_history(repository: Path, prefix: str) -> Path:
    """A bare repository: its branch `main` begins with the sample set, then each commit changes one description."""
    texts = {file.name: file.read_text("utf-8") for file in (REPOSITORY / "fixtures/sets/broker").rglob("*.json")}
    schemas = {name: text for name, text in texts.items() if '"about": "' in text}
    revisions = [texts]
    for number, name in zip(range(1, HISTORY), cycle(sorted(schemas))):
        revisions.append({name: schemas[name].replace('"about": "', f'"about": "Revision {prefix}{number}: ', 1)})
    repository.mkdir()
    git(repository, "init", "--quiet", "--bare", "--template=", "--initial-branch=main")
    stream = "".join(_commit(TIME + at, files) for at, files in enumerate(revisions))
    git(repository, "fast-import", "--quiet", "--force", stdin=f"{stream}done\n".encode())
    return repository


def _commit(time: int, files: dict[str, str]) -> str:
    """A commit as `git fast-import` reads it."""
    head = f"commit refs/heads/main\ncommitter kiplint <kiplint@example.org> {time} +0000\ndata 0\n"
    changes = (f"M 644 inline schemas/{name}\ndata {len(text.encode())}\n{text}\n" for name, text in files.items())
    return head + "".join(changes) + "\n"


def git(repository: Path, *words: str, stdin: bytes | None = None) -> str:
    """What git prints."""
    env = {**WHO, "PATH": os.environ["PATH"], "HOME": str(repository)}
    command = ["git", "-C", str(repository), *words]
    process = subprocess.run(command, input=stdin, env=env, capture_output=True, check=True)
    return process.stdout.decode().strip()


def _history() -> Path:
    history = find_corpus().history
    if not history:
        raise CommandError(f"Kafka's own history is not at {corpus_root()}: set KIPLINT_CORPUS")
    return history


def _run(lake: Path, *words: str) -> Watched:
    return watch([sys.executable, "-P", "-m", "kiplint", "pipeline", "run", *words, "--out", str(lake)])


def table(rows: Iterable[Row]) -> str:
    """A Markdown table of the runs."""
    lines = [COLUMNS, ("---", *("---:" for _ in COLUMNS[1:]))]
    for title, run in rows:
        lines.append((title, *(f"{figure:,.1f}" for figure in run[:3]), f"{run.peak:,.0f}"))
    return "\n".join(f"| {line} |" for line in aligned(lines, between=" | "))


def main() -> int:
    """Print a section for each part, and write it into the page; 0 unless a command failed, whatever figures are."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=f"of {', '.join(PARTS)}")
    options = parser.parse_args()
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
    machine = f"{os.cpu_count()} cores, {platform.machine()}, {platform.system()}"
    head = f"{inspect.getdoc(PARTS[name])}\n\n{datetime.date.today()}, {machine}:"
    return "\n\n".join((f"## {name.capitalize()}", head, table(rows))) + "\n"


def _sections() -> dict[str, str]:
    """The sections of the page by their parts."""
    text = PAGE.read_text("utf-8") if PAGE.exists() else ""
    sections = (f"## {section.rstrip()}\n" for section in text.split("\n## ")[1:])
    return {section.split()[1].lower(): section for section in sections}


_ABOUT = """\
# How the pipeline grows

Written by `make bench-growth`; do not edit. `KIPLINT_CORPUS` names the directory of Kafka's history.

Each run is the command that users run, `kiplint pipeline run`, on all cores, the start of Spark included. Seconds are
those of the clock; CPU seconds and memory (resident, at the worst moment) are those of all processes; `task CPU s` are
those of Spark's tasks alone.
"""


if __name__ == "__main__":
    raise SystemExit(main())
