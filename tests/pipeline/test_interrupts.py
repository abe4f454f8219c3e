"""Ctrl-C, as a terminal sends it to all processes of a command: one line at most, 130, and nothing runs on."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.listing import THREADS
from pipeline.support import KIPLINT, settings, surroundings

SLOW_JAVA = """#!/bin/sh
# A Java that is found, and then takes its time to start Spark.
case " $* " in
  *" -version "*) echo 'openjdk version "17.0.1"' >&2; exit ;;
  *org.apache.spark.launcher.Main*) exec '{java}' "$@" ;;
esac
echo $$ > '{told}'
exec sleep 3600
"""
SLOW_GIT = """#!/bin/sh
# Git that takes its time for whatever it is asked.
echo > '{told}'/$$
exec sleep 3600
"""
JAVA_NOTE = "NOTE: Picked up JDK_JAVA_OPTIONS"  # of these tests' own


def start_run(cache: Path, *words: str | Path, **others: str) -> subprocess.Popen[str]:
    command = [*KIPLINT, "pipeline", "run", "--quiet", *words]
    out = subprocess.PIPE
    return subprocess.Popen(
        command, env=surroundings(cache, **others), stdout=out, stderr=out, text=True, start_new_session=True
    )


def interrupt(process: subprocess.Popen[str], is_ready: Callable[[], bool], *, alone: int = 0) -> tuple[int, str, str]:
    """How a process ends that gets Ctrl-C once it is ready, or another signal for it alone."""
    end = time.monotonic() + 600
    while not is_ready() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    if alone:
        process.send_signal(alone)
    else:
        os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=600)
    return process.returncode, out, "".join(line for line in err.splitlines(True) if not line.startswith(JAVA_NOTE))


@pytest.mark.skipif(not shutil.which("java"), reason="the launcher of Spark needs a java command")
def test_while_spark_starts(history: Path, cache: Path, tmp_path: Path) -> None:
    log = tmp_path / "told"
    java = tmp_path / "java" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(SLOW_JAVA.format(java=shutil.which("java"), told=log))
    java.chmod(0o755)
    process = start_run(
        cache,
        "--master",
        "local[2]",
        "--source",
        f"x={history}#main",
        "--out",
        tmp_path / "lake",
        JAVA_HOME=str(tmp_path / "java"),
    )
    assert interrupt(process, lambda: log.exists() and log.read_text() != "") == (130, "", "")
    assert not Path("/proc", log.read_text().strip(), "exe").exists() or sys.platform != "linux"


@pytest.mark.parametrize(("alone", "code"), [(0, 130), (signal.SIGTERM, 143)])
def test_while_sources_are_listed(history: Path, cache: Path, tmp_path: Path, alone: int, code: int) -> None:
    """Several threads wait for git, whose bundle is half unpacked; no thread is waited for, and no git runs on."""
    log, scratch = tmp_path / "told", tmp_path / "scratch"
    for folder in (log, scratch, tmp_path / "bin"):
        folder.mkdir()
    bundle = tmp_path / "sample.bundle"
    subprocess.run(["git", "-C", history, "bundle", "create", "-q", bundle, "main"], check=True)
    (tmp_path / "bin" / "git").write_text(SLOW_GIT.format(told=log))
    (tmp_path / "bin" / "git").chmod(0o755)
    places = [history, bundle, *[history] * 20]
    sources = [word for at, place in enumerate(places) for word in ("--source", f"s{at}={place}#main")]
    path = f"{tmp_path / 'bin'}:{os.environ['PATH']}"
    process = start_run(cache, *sources, "--out", tmp_path / "lake", PATH=path, TMPDIR=str(scratch))
    assert interrupt(process, lambda: len(list(log.iterdir())) == THREADS, alone=alone) == (code, "", "")
    assert not [pid for pid in log.iterdir() if Path("/proc", pid.name, "exe").exists()]
    assert not list(scratch.iterdir())
    assert not (tmp_path / "lake").exists()


def test_while_a_stage_runs(history: Path, cache: Path, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    process = start_run(cache, "--source", f"x={history}#main", "--out", lake.path, *settings())
    code, out, err = interrupt(process, (lake.path / "staging").exists)
    assert (code, out) == (130, "")
    assert err == f"interrupted: `kiplint pipeline run --resume --out {lake}` continues\n"


def test_a_run_that_reads_nothing_leaves_nothing(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for place in ("lake", "there"):
        process = start_run(cache, "--source", f"x={tmp_path / 'nowhere'}", "--out", tmp_path / place)
        _, err = process.communicate()
        assert (process.returncode, err.partition(":")[0]) == (2, "error")
    assert list(tmp_path.iterdir()) == [tmp_path / "there"]
    assert not any((tmp_path / "there").iterdir())
