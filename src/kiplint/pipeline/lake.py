"""The lake: a directory of Parquet tables whose states are published whole.

    LAKE/CURRENT                 the name of the newest snapshot
    LAKE/snapshots/000007.json   what a snapshot consists of: the parts of each table, and what each stage has seen
    LAKE/data/TABLE/000007-0     a part: a directory of Parquet files, never changed once it is there
    LAKE/staging/                what is being written

The rest is the ground's: what makes a directory a lake, and who may write. Every name that is read here is a plain one
inside the lake. Readers take the snapshot that CURRENT names and see it whole, whatever a writer does meanwhile. A
killed writer leaves staged files and parts that no snapshot names; the next writer removes them, as far as the log
names them. Executors and servers may go on for a while after the process they worked for was killed, so no name is
staged twice.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.dataset
from msgspec.structs import replace

from kiplint.engine.errors import UsageError
from kiplint.pipeline.columns import Columns, arrow_schema
from kiplint.pipeline.ground import MOST_BYTES, PART, SNAPSHOT, Ground
from kiplint.text.files import read_file

KEPT = 2
"""Snapshots that stay readable: the newest, and the one before for readers that have begun with it."""
_STAGED = re.compile(r"[A-Za-z_][A-Za-z_-]{0,80}-[0-9a-f]{8}-[0-9]{1,12}")


class Seen(msgspec.Struct, frozen=True):
    """What a stage has worked on: an id of the code and rules it ran, and the parts of each table that it read."""

    engine: str
    inputs: dict[str, tuple[str, ...]]


class Snapshot(msgspec.Struct, frozen=True):
    """One state of a lake: parts by table, work by stage, and how the run that made it was called."""

    number: int = 0
    tables: dict[str, tuple[str, ...]] = {}
    stages: dict[str, Seen] = {}
    run: dict[str, Any] = {}

    def parts(self, table: str) -> tuple[str, ...]:
        """The parts of a table, none when there is no such table yet."""
        return self.tables.get(table, ())


class Lake:
    """A lake on a file system that all machines of the cluster see under the same path."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).absolute()
        self._ground = Ground(self.path)
        self._run = token_hex(4)
        self._staged: list[str] = []

    @property
    def exists(self) -> bool:
        """Whether something was published here."""
        return (self.path / "CURRENT").is_file()

    def snapshot(self) -> Snapshot:
        """The newest snapshot, an empty one for a new lake; raises UsageError when it cannot be read."""
        what = "CURRENT"
        try:
            if not os.path.lexists(self.path / what):
                return Snapshot()
            name = _bytes(self.path / what).decode("ascii", "replace").strip()
            if not SNAPSHOT.fullmatch(name):
                raise ValueError("it names no snapshot")
            what = f"snapshots/{name}"
            return _read(self.path / what)
        except (OSError, ValueError) as error:
            said = error.strerror if isinstance(error, OSError) else error
            raise UsageError(f"{self.path} is no lake that can be read: {what}: {said}") from None

    def place(self, part: str) -> str:
        """The directory with the Parquet files of a part, published or staged."""
        return str(self.path / ("data" if "/" in part else "staging") / part)

    def read(self, parts: Iterable[str], columns: Columns, where: Any = None) -> pa.Table:
        """Columns of some parts in this process; `where` is a condition of Arrow's on them. Raises UsageError."""
        schema = arrow_schema(columns)
        with self.reading():
            found = [pyarrow.dataset.dataset(self.place(part), format="parquet", schema=schema) for part in parts]
            if not found:
                return schema.empty_table()
            return pyarrow.dataset.dataset(found).to_table(columns=list(columns), filter=where)

    def count(self, parts: Iterable[str]) -> int:
        """How many rows parts have together, as the files' footers say; raises UsageError when one cannot be read."""
        with self.reading():
            return sum(pyarrow.dataset.dataset(self.place(part), format="parquet").count_rows() for part in parts)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Where parts are read: raises UsageError when one is missing or damaged."""
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            said = " ".join(str(error).split())
            raise UsageError(f"{self.path} is damaged, `kiplint pipeline run` into a new one: {said}") from None

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one writer; raises UsageError when there is another, when this is no place for a lake, or is full."""
        self._ground.claim()
        with self._ground.held():
            try:
                self._sweep()
                yield
                self._ground.sweep(lambda name: not name.startswith("staging/"))
                self._drop_staging()
            except OSError as error:
                said = error.strerror or " ".join(str(error).split())
                raise UsageError(f"cannot write the lake {self.path}: {said}") from error

    def note(self, name: str) -> None:
        """Enter into the lake's log what is about to be made in it, so that it may be removed again."""
        self._ground.note(name)

    def stage(self, table: str) -> Path:
        """A directory that does not exist yet, to write the part of a table to."""
        self._staged.append(f"staging/{table}-{self._run}-{len(self._staged) + 1}")
        self._ground.note(self._staged[-1])
        return self.path / self._staged[-1]

    def publish(self, snapshot: Snapshot) -> Snapshot:
        """Make a snapshot the newest: its staged parts become data, then CURRENT turns over in one step."""
        number = self.snapshot().number + 1
        tables = {name: tuple(self._settle(name, part, number) for part in parts) for name, parts in _sorted(snapshot)}
        settled = replace(snapshot, number=number, tables=tables)
        name = f"{number:06}.json"
        self._write(self.path / "snapshots" / name, msgspec.json.format(msgspec.json.encode(settled), indent=1))
        self._write(self.path / "CURRENT", f"{name}\n".encode())
        return settled

    def _settle(self, table: str, part: str, number: int) -> str:
        if PART.fullmatch(part):
            return part
        staged = self.path / "staging" / part
        settled = f"{table}/{number:06}-{part.rpartition('-')[2]}"
        target = self.path / "data" / settled
        self._ground.note(f"data/{settled}")
        target.parent.mkdir(parents=True, exist_ok=True)
        staged.rename(target)
        return settled

    def _sweep(self) -> None:
        """Remove what no snapshot in use names."""
        newest = self.snapshot()
        kept = {f"data/{part}" for part in _names(newest)}
        for number in range(max(newest.number - KEPT + 1, 0), newest.number + 1):
            name = f"snapshots/{number:06}.json"
            kept.add(name)
            with suppress(OSError, ValueError):  # nobody can begin with a snapshot that is damaged
                kept |= {f"data/{part}" for part in _names(_read(self.path / name))}
        self._ground.sweep(kept.__contains__)
        self._drop_staging()

    def _drop_staging(self) -> None:
        with suppress(OSError):  # it is not empty where an executor goes on
            (self.path / "staging").rmdir()

    def _write(self, file: Path, content: bytes) -> None:
        staged = self.stage(file.name.removesuffix(".json"))
        if file.parent != self.path:
            self._ground.note(f"{file.parent.name}/{file.name}")
        for folder in (file.parent, staged.parent):
            folder.mkdir(parents=True, exist_ok=True)
        with open(staged, "xb") as out:
            out.write(content)
            out.flush()
            os.fsync(out.fileno())
        staged.replace(file)


def _sorted(snapshot: Snapshot) -> list[tuple[str, tuple[str, ...]]]:
    return sorted(snapshot.tables.items())


def _names(snapshot: Snapshot) -> set[str]:
    return {part for parts in snapshot.tables.values() for part in parts}


def _read(file: Path) -> Snapshot:
    found = msgspec.json.decode(_bytes(file), type=Snapshot)
    inputs = (one for seen in found.stages.values() for one in seen.inputs.values())
    for part in {*_names(found), *(part for one in inputs for part in one)}:
        if not PART.fullmatch(part):
            raise ValueError(f"{part!r} is no name of a part")
    return found


def _bytes(file: Path) -> bytes:
    if file.is_symlink():
        raise ValueError("it is a link")
    return read_file(str(file), MOST_BYTES)
