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

from benchmarks.sample import make_history, sources_of

ROOT = Path(__file__).resolve().parent.parent
PLACE = Path("build") / "pipeline-demo"
FORKS = ("automq", "redpanda", "linkedin")


def main() -> None:
    """Run the pipeline on one history after the other, and print what comes of it."""
    os.chdir(ROOT)
    shutil.rmtree(PLACE, ignore_errors=True)
    repository = PLACE / "sample.git"
    make_history(repository)
    _show("sample", sources_of(repository))
    corpus = Path(os.environ.get("KIPLINT_CORPUS") or ROOT.parent / "shared" / "corpus")
    history, forks = corpus / "kafka-schema-history.bundle", corpus / "kafka-forks.bundle"
    if history.is_file() and forks.is_file():
        sources = [f"kafka={history}#trunk", f"kafka={history}#tags"]
        _show("kafka", [*sources, *(f"{fork}={forks}#{fork}" for fork in FORKS)])
    else:
        print(f"\nKafka's own history is not at {corpus}: set KIPLINT_CORPUS to have it too")


def _show(name: str, sources: Iterable[str]) -> None:
    lake = str(PLACE / f"{name}-lake")
    options = [word for source in sources for word in ("--source", source)]
    _run("run", *options, "--out", lake)
    _run("report", lake)


def _run(*words: str) -> None:
    print(f"\n$ kiplint pipeline {' '.join(words)}\n", flush=True)
    subprocess.run([sys.executable, "-m", "kiplint", "pipeline", *words], check=True)


if __name__ == "__main__":
    main()
