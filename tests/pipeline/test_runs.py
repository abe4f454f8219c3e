"""Runs: what is new is done and nothing else, and a run that was killed is continued by the next."""

from __future__ import annotations

import os
import shutil
import subprocess
from concurrent.futures import Executor, Future
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from benchmarks.growth import git
from benchmarks.sample import WHO, sources_of
from deltalake import DeltaTable, write_deltalake
from pyspark.sql import SparkSession

from kiplint.commands.pipeline.run import command
from kiplint.engine.errors import UsageError
from kiplint.pipeline import stages
from kiplint.pipeline.answers import Answers
from kiplint.pipeline.directory import locked, read_settings
from kiplint.pipeline.history import Line, read_source, with_states
from kiplint.pipeline.ingest import ingest
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.run import read_sources, run, write_sources
from kiplint.pipeline.tables import PARTITION_COLUMNS, TABLES
from pipeline.conftest import NIGHTLY, Content, Run, content

STAGES = {*TABLES} - {"sources", "sets", "files", "blobs"}
KILLED_TABLES = ("blobs", "files", "revisions", "findings", "spans", "drift")
KILLS = [*product(KILLED_TABLES, (False, True))] if NIGHTLY else [("files", False)]
"""The commits of tables that kill runs, and whether after them; `files` is in the middle of the first stage."""


def make_repository(path: Path, files: dict[str, str]) -> None:
    """A repository with one commit on the branch `main`."""
    subprocess.run(["git", "init", "-q", "-b", "main", path], check=True)
    for name, text in files.items():
        (path / name).write_text(text)
    subprocess.run(["git", "-C", path, "add", "."], check=True)
    subprocess.run(["git", "-C", path, "commit", "-q", "-m", "one"], check=True, env={**os.environ, **WHO})


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


class SessionError(Exception):
    """A session is opened."""


def no_session() -> Any:
    raise SessionError


def test_nothing_new_opens_no_session(copy: Path) -> None:
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
    copy: Path, whole: Content, run_lake: Run, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tables that are deleted are made again, and each run continues the one before.

    Files that no commit names stay for a week: they could be those of a run on another machine.
    """
    for name in dict(KILLS):
        shutil.rmtree(copy / name)
    monkeypatch.setattr(stages, "ThreadPoolExecutor", OneByOne)
    for name, is_committed in KILLS:
        with monkeypatch.context() as patch, pytest.raises(KilledError):
            kill_at(name, patch, is_committed=is_committed)
            run_lake(copy)
    run_lake(copy)
    assert content(copy) == whole
    assert len(uncommitted_folders(copy)) == len(KILLS) - sum(is_committed for _, is_committed in KILLS)
    for file in copy.glob("*/run-*/**/*"):
        os.utime(file, (0, 0))
    Lake(copy, spark).compact()
    assert uncommitted_folders(copy) == set()
    assert content(copy) == whole


def uncommitted_folders(lake: Path) -> set[str]:
    """The folders of runs that have files, but that no log names."""
    logs = "".join(file.read_text() for file in lake.glob("*/_delta_log/*.json"))
    folders = {file.relative_to(lake).parts[1] for file in lake.glob("*/run-*/**/*.parquet")}
    return {folder for folder in folders if folder not in logs}


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
    with pytest.raises(UsageError, match="is not a lake and has other files"), locked(tmp_path):
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


def test_a_damaged_file_is_one_line(copy: Path, run_lake: Run) -> None:
    for file in (copy / "blobs").rglob("*.parquet"):
        file.write_bytes(b"damage")
    with pytest.raises(UsageError, match=f"^the table blobs is damaged: remove {copy / 'blobs'}, and"):
        Answers(copy).rows("SELECT data FROM blobs")
    shutil.rmtree(copy / "sets")
    with pytest.raises(
        UsageError, match=f"^the table blobs is damaged: remove {copy / 'blobs'}, and .* makes it again"
    ):
        run_lake(copy)


@pytest.mark.parametrize("name", ["messages", "sources"])
def test_a_damaged_log_is_one_line(name: str, copy: Path) -> None:
    log = copy / name / "_delta_log" / "00000000000000000000.json"
    log.write_bytes(log.read_bytes()[:100])
    message = f"^the table {name} is damaged: remove {copy / name}, and `kiplint pipeline run` makes it again$"
    with pytest.raises(UsageError, match=message):
        run(copy, no_session, print)
    with pytest.raises(UsageError, match=message):
        Answers(copy)
    shutil.rmtree(copy / name)
    with pytest.raises(SessionError):  # with the sources that the lake has
        run(copy, no_session, print)
    assert {line.source for line in read_sources(copy).values()} == {"sample", "fork"}


def test_a_lake_of_an_older_kiplint_is_made_again(
    copy: Path, whole: Content, run_lake: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its tables get the columns that they lack, and no rows; its sources stay."""
    (copy / "lake.json").unlink()
    for name, column in (("revisions", "version"), ("sources", "problem")):
        rows = DeltaTable(copy / name).to_pyarrow_table().drop_columns([column])
        shutil.rmtree(copy / name)
        write_deltalake(copy / name, rows, partition_by=PARTITION_COLUMNS.get(name))
    with pytest.raises(
        UsageError, match="was written by an older kiplint; `kiplint pipeline run` brings it up to date$"
    ):
        Answers(copy)
    monkeypatch.setattr(stages, "run_stages", raise_killed)
    notes: list[str] = []
    for _ in range(2):  # the second continues the first, which was killed
        with pytest.raises(KilledError):
            run_lake(copy, note=notes.append)
    assert notes == 2 * ["the lake was written by an older kiplint (format 1, not 2); all is read again"]
    tables = {name: DeltaTable(copy / name) for name in TABLES}
    assert {name: len(table.file_uris()) for name, table in tables.items()} == dict.fromkeys(TABLES, 0)
    assert "version" in [field.name for field in tables["revisions"].schema().fields]
    assert sorted(line[:3] for line in read_sources(copy).values()) == [row[:3] for row in whole["sources"]]


def raise_killed(*_: Any) -> None:
    raise KilledError


def test_a_lake_keeps_its_configuration(copy: Path, tmp_path: Path) -> None:
    """Another one is named by the option, and that is said. A run that was killed is continued with either."""
    config = tmp_path / "kiplint.toml"
    config.write_text('select = ["tags"]\n')
    notes: list[str] = []
    for option, name in ((str(config), str(config)), ("", str(config)), ("none", "")):
        with pytest.raises(SessionError):
            run(copy, no_session, print, config=option, note=notes.append)
        assert read_settings(copy).config == name
    assert notes == [f"kiplint or the rules have changed; all is checked again with {config}"]
    config.unlink()
    with pytest.raises(UsageError, match="kiplint.toml"):
        run(copy, no_session, print, config=str(config))


def test_a_run_that_was_killed_is_continued_where_the_branch_is_back(copy: Path, history: Path, tmp_path: Path) -> None:
    """Its tables may have rows of the commit that the branch no longer has."""
    repository = tmp_path / "sample"
    shutil.copytree(history, repository)
    sources = [f"sample={repository}#main", f"sample={repository}#tags", f"fork={repository}#fork"]
    places = {line.key: line.location for line in map(read_source, sources)}
    write_sources(copy, [line._replace(location=places[line.key]) for line in read_sources(copy).values()])
    assert run(copy, no_session, print) == {}
    main = git(repository, "rev-parse", "main")
    for target in (f"{main}~1", main):
        git(repository, "update-ref", "refs/heads/main", target)
        with pytest.raises(SessionError):
            run(copy, no_session, print)


def test_a_link_to_a_source_is_followed_by_each_run(tmp_path: Path) -> None:
    link = tmp_path / "current"
    states = set[str]()
    for name in ("old", "new"):
        make_repository(tmp_path / name, {"a.json": name})
        link.unlink(missing_ok=True)
        link.symlink_to(tmp_path / name)
        (line,) = with_states([read_source(f"kafka={link}#main")])
        assert (line.location, line.problem) == (str(link), None)
        states.add(line.state)
    assert len(states) == 2


def test_a_mistake_is_told_before_spark_starts(history: Path, copy: Path) -> None:
    with pytest.raises(UsageError, match="^no such branch in .*: frok; did you mean fork[?]$"):
        run(copy, no_session, print, sources=[f"other={history}#main", f"fork={history}#frok"])
    assert ("fork", "frok") not in read_sources(copy)


def test_a_run_with_nothing_new_says_so(copy: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for quiet, text in ((False, f"nothing is new in {copy}\n"), (True, "")):
        assert command(out=str(copy), quiet=quiet) == 0
        assert capfd.readouterr() == ("", text)


def test_a_partial_clone_is_a_problem_of_its_line(history: Path, tmp_path: Path, spark: SparkSession) -> None:
    """No content is stored that was not read, and an intact clone has what a partial one lacks."""
    partial, small = tmp_path / "a", tmp_path / "small"
    subprocess.run(["git", "-C", history, "config", "uploadpack.allowFilter", "true"], check=True)
    clone = ["git", "clone", "-q", "--bare", "--single-branch", "--branch=fork", "--filter=blob:none"]
    subprocess.run([*clone, f"file://{history}", partial], check=True)
    make_repository(small, {"a.json": '{"type": "data", "name": "A", "validVersions": "0", "fields": []}'})
    partial_line, small_line = Line("a", "fork", str(partial)), Line("small", "main", str(small))
    lake = Lake(tmp_path / "lake", spark)
    _, problems = ingest(lake, [partial_line, small_line])
    assert [*problems] == [partial_line.key]
    assert problems[partial_line.key].startswith("git cannot read ")
    assert "run `git fetch --refetch --no-filter`" in problems[partial_line.key]
    rows = content(lake.path, ["revisions", "blobs", "files", "sets"])
    assert [len(rows[name]) for name in rows] == [1, 1, 1, 1]
    _, problems = ingest(lake, [partial_line, Line("b", "fork", str(history))])
    assert problems == {}


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
        (["sample"], {}, "a source must be NAME=PATH"),
        (["a b=x"], {}, "a source must be NAME=PATH"),
        (["x=/nowhere"], {}, "no such file or directory: /nowhere"),
        ([], {}, "nothing to read: name a source"),
        (["x=fixtures/sets", "x=fixtures/sets"], {}, "two sources are named x"),
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
