from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import cast

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.delta import Parts, head_of, names, rows_in, write_rows
from kiplint.pipeline.lake.lake import Lake, all_states
from kiplint.pipeline.lake.schema import table
from kiplint.pipeline.lake.storage import RUNS
from kiplint.pipeline.lake.upkeep import FEW, optimize
from kiplint.pipeline.tables import TABLES, Blobs, Pairs, Problems
from tools import complaint, environment, kiplint

TABLE = Problems.NAME
STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "shutil.rmtree"}
"""What changes a directory, or begins a file: to be killed before a look is to be killed after the last change."""


class KilledError(BaseException):
    """The process ends here."""


class Fault:
    """Counts what is done to a directory's files, and stops before the step with a number."""

    def __init__(self) -> None:
        self.where = ""
        self.steps_left = 0

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if not self.where or event not in STEPS or not str(arguments[0]).startswith(self.where):
            return
        if event != "open" or cast(int, arguments[2]) & (os.O_WRONLY | os.O_RDWR):
            self.steps_left -= 1
            if self.steps_left == 0:
                self.where = ""
                raise KilledError(event)


FAULT = Fault()
sys.addaudithook(FAULT)


@contextmanager
def killed_at(step: int, where: Path) -> Iterator[list[bool]]:
    """Whether the block is killed before its file operation with this number; it is not when it has fewer."""
    calls = [False]
    FAULT.where, FAULT.steps_left = str(where), step
    try:
        yield calls
    except KilledError:
        calls[0] = True
    finally:
        FAULT.where = ""


def put(lake: Lake, name: str, *problems: str) -> Parts:
    """Stage rows of a table."""
    rows: list[tuple[object, ...]] = [(problem, "definition", 1, b"x", None) for problem in problems]
    if name == TABLE:
        rows = [("ingest", "x", problem) for problem in problems]
    return write_rows(table(TABLES[name].COLUMNS, rows), TABLES[name], lake.storage, lake.ticket())


def grow(lake: Lake, problem: str) -> None:
    """Be the writer: one more file with a row, and the other table new."""
    with lake.writing():
        before = lake.snapshot()
        parts = lake.parts(TABLE, before.tables.get(TABLE))
        more = put(lake, TABLE, problem)
        lake.publish(before, {TABLE: (*parts, *more), "blobs": put(lake, "blobs", problem)}, "ingest")


def problems(reader: Reader) -> list[str]:
    return sorted(row["problem"] for row in reader.rows(Problems)) if reader.count(Problems) else []


def problems_in(path: Path) -> list[str]:
    """What a reader sees that comes now; nothing where there is no lake yet."""
    lake = Lake(path)
    if not lake.exists:
        return []
    reader = Reader(lake)
    result = problems(reader)
    assert reader.count(Blobs) == bool(result)
    return result


def laid_out(path: Path) -> set[str]:
    """The folders and files of a lake that hold tables' rows, and what else there is but logs."""
    inside = {str(file.relative_to(path)) for file in path.rglob("*")}
    return {name for name in inside if "_delta_log" not in name and not name.startswith(RUNS)}


def traces(path: Path) -> tuple[tuple[str, int], ...]:
    """What a writer has left in a lake: all names, but for those of its run, and how large each is."""
    return tuple(
        sorted(
            (re.sub(r"(?<![0-9a-f])[0-9a-f]{12}(?![0-9a-f])", "x", str(file.relative_to(path))), file.lstat().st_size)
            for file in path.rglob("*")
        )
    )


def lake_with(path: Path, *names: str) -> Lake:
    path.mkdir()
    for problem in names:
        grow(Lake(path), problem)
    return Lake(path)


def state_files(path: Path) -> set[str]:
    """The files that the newest state of a lake consists of."""
    lake = Lake(path)
    tables = lake.snapshot().tables.items()
    return {name for table, version in tables for name in names(lake.parts(table, version))}


@pytest.mark.parametrize("before", [(), ("a",)])
def test_killed_at_any_step_of_a_write(tmp_path: Path, before: tuple[str, ...]) -> None:
    """What is seen is the state before or the one after; the next writer goes on, and upkeep leaves no trace."""
    whole = tmp_path / "whole"
    lake_with(whole, *before)
    states: set[tuple[str, ...]] = set()
    kinds: set[tuple[tuple[str, int], ...]] = set()
    for step in count(1):
        path = tmp_path / f"killed-{step}"
        shutil.copytree(whole, path)
        with killed_at(step, path) as is_killed:
            grow(Lake(path), "new")
        result = problems_in(path)
        states.add(tuple(result))
        if not is_killed[0]:
            break
        if (kind := traces(path)) in kinds:  # killed before it read, so that nothing is new on the disk
            continue
        kinds.add(kind)
        grow(Lake(path), "now")
        assert problems_in(path) == sorted([*result, "now"])
        optimize(Lake(path), 0)
        files = {name for row in all_states(Lake(path).storage)[-2:] for name in state_files(path)}
        assert {name for name in laid_out(path) if name.endswith(".parquet")} == files
    assert states == {before, (*before, "new")}
    assert step > 10
    assert len(kinds) > 3


def test_killed_between_the_commits_of_two_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = lake_with(tmp_path / "lake", "a", "b")
    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr(Lake, "_append", lambda *_: (_ for _ in ()).throw(KilledError()))
        patch.setattr(Lake, "_begin", lambda *_: None)
        grow(lake, "lost")
    assert problems_in(lake.path) == ["a", "b"]
    grow(Lake(lake.path), "c")
    assert problems_in(lake.path) == ["a", "b", "c"]
    assert rows_in(Lake(lake.path).parts("blobs", Lake(lake.path).snapshot().tables["blobs"])) == 1


@pytest.mark.parametrize("leftovers", [(), ("00000000000000000000.json#1",)])
def test_killed_over_the_first_commit_of_a_table(tmp_path: Path, leftovers: tuple[str, ...]) -> None:
    """Its log is there, and no version in it: only what is written under another name until it is whole."""
    lake = lake_with(tmp_path / "lake", "a")
    log = tmp_path / "lake" / Pairs.NAME / "_delta_log"
    log.mkdir(parents=True)
    for name in leftovers:
        (log / name).write_bytes(b"{")
    assert head_of(lake.storage, Pairs.NAME) is None
    with lake.writing():
        lake.publish(lake.snapshot(), {Pairs.NAME: ()}, "compare")
    assert head_of(lake.storage, Pairs.NAME) == 0


@pytest.mark.parametrize("is_failing", [False, True])
def test_a_writer_leaves_nothing_staged(tmp_path: Path, is_failing: bool) -> None:
    lake = Lake(tmp_path / "lake")
    with suppress(UsageError), lake.writing():
        put(lake, TABLE, "a")
        (lake.path / "staging" / lake.ticket()).mkdir(parents=True)
        if is_failing:
            raise UsageError("stage ingest fails: No space left on device")
    assert sorted(path.name for path in lake.path.iterdir()) == ["KIPLINT-LAKE", TABLE, RUNS]


def test_no_name_is_staged_twice(tmp_path: Path) -> None:
    lakes = (Lake(tmp_path / "a"), Lake(tmp_path / "b"))
    for lake in lakes:
        lake.path.mkdir()
    assert len({lake.ticket() for lake in lakes for _ in range(3)}) == 6


def test_a_reader_is_not_disturbed_by_the_next_writer(tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    reader = Reader(lake)
    with lake.writing():
        lake.publish(lake.snapshot(), {TABLE: put(lake, TABLE, "b"), "blobs": put(lake, "blobs", "b")}, "ingest")
        assert problems(reader) == ["a"]
    assert problems(reader) == ["a"]
    assert problems_in(lake.path) == ["b"]


def test_states_of_before(tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a", "b")
    rows = all_states(lake.storage)
    assert [row.stage for row in rows] == ["begin", "ingest", "end"] * 2
    assert [row.number for row in rows] == [1, 2, 3, 4, 5, 6]
    assert problems(Reader(lake, "2")) == ["a"]
    assert problems(Reader(lake, rows[0].run)) == ["a"]
    assert problems(Reader(lake, rows[-1].run)) == ["a", "b"]
    assert problems(Reader(lake, f"{rows[1].published:%Y-%m-%dT%H:%M:%S.%f}")) == ["a"]
    assert problems(Reader(lake, f"{rows[-1].published:%Y-%m-%d}")) == ["a", "b"]
    first = f"{rows[0].published:%Y-%m-%dT%H:%M:%S}"
    assert complaint(lambda: Reader(lake, "2020-01-01")) == (
        f"{lake} has no state as of 2020-01-01; its first is of {first}"
    )
    assert complaint(lambda: Reader(lake, "yore")).startswith("yore is not a date (2026-01-31), a time ")
    optimize(lake, 0)
    assert complaint(lambda: Reader(lake, "2")) == (
        f"the state of {lake} as of 2 is gone: `kiplint pipeline optimize` removed it"
    )


def test_upkeep_puts_small_files_together_and_changes_nothing(tmp_path: Path) -> None:
    result = [f"{number:02}" for number in range(FEW + 2)]
    lake = lake_with(tmp_path / "lake", *result)
    assert len(lake.parts(TABLE, lake.snapshot().tables[TABLE])) == FEW + 2
    upkeep = optimize(Lake(lake.path), 0)
    assert upkeep.tables == 1
    after = Lake(lake.path)
    assert len(after.parts(TABLE, after.snapshot().tables[TABLE])) == 1
    assert problems_in(lake.path) == result
    grow(after, "more")
    assert problems_in(lake.path) == [*result, "more"]


def test_upkeep_keeps_what_stages_have_processed(tmp_path: Path) -> None:
    from kiplint.pipeline.lake.lake import StageState

    lake = lake_with(tmp_path / "lake", *map(str, range(FEW + 2)))
    with lake.writing():
        state = lake.snapshot()
        lake.publish(replace(state, stages={"lint": StageState("x", {TABLE: state.tables[TABLE]})}), {}, "lint")
    optimize(lake, 0)
    after = lake.snapshot()
    assert after.stages["lint"].inputs == {TABLE: after.tables[TABLE]} != {TABLE: state.tables[TABLE]}


# Two writers


def test_a_second_writer_on_this_machine_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lake"
    lake = lake_with(path, "a")
    with lake.writing():
        put(lake, TABLE, "b")
        result = kiplint("pipeline", "run", "--source", f"x={tmp_path}", "--out", path, cwd=tmp_path)
    if result.code == 2:  # where commands are run in this very process, it is the same writer
        assert result.err.startswith(f"error: {path} is being written by process ")
    assert problems_in(path) == ["a"]


def test_a_second_writer_elsewhere_is_refused_by_the_commit(tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    text = f"{lake} was written by another process meanwhile: run it again"

    def slow() -> None:
        with lake.writing():
            before = lake.snapshot()
            mine = (*lake.parts(TABLE, before.tables[TABLE]), *put(lake, TABLE, "slow"))
            grow(Lake(lake.path), "quick")
            lake.publish(before, {TABLE: mine}, "ingest")

    assert complaint(slow) == text
    assert problems_in(lake.path) == ["a", "quick"]


HOLDER = """
import sys, time
from kiplint.pipeline.lake.lake import Lake
lake = Lake(sys.argv[1])
with lake.writing():
    lake.ticket()
    print("holds", flush=True)
    time.sleep(600)
"""


def test_a_writer_that_was_killed_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "lake"
    lake = lake_with(path, "a")
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "holds\n"
            assert complaint(lambda: grow(lake, "b")) == f"{path} is being written by process {holder.pid}; wait for it"
        finally:
            holder.send_signal(signal.SIGKILL)
    grow(lake, "b")
    assert problems_in(path) == ["a", "b"]


# What is not a lake, and what is damaged


def test_a_directory_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    (tmp_path / "data" / "measured" / "once").mkdir(parents=True)
    result = kiplint("pipeline", "run", "--source", f"x={tmp_path}", "--out", tmp_path, cwd=tmp_path)
    text = f"error: {tmp_path} is neither empty nor a lake: it has data\n"
    assert (result.code, result.out, result.err) == (2, "", text)
    assert laid_out(tmp_path) == {"thesis.tex", "data", "data/measured", "data/measured/once"}


def test_a_file_is_not_a_lake(tmp_path: Path) -> None:
    file = tmp_path / "lake"
    file.write_text("")
    assert complaint(lambda: grow(Lake(file), "a")) == f"cannot write the lake {file}: File exists"
    assert complaint(lambda: Reader(Lake(file))).startswith(f"{file} is ")


def test_a_lake_without_its_states_is_not_begun_anew(tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    shutil.rmtree(lake.path / RUNS)
    before = laid_out(lake.path)
    assert complaint(lambda: grow(lake, "b")) == f"{lake} is not a lake that can be read: it has blobs, but no runs"
    assert laid_out(lake.path) == before


LOG = "_delta_log/00000000000000000000.json"


def spoil(name: str, find: str, put: str) -> Callable[[Path], object]:
    def spoil_file(path: Path) -> None:
        text = (path / name).read_text()
        assert find in text
        (path / name).write_text(text.replace(find, put))

    return spoil_file


@pytest.mark.parametrize(
    "damage",
    [
        spoil(f"{TABLE}/{LOG}", '{"add"', '{"add'),
        spoil(f"{TABLE}/{LOG}", '"add":{"path":"', '"add":{"path":"../../elsewhere/'),
        spoil(f"{TABLE}/{LOG}", '"add":{"path":"', '"add":{"path":"/elsewhere/'),
        spoil(f"{TABLE}/{LOG}", '"add":{"path":"', '"add":{"path":"file:///elsewhere/'),
        lambda path: (path / TABLE / LOG).unlink(),
        lambda path: shutil.rmtree(path / TABLE),
        lambda path: [file.write_bytes(b"PAR1 and no more") for file in (path / TABLE).glob("*.parquet")],
        lambda path: [file.unlink() for file in (path / TABLE).glob("*.parquet")],
        lambda path: [file.write_bytes(b"") for file in (path / RUNS).glob("*.parquet")],
    ],
)
def test_a_lake_that_is_damaged_is_reported_in_one_line(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    damage(lake.path)
    error = complaint(lambda: Reader(Lake(lake.path)).rows(Problems))
    assert error.startswith((f"{lake} is damaged, ", f"{lake} is not a lake that can be read: "))
    assert "\n" not in error
    assert "\x1b" not in error


@pytest.mark.parametrize(
    "way", ["../../elsewhere/", "{top}/elsewhere/", "file://{top}/elsewhere/", "%2e%2e/%2e%2e/elsewhere/"]
)
def test_no_name_leads_out_of_a_lake(tmp_path: Path, way: str) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    shutil.copytree(lake.path / TABLE, tmp_path / "elsewhere")
    spoil(f"{TABLE}/{LOG}", '"add":{"path":"', '"add":{"path":"' + way.format(top=tmp_path))(lake.path)
    error = complaint(lambda: Reader(Lake(lake.path)).rows(Problems))
    assert error.startswith((f"{lake} is not a lake that can be read: {TABLE}: ", f"{lake} is damaged, and "))
    assert "elsewhere" in error or error.endswith(" is not a name of a file in it")


def edit_state(**values: object) -> Callable[[Path], object]:
    """Give the newest state of a lake other values."""

    def edit(path: Path) -> None:
        file = max((path / RUNS).glob("*.parquet"))
        before, size = pq.read_table(file), file.stat().st_size
        row = {**before.to_pylist()[0], **values}
        pq.write_table(pa.Table.from_pylist([row], schema=before.schema), file, compression="zstd")
        log = max((path / RUNS / "_delta_log").glob("*.json"))
        log.write_text(log.read_text().replace(f'"size":{size}', f'"size":{file.stat().st_size}'))

    return edit


def versions(number: int | None) -> Callable[[Path], object]:
    return edit_state(tables=[{"table": TABLE, "version": number}])


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        (versions(-1), "Expected `int` >= 0"),
        (versions(2**62), "Expected `int` <= 1000000"),
        (versions(None), "Expected `int`, got `null`"),
        (edit_state(number=-5), "Expected `int` >= 0"),
        (edit_state(number=None), "Expected `int`, got `null`"),
        (edit_state(oldest=2**62), "Expected `int` <= 1000000"),
        (edit_state(writer=None), "Expected `str`, got `null`"),
        (edit_state(published=None), "unsupported type"),
        (edit_state(tables=None), "not iterable"),
        (edit_state(stages=None), "not iterable"),
        (edit_state(request="[1"), "Expected `object`"),
        (lambda path: pq.write_table(pa.table({"x": [1]}), max((path / RUNS).glob("*.parquet"))), "'"),
        (lambda path: pq.write_table(pa.table({"x": []}), max((path / RUNS).glob("*.parquet"))), "has no row"),
        (
            lambda path: pq.write_table(pa.table({"published": ["x"]}), max((path / RUNS).glob("*.parquet"))),
            "Failed to parse",
        ),
    ],
)
def test_an_edited_state_is_reported_in_one_line(
    tmp_path: Path, damage: Callable[[Path], object], expected: str
) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    damage(lake.path)
    for look in (lambda: Reader(Lake(lake.path)).rows(Problems), lambda: optimize(Lake(lake.path), 0)):
        error = complaint(look)
        assert error.startswith((f"{lake} is not a lake that can be read: runs/", f"{lake} is damaged"))
        assert expected in error
        assert "\n" not in error


def test_a_first_state_that_is_yet_to_come_keeps_the_last(tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    edit_state(oldest=1_000)(lake.path)
    assert optimize(lake, 0).oldest.number == len(all_states(lake.storage)) - 2


def instead(make: Callable[[Path, Path], object], pattern: str) -> Callable[[Path, Path], object]:
    """Put something else in the place of all files of a lake with such names."""

    def replace_files(path: Path, other: Path) -> None:
        result = sorted(path.glob(pattern))
        assert result
        for place in result:
            shutil.rmtree(place) if place.is_dir() else place.unlink()
            make(place, other)

    return replace_files


def make_link(place: Path, other: Path) -> None:
    place.symlink_to(other)


def make_pipe(place: Path, _: Path) -> None:
    os.mkfifo(place)


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        (instead(make_link, f"{TABLE}/*.parquet"), "a link"),
        (instead(make_link, f"{TABLE}/{LOG}"), "a link"),
        (instead(make_link, f"{RUNS}/*.parquet"), "a link"),
        (instead(make_pipe, f"{TABLE}/*.parquet"), "neither a file nor a folder of it"),
        (instead(make_pipe, f"{RUNS}/*.parquet"), "neither a file nor a folder of it"),
        (instead(make_pipe, f"{RUNS}/{LOG}"), "neither a file nor a folder of it"),
        (lambda path, _: os.mkfifo(path / RUNS / "_delta_log/_last_checkpoint"), "neither a file nor a folder of it"),
        (lambda path, other: make_link(path / TABLE / "_delta_log/_last_checkpoint", other), "a link"),
    ],
)
def test_no_link_is_read_and_no_pipe_waited_for(
    tmp_path: Path, damage: Callable[[Path, Path], object], what: str
) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    elsewhere = shutil.copytree(lake.path, tmp_path / "elsewhere")
    secret = next(elsewhere.glob(f"{TABLE}/*.parquet"))
    damage(lake.path, secret)
    error = complaint(lambda: Reader(Lake(lake.path)).rows(Problems))
    assert error.startswith(f"{lake} is not a lake that can be read: ")
    assert error.endswith(f" is {what}")


def test_a_log_whose_checkpoint_lies_is_read_all_the_same(tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    (lake.path / TABLE / "_delta_log/_last_checkpoint").write_text('{"version":99999,"size":3}')
    assert problems_in(lake.path) == ["a"]


def test_a_full_disk_is_reported_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = lake_with(tmp_path / "lake", "a")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("kiplint.pipeline.lake.storage.replace_file", full)
        assert complaint(lambda: grow(lake, "b")) == f"cannot write the lake {lake}: No space left on device"
    assert problems_in(lake.path) == ["a"]
    grow(lake, "b")
    assert problems_in(lake.path) == ["a", "b"]


# Directories that are somebody else's


@pytest.fixture
def precious(tmp_path: Path) -> Iterator[Path]:
    """A directory of work, byte for byte the same afterwards."""
    path = tmp_path / "precious"
    for name in ("data/2024/000001-1/results.csv", "blobs/0123456789ab-1-0.parquet", "staging/0123456789ab-1/b"):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(f"years of work: {name}")
    before = contents(path)
    yield path
    assert contents(path) == before


def contents(path: Path) -> dict[str, bytes | None]:
    return {str(file.relative_to(path)): file.read_bytes() if file.is_file() else None for file in path.rglob("*")}


@pytest.mark.parametrize("folders", [(), ("data",), ("blobs", "data")])
def test_a_directory_without_the_mark_is_not_a_lake(precious: Path, tmp_path: Path, folders: tuple[str, ...]) -> None:
    path = tmp_path / "theirs"
    shutil.copytree(precious, path)
    for name in folders:
        shutil.rmtree(path / name)
    before = contents(path)
    error = complaint(lambda: grow(Lake(path), "a"))
    assert error.startswith(f"{path} is neither empty nor a lake: it has ")
    assert contents(path) == before


def test_a_database_with_its_own_current_is_not_a_lake(tmp_path: Path) -> None:
    (tmp_path / "CURRENT").write_text("MANIFEST-000001\n")
    error = complaint(lambda: grow(Lake(tmp_path), "a"))
    assert error == f"{tmp_path} is neither empty nor a lake: it has CURRENT"
    assert os.listdir(tmp_path) == ["CURRENT"]


@pytest.mark.parametrize("name", ["staging", TABLE, "spans", f"{TABLE}/_delta_log", RUNS])
def test_no_link_to_a_directory_is_followed(precious: Path, tmp_path: Path, name: str) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    place = lake.path / name
    if place.is_dir():
        shutil.rmtree(place)
    place.symlink_to(precious)
    error = complaint(lambda: grow(lake, "b"))
    assert error == f"cannot write the lake {lake}: {name} is a link"


def test_a_mark_that_is_a_link_marks_nothing(precious: Path, tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    (precious / "KIPLINT-LAKE").symlink_to(lake.path / "KIPLINT-LAKE")
    error = complaint(lambda: grow(Lake(precious), "a"))
    (precious / "KIPLINT-LAKE").unlink()
    assert error.startswith(f"{precious} is neither empty nor a lake: it has ")


def test_nothing_is_removed_that_the_lake_does_not_name(precious: Path, tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a", "b")
    mine = {"mine/a", "blobs/mine/a", "blobs/0123456789ab-1-0.parquet", "staging/0123456789ab-7/a", "runs/mine.parquet"}
    for name in mine:
        (lake.path / name).parent.mkdir(parents=True, exist_ok=True)
        (lake.path / name).write_text("mine")
    (lake.path / "staging" / f"{lake.snapshot().run}-9").symlink_to(precious)
    (lake.path / "blobs" / f"{lake.snapshot().run}-9-0.parquet").symlink_to(precious / "data")
    optimize(lake, 0)
    assert {name for name, data in contents(lake.path).items() if data == b"mine"} == mine
    assert problems_in(lake.path) == ["a", "b"]
