"""`make pipeline-demo`: the pipeline from nothing to a report, on the sample history and, where it is, on Kafka's own.

The lakes stay in build/pipeline-demo, to be asked more.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from benchmarks.sample import arguments, make_history, sources_of
from benchmarks.workspace import REPOSITORY, corpus_root

PLACE = Path("build") / "pipeline-demo"
FORKS = ("automq", "redpanda", "linkedin")


def main() -> None:
    """Run the pipeline on one history after the other, and print what comes of it."""
    os.chdir(REPOSITORY)
    shutil.rmtree(PLACE, ignore_errors=True)
    repository = PLACE / "sample.git"
    make_history(repository)
    _show("sample", sources_of(repository))
    corpus = corpus_root()
    history, forks = corpus / "kafka-schema-history.bundle", corpus / "kafka-forks.bundle"
    if history.is_file() and forks.is_file():
        sources = [f"kafka={history}#trunk", f"kafka={history}#tags"]
        _show("kafka", [*sources, *(f"{fork}={forks}#{fork}" for fork in FORKS)])
    else:
        print(f"\nKafka's own history is not at {corpus}: set KIPLINT_CORPUS to have it too")


def _show(name: str, sources: Iterable[str]) -> None:
    lake = str(PLACE / f"{name}-lake")
    _run("run", *arguments(sources), "--out", lake)
    _run("report", lake)


def _run(*words: str) -> None:
    print(f"\n$ kiplint pipeline {' '.join(words)}\n", flush=True)
    subprocess.run([sys.executable, "-P", "-m", "kiplint", "pipeline", *words], check=True)


if __name__ == "__main__":
    main()
