"""`make pipeline-demo`: the pipeline from nothing to a report, on the sample history.

The lake stays in build/pipeline-demo, for more questions.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import islice
from pathlib import Path

from benchmarks import REPOSITORY
from benchmarks.sample import make_history, sources_of

PLACE = Path("build") / "pipeline-demo"
LAKE, PAGE = PLACE / "sample-lake", PLACE / "sample.html"
SCREEN = 24
"""The lines of the report that are shown."""
NEXT = ("blame {lake} SaslHandshakeRequest", "forks {lake} fork", "matrix {lake} 1.0.0 2.0.0")


def main() -> None:
    """Run the pipeline on the sample history, and print the beginning of its report."""
    os.chdir(REPOSITORY)
    shutil.rmtree(PLACE, ignore_errors=True)
    make_history(PLACE / "sample.git")
    _run("run", *sources_of(PLACE / "sample.git"), "--out", str(LAKE))
    PAGE.write_text(_run("report", str(LAKE), "--output-format", "html", stdout=subprocess.PIPE), "utf-8")
    lines = _run("report", str(LAKE), stdout=subprocess.PIPE).splitlines()
    print("\n".join(islice(lines, SCREEN)))
    print(f"... and {len(lines) - SCREEN} more lines")
    print(f"\nThe whole report as a page: {PAGE.resolve()}\n\nNext:")
    for words in NEXT:
        print(f"  .venv/bin/kiplint pipeline {words.format(lake=LAKE)}")


def _run(*words: str, stdout: int | None = None) -> str:
    print(f"\n$ kiplint pipeline {' '.join(words)}\n", flush=True)
    command = [sys.executable, "-P", "-m", "kiplint", "pipeline", *words]
    return subprocess.run(command, check=True, stdout=stdout, text=True).stdout or ""


if __name__ == "__main__":
    main()
