from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kiplint.pipeline.lake import KEPT, Lake, Snapshot
from kiplint.pipeline.reader import Reader
from kiplint.pipeline.tables.problems import Problems
from tools import complaint, environment, kiplint

TABLE = Problems.NAME
COLUMNS = list(Problems.COLUMNS)
STEPS = {"open", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.listdir", "os.scandir", "shutil.rmtree"}


class KilledError(BaseException):
    """The process ends here."""


class Fault:
    """Counts what is done to a directory's files, and stops before the step with a number."""

    def __init__(self) -> None:
        self.where = ""
        self.left = 0
        self.kept: str | None = None

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.where and event in STEPS and str(arguments[0]).startswith(self.where):
            self.left -= 1
            if self.left == 0:
                self.where = ""
                raise KilledError(event)


FAULT = Fault()
sys.addaudithook(FAULT)


@contextmanager
def killed_at(step: int, where: Path) -> Iterator[list[bool]]:
    """Whether the block is killed before its file operation with this number; it is not when it has fewer."""
    told = [False]
    FAULT.where, FAULT.left = str(where), step
    try:
        yield told
    except KilledError:
        told[0] = True
    finally:
        FAULT.where = ""


def put(lake: Lake, *problems: str) -> str:
    """Stage rows of the one table."""
    part = lake.stage(TABLE)
    part.mkdir(parents=True)
    rows = [{"stage": "ingest", "subject": "x", "problem": problem} for problem in problems]
    pq.write_table(pa.Table.from_pylist(rows), part / "part-0.parquet")
    return part.name


def grow(lake: Lake, problem: str) -> None:
    """Be the writer: one more part with a row, and the second table new."""
    with lake.writing():
        before = lake.snapshot()
        parts = (*before.parts(TABLE), put(lake, problem))
        lake.publish(Snapshot(tables={**before.tables, TABLE: parts, "other": (put(lake, problem),)}))


def problems(reader: Reader) -> list[str]:
    return [row["problem"] for row in reader.rows(Problems)]


def told(path: Path) -> list[str]:
    """What a reader sees that comes now; nothing where there is no lake yet."""
    lake = Lake(path)
    if not lake.exists:
        return []
    other = lake.count(lake.snapshot().parts("other"))
    assert other == 1
    return problems(Reader(lake))


def laid_out(path: Path) -> set[str]:
    """The directories and files of a lake, apart from what parts are made of."""
    inside = {str(one.relative_to(path)) for one in path.rglob("*") if one.suffix != ".parquet"}
    return inside - {"staging", "repositories"}


def lake_with(path: Path, *found: str) -> Lake:
    path.mkdir()
    for problem in found:
        grow(Lake(path), problem)
    return Lake(path)


@pytest.mark.parametrize("before", [(), ("a",), ("a", "b", "c")])
def test_killed_at_any_step_of_a_write(tmp_path: Path, before: tuple[str, ...]) -> None:
    whole, undisturbed = tmp_path / "whole", tmp_path / "undisturbed"
    lake_with(whole, *before)
    shutil.copytree(whole, undisturbed)
    grow(Lake(undisturbed), "new")
    seen: set[tuple[str, ...]] = set()
    for step in count(1):
        path = tmp_path / f"killed-{step}"
        shutil.copytree(whole, path)
        with killed_at(step, path) as killed:
            grow(Lake(path), "new")
        found = told(path)
        seen.add(tuple(found))
        if not killed[0]:
            break
        grow(Lake(path), "new")
        assert told(path) == [*found, "new"]
        assert len(list((path / "snapshots").glob("*.json"))) <= KEPT + 1
        if tuple(found) == before:
            assert laid_out(path) == laid_out(undisturbed)
    assert seen == {before, (*before, "new")}
    assert step > 20


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "lake"
    lake = lake_with(path, "a")
    clean = laid_out(path)
    for left in ("data/problems/000009-1", "data/strange/000002-4", "repositories/.kafka.git.17", "staging/read-1"):
        (path / left).mkdir(parents=True)
        lake.note(left)
    (path / "snapshots" / "000002.json").write_text("{")
    lake.note("snapshots/000002.json")
    with lake.writing():
        assert laid_out(path) - {"data/strange"} == clean
        assert list((path / "repositories").iterdir()) == []
    assert told(path) == ["a"]


def test_a_writer_leaves_nothing_staged(tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    with lake.writing():
        put(lake, "used by this writer alone")
        lake.publish(Snapshot(tables={TABLE: (put(lake, "a"),), "other": (put(lake, "a"),)}))
    assert sorted(one.name for one in lake.path.iterdir()) == [
        "CURRENT",
        "KIPLINT-LAKE",
        "LOCK",
        "WRITTEN",
        "data",
        "snapshots",
    ]
    assert told(lake.path) == ["a"]


def test_no_name_is_staged_twice(tmp_path: Path) -> None:
    lakes = (Lake(tmp_path), Lake(tmp_path))
    assert len({lake.stage("sets") for lake in lakes for _ in range(3)}) == 6


def test_a_reader_is_not_disturbed_by_the_next_writer(tmp_path: Path) -> None:
    path = tmp_path / "lake"
    lake = lake_with(path, "a")
    reader = Reader(lake)
    with lake.writing():
        lake.publish(Snapshot(tables={TABLE: (put(lake, "b"),), "other": (put(lake, "b"),)}))
        assert problems(reader) == ["a"]
    assert problems(reader) == ["a"]
    assert told(path) == ["b"]
    with lake.writing():
        assert problems(reader) == ["a"]
        assert told(path) == ["b"]


def test_a_second_writer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "lake"
    lake = lake_with(path, "a")
    before = laid_out(path)
    words = ("pipeline", "run", "--source", f"x={tmp_path}", "--out", path)
    with lake.writing():
        put(lake, "b")
        ran = kiplint(*words, cwd=tmp_path)
        assert laid_out(path) > before
    said = f"error: {path} is being written by process {os.getpid()}; wait for it\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)
    assert told(path) == ["a"]


HOLDER = """
import sys, time
from kiplint.pipeline.lake import Lake
with Lake(sys.argv[1]).writing():
    print("holds", flush=True)
    time.sleep(600)
"""


def test_the_lock_of_a_dead_process_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "lake"
    lake = lake_with(path, "a")
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment()) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "holds\n"
            assert complaint(lambda: grow(lake, "b")).endswith(f"written by process {holder.pid}; wait for it")
        finally:
            holder.send_signal(signal.SIGKILL)
    assert (path / "LOCK").read_text() == f"process {holder.pid}\n"
    grow(lake, "b")
    assert told(path) == ["a", "b"]


def test_a_directory_with_something_else_in_it_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "measured" / "once").mkdir(parents=True)
    ran = kiplint("pipeline", "run", "--source", f"x={tmp_path}", "--out", tmp_path, cwd=tmp_path)
    said = f"error: {tmp_path} is not empty and no lake: it holds thesis.tex\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)
    assert laid_out(tmp_path) == {"thesis.tex", "data", "data/measured", "data/measured/once"}


def test_a_file_is_no_lake(tmp_path: Path) -> None:
    file = tmp_path / "lake"
    file.write_text("")
    assert complaint(lambda: grow(Lake(file), "a")) == f"cannot write the lake {file}: File exists"
    assert complaint(lambda: Reader(Lake(file))).startswith(f"{file} is no lake: ")


def spoil(name: str, data: bytes) -> Callable[[Path], object]:
    return lambda path: (path / name).write_bytes(data)


def link(place: Path, target: Path) -> None:
    """Put a link in the place of a file or directory."""
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.symlink_to(target)


SNAPSHOT = "snapshots/000002.json"
DAMAGES = [
    (spoil("CURRENT", b"\xff\xfe"), "CURRENT: it names no snapshot"),
    (spoil("CURRENT", b""), "CURRENT: it names no snapshot"),
    (spoil("CURRENT", b"\0"), "CURRENT: it names no snapshot"),
    (spoil("CURRENT", b"000009.json\n"), "snapshots/000009.json: No such file or directory"),
    (spoil("CURRENT", b"/etc/hostname\n"), "CURRENT: it names no snapshot"),
    (spoil("CURRENT", b"../../000001.json\n"), "CURRENT: it names no snapshot"),
    (spoil(SNAPSHOT, b'{"tables": {"a": ["/elsewhere"]}}'), f"{SNAPSHOT}: '/elsewhere' is no name of a part"),
    (spoil(SNAPSHOT, b'{"tables": {"a": ["../../x/1"]}}'), f"{SNAPSHOT}: '../../x/1' is no name of a part"),
    (spoil(SNAPSHOT, b'{"tables": {"a": ["a/../000001-1"]}}'), f"{SNAPSHOT}: 'a/../000001-1' is no name of a part"),
    (
        spoil(SNAPSHOT, b'{"stages": {"a": {"engine": "", "inputs": {"b": [""]}}}}'),
        f"{SNAPSHOT}: '' is no name of a part",
    ),
    (lambda path: link(path / "CURRENT", path / "LOCK"), "CURRENT: it is a link"),
    (lambda path: link(path / SNAPSHOT, path / "snapshots/000001.json"), f"{SNAPSHOT}: it is a link"),
    (spoil(SNAPSHOT, b""), f"{SNAPSHOT}: Input data was truncated"),
    (spoil(SNAPSHOT, b'{"number": 2, "tables": {'), f"{SNAPSHOT}: Input data was truncated"),
    (spoil(SNAPSHOT, b'{"number": "two"}'), f"{SNAPSHOT}: Expected `int`, got `str` - at `$.number`"),
    (lambda path: (path / SNAPSHOT).unlink(), f"{SNAPSHOT}: No such file or directory"),
]


@pytest.mark.parametrize(("damage", "said"), DAMAGES)
def test_a_lake_that_cannot_be_read(tmp_path: Path, damage: Callable[[Path], object], said: str) -> None:
    path = tmp_path / "lake"
    lake_with(path, "a", "b")
    damage(path)
    before = laid_out(path)
    whole = f"{path} is no lake that can be read: {said}"
    assert complaint(lambda: grow(Lake(path), "c")) == whole
    assert complaint(lambda: Reader(Lake(path))) == whole
    assert laid_out(path) == before


def test_a_lake_that_cannot_be_read_is_told_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "lake"
    lake_with(path, "a")
    spoil("CURRENT", b"\0\n")(path)
    ran = kiplint("pipeline", "report", path, cwd=tmp_path)
    said = f"error: {path} is no lake that can be read: CURRENT: it names no snapshot\n"
    assert (ran.code, ran.out, ran.err) == (2, "", said)


def test_an_older_snapshot_that_cannot_be_read_is_no_matter(tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a", "b")
    spoil("snapshots/000001.json", b"{")(lake.path)
    (lake.path / "snapshots" / "notes.txt").write_text("")
    grow(lake, "c")
    assert told(lake.path) == ["a", "b", "c"]


def test_parts_that_cannot_be_read(tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    part = Path(lake.place(lake.snapshot().parts(TABLE)[0]))
    (part / "part-0.parquet").write_bytes(b"PAR1 and no more")
    for action in (lambda: Reader(lake).rows(Problems), lambda: lake.count(lake.snapshot().parts(TABLE))):
        said = complaint(action)
        assert said.startswith(f"{lake.path} is damaged, `kiplint pipeline run` into a new one: ")
        assert "\n" not in said
    shutil.rmtree(part)
    assert str(part) in complaint(lambda: Reader(lake).rows(Problems))


# Directories that are somebody else's


@pytest.fixture
def precious(tmp_path: Path) -> Iterator[Path]:
    """A directory of work, byte for byte the same afterwards."""
    path = tmp_path / "precious"
    for name in (
        "data/2024/000001-1/results.csv",
        "snapshots/000001.json",
        "staging/x-00000000-1",
        "repositories/.x/a",
    ):
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_text(f"years of work: {name}")
    before = contents(path)
    yield path
    assert contents(path) == before


def contents(path: Path) -> dict[str, bytes | None]:
    return {str(one.relative_to(path)): one.read_bytes() if one.is_file() else None for one in path.rglob("*")}


@pytest.mark.parametrize("gone", [(), ("data",), ("data", "snapshots", "repositories"), ("staging", "snapshots")])
def test_a_directory_without_the_mark_is_no_lake(precious: Path, tmp_path: Path, gone: tuple[str, ...]) -> None:
    path = tmp_path / "theirs"
    shutil.copytree(precious, path)
    for name in gone:
        shutil.rmtree(path / name)
    before = contents(path)
    ran = kiplint("pipeline", "run", "--source", f"x={tmp_path}/nowhere", "--out", path, cwd=tmp_path)
    assert ran.code == 2
    assert ran.err.startswith(f"error: {path} is not empty and no lake: it holds ")
    assert contents(path) == before


def test_a_database_with_a_current_of_its_own_is_no_lake(tmp_path: Path) -> None:
    (tmp_path / "CURRENT").write_text("MANIFEST-000001\n")
    said = complaint(lambda: grow(Lake(tmp_path), "a"))
    assert said == f"{tmp_path} is not empty and no lake: it holds CURRENT, but no mark of this kiplint's"
    assert os.listdir(tmp_path) == ["CURRENT"]


@pytest.mark.parametrize("name", ["data", "repositories", "snapshots", "staging"])
def test_no_link_to_a_directory_is_followed(precious: Path, tmp_path: Path, name: str) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    link(lake.path / name, precious / name)
    said = complaint(lambda: grow(lake, "b"))
    assert said == f"cannot write the lake {lake.path}: {name} is a link"


@pytest.mark.parametrize(
    ("name", "how"), [("LOCK", Path.symlink_to), ("LOCK", Path.hardlink_to), ("WRITTEN", Path.symlink_to)]
)
def test_no_link_to_a_file_is_written_through(
    precious: Path, tmp_path: Path, name: str, how: Callable[[Path, Path], None]
) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    (lake.path / name).unlink()
    how(lake.path / name, precious / "snapshots/000001.json")
    said = complaint(lambda: grow(lake, "b"))
    assert said.startswith(f"cannot write the lake {lake.path}: {name} is ")


def test_a_log_that_is_another_file_too_is_replaced(precious: Path, tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    (lake.path / "WRITTEN").unlink()
    (lake.path / "WRITTEN").hardlink_to(precious / "snapshots/000001.json")
    grow(lake, "b")
    assert told(lake.path) == ["a", "b"]


def test_a_mark_that_is_a_link_marks_nothing(precious: Path, tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    (precious / "KIPLINT-LAKE").symlink_to(lake.path / "KIPLINT-LAKE")
    said = complaint(lambda: grow(Lake(precious), "a"))
    (precious / "KIPLINT-LAKE").unlink()
    assert said.startswith(f"{precious} is not empty and no lake: it holds ")


def test_nothing_is_removed_that_the_log_does_not_name(tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    mine = {"data/mine/000001-1/a", "staging/mine-00000000-1/a", "repositories/.mine/a", "snapshots/mine.json"}
    for name in mine:
        (lake.path / name).parent.mkdir(parents=True, exist_ok=True)
        (lake.path / name).write_text("mine")
    for problem in "bcd":
        grow(lake, problem)
    assert {name for name, data in contents(lake.path).items() if data == b"mine"} == mine


@pytest.mark.parametrize(
    "line",
    ["../precious", "data/../../precious", "/PRECIOUS", "snapshots/../../precious/data", ".", "data", "staging/.."],
)
def test_a_log_names_nothing_outside(precious: Path, tmp_path: Path, line: str) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    with open(lake.path / "WRITTEN", "a") as log:
        log.write(line.replace("/PRECIOUS", str(precious)) + "\n")
    grow(lake, "b")
    assert told(lake.path) == ["a", "b"]


def test_what_the_log_names_is_not_removed_through_a_link(precious: Path, tmp_path: Path) -> None:
    lake = lake_with(tmp_path / "lake", "a")
    (lake.path / "data" / "linked").symlink_to(precious / "data" / "2024")
    (lake.path / "staging").mkdir()
    (lake.path / "staging" / "linked-00000000-1").symlink_to(precious)
    for name in ("data/linked/000001-1", "staging/linked-00000000-1"):
        lake.note(name)
    grow(lake, "b")
    assert (lake.path / "data" / "linked").is_symlink()


def test_a_full_disk_is_told_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lake = lake_with(tmp_path / "lake", "a")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert complaint(lambda: grow(lake, "b")) == f"cannot write the lake {lake.path}: No space left on device"
    assert told(lake.path) == ["a"]
    grow(lake, "b")
    assert told(lake.path) == ["a", "b"]
