"""A lake as `ingest` publishes one, written straight from generated definitions, a few thousand at a time.

Each source is one line of history in which every revision replaces every file, so that next to no definition occurs
twice.
Contents are laid out by their ids, as `ingest` lays them out, and not by the sets that hold them.
"""

import itertools
import shutil
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha1, sha256
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from benchmarks.pipeline.variation import Template, Variation, variations
from kiplint.pipeline.lake.delta import Parts, parts_named, write_rows
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.lake.schema import TableFrame, arrow_schema, batch, table
from kiplint.pipeline.tables import Blobs, Files, Revisions, Roots, Sources, Trees

A_LINE = 100
"""Revisions of one source."""
A_GROUP = 8192
"""Rows that are held before they are written."""
PILES = 2
"""The files that the contents lie in: one for each core."""
BEGIN = datetime(2020, 1, 1, tzinfo=UTC)


def write_lake(path: Path, templates: Sequence[Template], definitions: int) -> int:
    """A new lake with at least so many definitions, all distinct, in whole variations; says how many."""
    shutil.rmtree(path, ignore_errors=True)
    lake = Lake(path)
    count = -(-definitions // len(templates))
    with lake.writing():
        tables = _Tables(lake)
        revisions = [_add(tables, variation) for variation in itertools.islice(variations(templates), count)]
        for number in range(-(-count // A_LINE)):
            size = min(A_LINE, count - number * A_LINE)
            tables.add(Sources, [(_source(number), "main", "git", "", size, None, "")])
        rows = write_rows(table(Revisions.COLUMNS, revisions), Revisions, lake.storage, lake.ticket())
        lake.publish(lake.snapshot(), {**tables.close(), Revisions.NAME: rows}, "ingest")
    return count * len(templates)


def _add(tables: "_Tables", variation: Variation) -> tuple[object, ...]:
    """Add the contents of a variation; its revision."""
    trees = []
    for directory, files in variation.sets.items():
        ids = [(name, _blob_id(data), data) for name, data in files]
        tree = _digest((name, blob) for name, blob, _ in ids)
        trees.append((directory, tree))
        tables.add(Files, [(tree, name, blob) for name, blob, _ in ids])
        for _, blob, data in ids:
            tables.add_blob(blob, data)
    root = _digest(trees)
    line, position = divmod(variation.number, A_LINE)
    tables.add(Trees, [(root, directory, tree) for directory, tree in trees])
    tables.add(Roots, [(root[:40], root)])
    time = BEGIN + timedelta(hours=variation.number)
    return _source(line), "main", position, root[:40], time, None, root, "", "", [], None, [], [], None


class _Tables:
    """The tables that are being written: as many files of each as there are piles in use."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake
        self._files: dict[tuple[type[TableFrame], int], tuple[str, pq.ParquetWriter, list[tuple[Any, ...]]]] = {}
        self._blobs: set[str] = set()

    def add_blob(self, blob: str, data: bytes) -> None:
        """A content, once: a header of which rules know each name is the same in all variations."""
        if blob not in self._blobs:
            self._blobs.add(blob)
            self.add(Blobs, [(blob, "definition", len(data), data, None)], int(blob[:8], 16) % PILES)

    def add(self, kind: type[TableFrame], rows: Iterable[tuple[Any, ...]], pile: int = 0) -> None:
        if (kind, pile) not in self._files:
            name = f"{kind.NAME}/{self._lake.ticket()}-0.parquet"
            (self._lake.path / name).parent.mkdir(parents=True, exist_ok=True)
            writer = pq.ParquetWriter(self._lake.path / name, arrow_schema(kind.COLUMNS), compression="zstd")
            self._files[kind, pile] = (name, writer, [])
        _, writer, buffer = self._files[kind, pile]
        buffer.extend(rows)
        if len(buffer) >= A_GROUP:
            writer.write_batch(batch(kind.COLUMNS, buffer))
            buffer.clear()

    def close(self) -> dict[str, Parts]:
        """Write what is held, and say the files of each table."""
        parts: dict[str, Parts] = {}
        for (kind, _), (name, writer, buffer) in self._files.items():
            if buffer:
                writer.write_batch(batch(kind.COLUMNS, buffer))
            writer.close()
            parts[kind.NAME] = (*parts.get(kind.NAME, ()), *parts_named(self._lake.storage, {name: ""}))
        return parts


def _source(number: int) -> str:
    return f"source-{number:03}"


def _blob_id(data: bytes) -> str:
    """Git's id of a content."""
    return sha1(b"blob %d\0" % len(data) + data).hexdigest()


def _digest(pairs: Iterable[tuple[str, str]]) -> str:
    """The id that `ingest` gives to named contents."""
    return sha256("\n".join(sorted(map(":".join, pairs))).encode()).hexdigest()
