"""`make pipeline-demo`: the pipeline from nothing to a report, on the sample history.

`--kafka` does the same for Kafka's own history and three forks, where the corpus is. The lakes stay in
build/pipeline-demo, for more questions.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

from benchmarks import CORPUS, REPOSITORY
from benchmarks.growth import FORKS
from benchmarks.sample import make_history, sources_of

PLACE = Path("build") / "pipeline-demo"
SCREEN = 24
"""The lines of the report that are shown."""
NEXT = {
    "sample": ("blame {lake} SaslHandshakeRequest", "forks {lake} fork", "matrix {lake} 1.0.0 2.0.0"),
    "kafka": ("blame {lake} FetchRequest", "forks {lake} linkedin", "matrix {lake}"),
}


def main() -> None:
    """Run the pipeline on a history, and print the beginning of its report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.demo", description=__doc__)
    parser.add_argument("--kafka", action="store_true", help="read Kafka's own history and three forks")
    options = parser.parse_args()
    os.chdir(REPOSITORY)
    if options.kafka:
        history, forks = CORPUS / "kafka-schema-history.bundle", CORPUS / "kafka-forks.bundle"
        if not (history.is_file() and forks.is_file()):
            parser.error(f"Kafka's own history is not at {CORPUS}: set KIPLINT_CORPUS")
        fork_sources = (f"{fork}={forks}#{fork}" for fork in FORKS)
        _show("kafka", [f"kafka={history}#trunk", f"kafka={history}#tags", *fork_sources])
    else:
        repository = PLACE / "sample.git"
        shutil.rmtree(repository, ignore_errors=True)
        make_history(repository)
        _show("sample", sources_of(repository))


def _show(name: str, sources: Iterable[str]) -> None:
    lake, page = PLACE / f"{name}-lake", PLACE / f"{name}.html"
    shutil.rmtree(lake, ignore_errors=True)
    _run("run", *sources, "--out", str(lake))
    page.write_text(_run("report", str(lake), "--output-format", "html", stdout=subprocess.PIPE), "utf-8")
    lines = _run("report", str(lake), stdout=subprocess.PIPE).splitlines()
    print("\n".join(islice(lines, SCREEN)))
    print(f"... and {len(lines) - SCREEN} more lines" if len(lines) > SCREEN else "")
    print(f"\nThe whole report as a page: {page.resolve()}\n\nNext:")
    for words in NEXT[name]:
        print(f"  .venv/bin/kiplint pipeline {words.format(lake=lake)}")


def _run(*words: str, stdout: int | None = None) -> str:
    print(f"\n$ kiplint pipeline {' '.join(words)}\n", flush=True)
    command = [sys.executable, "-P", "-m", "kiplint", "pipeline", *words]
    return subprocess.run(command, check=True, stdout=stdout, text=True).stdout or ""


if __name__ == "__main__":
    main()
