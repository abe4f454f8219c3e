"""A query runs in a process apart: what no limit of DuckDB ends, a limit of the system does, and so does a signal."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from kiplint.commands.pipeline import query
from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers.query import confined
from kiplint.pipeline.lake.lake import Lake
from tools import environment, kiplint


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake without a row."""
    place = tmp_path_factory.mktemp("child") / "lake"
    made = Lake(place)
    with made.writing():
        made.publish(made.snapshot(), {}, "ingest")
    return place


def test_the_answer_and_the_exit_code_are_those_of_the_child(lake: Path, tmp_path: Path) -> None:
    ran = kiplint("pipeline", "query", lake, "SELECT 7 AS a", "--output-format", "csv", cwd=tmp_path)
    assert ran == (0, '"a"\n7\n', "")
    assert kiplint("pipeline", "query", lake, "SELECT b", cwd=tmp_path).code == 2


def ended(number: int) -> int:
    """A child that a signal ends, waited for."""
    child = os.fork()
    if not child:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
        os._exit(99)
    return query._end_of(child, 3)


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (signal.SIGALRM, "the query takes more than 3 seconds"),
        (signal.SIGABRT, "the query takes more than 4 GiB of memory, or DuckDB fails on it (signal 6)"),
    ],
)
def test_a_child_that_the_system_ends(number: int, expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        ended(number)
    assert str(caught.value) == expected


def test_reading_a_query_for_spark_has_an_end() -> None:
    joins = "SELECT 1 FROM sets" + " JOIN sets a" * 60
    confined("SELECT 1")  # an alarm amid the import of sqlglot would leave half of it to other tests
    with pytest.raises(UsageError, match="^the query takes more than 0.1 seconds$"), query._deadline(0.1):
        confined(joins)
    assert signal.getitimer(signal.ITIMER_REAL)[0] == 0


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_a_child_that_the_user_ends(number: int) -> None:
    assert ended(number) == 128 + number


def test_time_has_an_end(lake: Path, tmp_path: Path) -> None:
    sql = "SELECT sum(a.range + b.range) FROM range(100000000) a, range(100000) b"
    ran = kiplint("pipeline", "query", lake, sql, "--timeout", "1", cwd=tmp_path)
    assert ran == (2, "", "error: the query takes more than 1 seconds\n")


def test_too_little_memory_is_one_line(lake: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-m", "kiplint", "pipeline", "query", str(lake), "SELECT 1"]
    limit = (300 << 20, 300 << 20)
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
    )
    text = "error: out of memory: the limit is 300 MiB; `ulimit -v` raises it\n"
    assert (done.returncode, done.stdout, done.stderr) == (2, "", text)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_both(lake: Path, tmp_path: Path, number: int) -> None:
    command = [sys.executable, "-P", "-m", "kiplint", "pipeline", "query", str(lake)]
    with subprocess.Popen(
        [*command, "SELECT count(*) FROM range(1000000000000)"], cwd=tmp_path, env=environment(), stderr=subprocess.PIPE
    ) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not children.exists():
            process.kill()
            pytest.skip("the system does not list children")
        while not (child := children.read_text()):
            time.sleep(0.01)
        process.send_signal(number)
        assert process.stderr is not None
        assert (process.wait(60), process.stderr.read()) == (128 + number, b"")
    assert not Path(f"/proc/{int(child)}").exists()
