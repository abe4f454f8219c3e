"""`make bench-growth`: what a run of the pipeline costs, and how that grows with commits and sources.

Each run is the command that users run, on all cores, the start of Spark included. Seconds are those of the clock; CPU
seconds and memory (resident, at the worst moment) are those of all processes; `task CPU s` are those of Spark's tasks.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

from benchmarks import CORPUS, REPOSITORY, CommandError, empty_scratch
from benchmarks.sample import WHO
from benchmarks.watch import Watched, watch
from kiplint.text.words import plural

HISTORIES, HISTORY = (1, 8, 32), 1_000
"""How many long histories there are, and how many commits each has."""
FORKS = ("automq", "redpanda", "linkedin")
TIME = 1_790_000_000
Row = tuple[str, Watched]


def increment() -> Iterator[Row]:
    """Kafka's trunk, releases and three forks: whole, with one new commit, and with nothing new."""
    where = empty_scratch("increment")
    history, forks = CORPUS / "kafka-schema-history.bundle", CORPUS / "kafka-forks.bundle"
    if not history.exists():
        raise CommandError(f"Kafka's own history is not at {CORPUS}: set KIPLINT_CORPUS")
    repository = where / "kafka"
    git(where, "clone", "--quiet", "--mirror", str(history), str(repository))
    last = git(repository, "rev-parse", "refs/heads/trunk")
    git(repository, "update-ref", "refs/heads/trunk", f"{last}~1")
    sources = (f"kafka={repository}#trunk", f"kafka={repository}#tags", *(f"{fork}={forks}#{fork}" for fork in FORKS))
    yield "Kafka's whole history", _run(where / "lake", *sources)
    git(repository, "update-ref", "refs/heads/trunk", last)
    yield "one new commit", _run(where / "lake")
    yield "nothing new", _run(where / "lake")


def histories() -> Iterator[Row]:
    """Sources with long histories of their own: each commit changes a definition of the sample set."""
    where = empty_scratch("histories")
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


def _run(lake: Path, *words: str) -> Watched:
    return watch([sys.executable, "-P", "-m", "kiplint", "pipeline", "run", *words, "--out", str(lake)])


def main() -> int:
    """Print a line for each run; 0 unless a command failed, whatever the figures are."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART", help=f"of {', '.join(PARTS)}")
    options = parser.parse_args()
    print(f"{'run':28} {'seconds':>9} {'CPU s':>9} {'task CPU s':>11} {'peak MiB':>9}", flush=True)
    try:
        for name in options.parts or PARTS:
            for title, run in PARTS[name]():
                print(f"{title:28} {run.wall:9,.1f} {run.cpu:9,.1f} {run.tasks:11,.1f} {run.peak:9,.0f}", flush=True)
    except CommandError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
