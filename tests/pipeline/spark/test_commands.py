"""Runs over a lake that is up to date already."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from benchmarks.sample import arguments

from kiplint.pipeline.lake.lake import Lake
from pipeline.support import ask
from tools import environment


def test_a_second_run_has_nothing_to_do(lake: Lake, sources: tuple[str, ...]) -> None:
    result = ask("run", *arguments(sources), "--out", str(lake.path))
    assert (result.code, result.err) == (0, f"reading 3 sources into {lake.path}\n")
    assert result.out.splitlines()[:2] == [
        "ingest    up to date  19 revisions, 40 blobs, 29 trees",
        "lint      up to date  12 findings",
    ]
    assert [line.split()[1:4] for line in result.out.splitlines()] == [["up", "to", "date"]] * 7
    assert ask("run", "--resume", "--out", str(lake.path)) == result


def test_a_second_run_imports_no_engine(lake: Lake, sources: tuple[str, ...]) -> None:
    command = [sys.executable, "-X", "importtime", "-m", "kiplint", "pipeline", "run", *arguments(sources)]
    process = subprocess.run(
        [*command, "--out", str(lake.path)], env=environment(), capture_output=True, text=True, check=True
    )
    packages = {line.rpartition("|")[2].strip().partition(".")[0] for line in process.stderr.splitlines()}
    assert {"deltalake", "pyarrow"} <= packages
    assert packages.isdisjoint({"duckdb", "pandas", "pyspark"})


def test_resume_cannot_read_something_else(lake: Lake, history: Path) -> None:
    result = ask("run", "--resume", "--source", f"x={history}#main", "--out", str(lake.path))
    assert (result.code, result.out) == (2, "")
    assert result.err == "error: --resume continues with the sources of the previous run; leave the others out\n"
