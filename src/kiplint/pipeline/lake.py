"""The lake: a directory of Parquet tables whose states are published whole.

    LAKE/CURRENT                 the name of the newest snapshot
    LAKE/snapshots/000007.json   what a snapshot consists of: the parts of each table, and what each stage has seen
    LAKE/data/TABLE/000007-0     a part: a directory of Parquet files, never changed once it is there
    LAKE/staging/                what is being written
    LAKE/LOCK                    held by the one process that writes

Readers take the snapshot that CURRENT names and see it whole, whatever a writer does meanwhile. A killed writer leaves
staged directories and parts that no snapshot names; the next writer removes them.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.dataset
from msgspec.structs import replace

from kiplint.engine.errors import UsageError
from kiplint.pipeline.columns import Columns, arrow_schema

KEPT = 2
"""Snapshots that stay readable: the newest, and the one before for readers that have begun with it."""


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
        self._staged = 0

    @property
    def exists(self) -> bool:
        """Whether something was published here."""
        return (self.path / "CURRENT").is_file()

    def snapshot(self) -> Snapshot:
        """The newest snapshot, an empty one for a new lake; raises UsageError when it cannot be read."""
        try:
            name = (self.path / "CURRENT").read_text().strip()
            return msgspec.json.decode((self.path / "snapshots" / name).read_bytes(), type=Snapshot)
        except FileNotFoundError:
            return Snapshot()
        except (OSError, msgspec.DecodeError) as error:
            raise UsageError(f"{self.path} is no lake that can be read: {error}") from None

    def place(self, part: str) -> str:
        """The directory with the Parquet files of a part, published or staged."""
        return str(self.path / ("data" if "/" in part else "staging") / part)

    def read(self, parts: Iterable[str], columns: Columns, where: Any = None) -> pa.Table:
        """Columns of some parts in this process; `where` is a condition of Arrow's on them."""
        schema = arrow_schema(columns)
        found = [pyarrow.dataset.dataset(self.place(part), format="parquet", schema=schema) for part in parts]
        if not found:
            return schema.empty_table()
        return pyarrow.dataset.dataset(found).to_table(columns=list(columns), filter=where)

    def count(self, parts: Iterable[str]) -> int:
        """How many rows parts have together, as the files' footers say."""
        return sum(pyarrow.dataset.dataset(self.place(part), format="parquet").count_rows() for part in parts)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Be the one writer; raises UsageError when there is another, or when this is no place for a lake."""
        self._claim()
        with open(self.path / "LOCK", "a+") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                lock.seek(0)
                owner = lock.read().strip()
                raise UsageError(f"{self.path} is being written by {owner or 'another process'}; wait for it") from None
            lock.truncate(0)
            lock.write(f"process {os.getpid()}\n")
            lock.flush()
            self._sweep()
            yield

    def stage(self, table: str) -> Path:
        """A directory that does not exist yet, to write the part of a table to."""
        self._staged += 1
        return self.path / "staging" / f"{table}-{self._staged}"

    def publish(self, snapshot: Snapshot) -> Snapshot:
        """Make a snapshot the newest: its staged parts become data, then CURRENT turns over in one step."""
        number = self.snapshot().number + 1
        tables = {name: tuple(self._settle(name, part, number) for part in parts) for name, parts in _sorted(snapshot)}
        settled = replace(snapshot, number=number, tables=tables)
        name = f"{number:06}.json"
        _write(self.path / "snapshots" / name, msgspec.json.format(msgspec.json.encode(settled), indent=1))
        _write(self.path / "CURRENT", f"{name}\n".encode())
        return settled

    def _settle(self, table: str, part: str, number: int) -> str:
        staged = self.path / "staging" / part
        if not staged.is_dir():
            return part
        settled = f"{table}/{number:06}-{part.rpartition('-')[2]}"
        target = self.path / "data" / settled
        target.parent.mkdir(parents=True, exist_ok=True)
        staged.rename(target)
        return settled

    def _claim(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            strangers = {one.name for one in self.path.iterdir()} - {
                "CURRENT",
                "LOCK",
                "data",
                "repositories",
                "snapshots",
                "staging",
            }
        except OSError as error:
            raise UsageError(f"cannot write the lake {self.path}: {error.strerror}") from None
        if strangers and not self.exists:
            raise UsageError(f"{self.path} is not empty and no lake: it holds {min(strangers)}")

    def _sweep(self) -> None:
        """Remove what no snapshot in use names."""
        shutil.rmtree(self.path / "staging", ignore_errors=True)
        newest = self.snapshot().number
        known: set[str] = set()
        for file in sorted((self.path / "snapshots").glob("*.json")):
            if newest - KEPT < int(file.stem) <= newest:
                found = msgspec.json.decode(file.read_bytes(), type=Snapshot)
                known.update(part for parts in found.tables.values() for part in parts)
            else:
                file.unlink()
        for part in (self.path / "data").glob("*/*"):
            if f"{part.parent.name}/{part.name}" not in known:
                shutil.rmtree(part, ignore_errors=True)


def _sorted(snapshot: Snapshot) -> list[tuple[str, tuple[str, ...]]]:
    return sorted(snapshot.tables.items())


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    staged = file.with_name(f".{file.name}.{os.getpid()}")
    with open(staged, "wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    staged.replace(file)
