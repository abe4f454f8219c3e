"""Runs: what is new is done and nothing else, and a run that was killed is continued by the next."""

from __future__ import annotations

import shutil
import subprocess
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

import pytest
from benchmarks.sample import sources_of
from pyspark.sql import SparkSession

from kiplint.engine.errors import UsageError
from kiplint.pipeline import stages
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.run import locked, read_sources, run, write_sources
from kiplint.pipeline.tables import TABLES
from pipeline.conftest import Content, Run, content

STAGES = {*TABLES} - {"sources", "sets", "files", "blobs"}
KILLS = (("files", False), ("findings", True))
"""The commits of tables that kill runs, and whether after them; `files` is in the middle of the first stage."""


class KilledError(BaseException):
    """A run ends here, as if it were killed."""


@pytest.fixture(scope="module")
def whole(lake: Path) -> Content:
    return content(lake)


@pytest.fixture
def copy(lake: Path, tmp_path: Path) -> Path:
    """A copy of the lake, to be written."""
    shutil.copytree(lake, tmp_path / "lake")
    return tmp_path / "lake"


def test_nothing_new_opens_no_session(copy: Path) -> None:
    def no_session() -> Any:
        raise AssertionError("a session is opened")

    assert run(copy, no_session, print) == {}


def test_a_new_commit_is_added(history: Path, tmp_path: Path, copy: Path, whole: Content, run_lake: Run) -> None:
    repository = tmp_path / "sample"
    shutil.copytree(history, repository)
    who = ("-c", "user.name=A", "-c", "user.email=a@x")
    command = ["git", "-C", str(repository), *who, "commit", "--quiet", "--allow-empty", "--message", "The same again"]
    subprocess.run(command, check=True, capture_output=True)
    assert set(run_lake(copy, f"sample={repository}#main")) == STAGES
    rows = content(copy)
    assert {name for name in rows if rows[name] != whole[name]} == {"sources", "revisions", "drift"}
    assert len(rows["revisions"]) == len(whole["revisions"]) + 1


class OneByOne(Executor):
    """Runs the stages of a group one after the other, up to the first that fails."""

    def __init__(self, workers: int) -> None:
        pass

    def submit(self, function: Any, /, *words: Any, **_: Any) -> Future[Any]:
        future = Future[Any]()
        future.set_result(function(*words))
        return future


def test_a_run_that_is_killed_is_continued(
    copy: Path, whole: Content, run_lake: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables that are deleted are made again, and each run continues the one before.

    A folder that no commit names stays no longer than to the next run.
    """
    for name, _ in KILLS:
        shutil.rmtree(copy / name)
    monkeypatch.setattr(stages, "ThreadPoolExecutor", OneByOne)
    for name, is_committed in KILLS:
        with monkeypatch.context() as patch, pytest.raises(KilledError):
            kill_at(name, patch, is_committed=is_committed)
            run_lake(copy)
    run_lake(copy)
    assert content(copy) == whole
    logs = "".join(file.read_text() for file in copy.glob("*/_delta_log/*.json"))
    assert [folder for folder in copy.glob("*/run-*") if folder.name not in logs] == []


def kill_at(name: str, patch: pytest.MonkeyPatch, *, is_committed: bool) -> None:
    """Let the next commit of a table kill the run: before it, when its files are written, or after it."""
    commit = Lake._commit_files

    def commit_and_die(lake: Lake, table: str, *words: Any) -> None:
        if table != name or is_committed:
            commit(lake, table, *words)
        if table == name:
            raise KilledError

    patch.setattr(Lake, "_commit_files", commit_and_die)


def test_what_kiplint_did_not_write_stays(tmp_path: Path) -> None:
    folders = [tmp_path / "drift" / "run-2024", tmp_path / "lake" / "notes" / "run-2024"]
    with locked(tmp_path / "lake"):
        pass
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not a lake, and has other files"), locked(tmp_path):
        pass
    with locked(tmp_path / "lake"):
        pass
    assert [(folder / "mine.txt").read_text() for folder in folders] == ["mine", "mine"]


def test_of_two_runs_one_wins(copy: Path, run_lake: Run) -> None:
    with locked(copy), pytest.raises(UsageError, match="another run is writing to"):
        run_lake(copy)


def test_of_two_commits_one_wins(copy: Path, spark: SparkSession) -> None:
    """Where the runs are on machines that do not share locks."""
    first, second = Lake(copy, spark), Lake(copy, spark)
    first.replace("drift", first.read("drift").limit(1))
    with pytest.raises(UsageError, match="another run has changed the table drift"):
        second.replace("drift", second.read("drift"))
    assert len(content(copy, ["drift"])["drift"]) == 1


def test_a_folder_that_cannot_be_written(history: Path, run_lake: Run) -> None:
    with pytest.raises(OSError, match="proc"):
        run_lake(Path("/proc/lake"), *sources_of(history))


def test_a_failure_of_spark_is_one_line(copy: Path, run_lake: Run) -> None:
    for file in (copy / "blobs").rglob("*.parquet"):
        file.write_bytes(b"damage")
    shutil.rmtree(copy / "sets")
    with pytest.raises(UsageError, match="^stage revisions fails: .* delete the folder of the") as error:
        run_lake(copy)
    assert "\n" not in str(error.value)


def test_a_source_that_cannot_be_read_stays_as_it_was(copy: Path, whole: Content, run_lake: Run) -> None:
    rows = read_sources(copy)
    write_sources(copy, [row._replace(location="/nowhere") if row.source == "fork" else row for row in rows.values()])
    assert run_lake(copy) == []
    row = read_sources(copy)["fork", "fork"]
    assert (row.state, row.problem) == (rows["fork", "fork"].state, "no such file or directory: /nowhere")
    assert content(copy, ["spans"])["spans"] == whole["spans"]


def test_a_source_that_is_dropped(copy: Path, whole: Content, run_lake: Run) -> None:
    assert run_lake(copy, drop=["fork"]) == []
    rows = content(copy)
    assert {source for source, _ in read_sources(copy)} == {"sample"}
    assert rows["spans"] == [row for row in whole["spans"] if row[0] == "sample"]
    assert rows["drift"] == []


@pytest.mark.parametrize(
    ("sources", "others", "message"),
    [
        (["sample"], {}, "a source is NAME=PATH"),
        (["a b=x"], {}, "a source is NAME=PATH"),
        (["x=/nowhere"], {}, "no such file or directory: /nowhere"),
        ([], {}, "nothing to read: name a source"),
        (["x=fixtures/sets", "x=fixtures/sets"], {}, "two sources are called x"),
        (["x=fixtures/sets"], {"upstream": "y"}, "--upstream y is not one of the sources"),
    ],
)
def test_mistakes(sources: list[str], others: dict[str, Any], message: str, run_lake: Run, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"^{message}"):
        run_lake(tmp_path / "lake", *sources, **others)


@pytest.mark.parametrize(
    ("drop", "message"), [("nothing", "the lake has no source nothing"), ("sample", "the forks are compared with")]
)
def test_what_cannot_be_dropped(drop: str, message: str, copy: Path, run_lake: Run) -> None:
    with pytest.raises(UsageError, match=f"^{message}"):
        run_lake(copy, drop=[drop])
