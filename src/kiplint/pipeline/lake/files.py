"""Files of a lake, written and read by workers and by the driver, all through Arrow.

A worker writes the rows of each table into a file of its own, and returns names and sizes alone. What a task that
failed, or was done twice, has written is in no table; `optimize` removes it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from secrets import token_hex
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from kiplint.pipeline.lake.delta import Part, Parts, names
from kiplint.pipeline.lake.schema import Columns, arrow_schema, batch, ddl
from kiplint.pipeline.lake.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


Row = tuple[object, ...]
Batches = Iterable[pa.RecordBatch]
Output = tuple[str, Sequence[Row]]
"""Rows of a table, by its name; of PROBLEMS the subject and the text."""

PROBLEMS = "problems"
WRITTEN: Columns = {"name": "string", "rows": "bigint", "size": "bigint"}
RETURNED: Columns = {"table": "string", **WRITTEN, "subject": "string", "problem": "string"}
A_GROUP = 16 << 20
"""The bytes of a row group in memory, which a process holds while it writes."""
A_BATCH = 256
"""Rows of Python that become Arrow's at once."""


class Target:
    """A table to write: its columns, and a folder for its files that is not there yet."""

    def __init__(self, storage: Storage, folder: str, columns: Columns) -> None:
        self.columns = columns
        self._storage = storage
        self._folder = folder

    def open(self) -> PartWriter:
        """A writer of one more file."""
        return PartWriter(self._storage, f"{self._folder}/part-{token_hex(8)}.parquet", arrow_schema(self.columns))


class PartWriter:
    """Writes a file, if there are rows for it; many small row groups are slow to read, so rows are gathered."""

    def __init__(self, storage: Storage, name: str, schema: pa.Schema) -> None:
        self._storage = storage
        self._name = name
        self._schema = schema
        self._writer: pq.ParquetWriter | None = None
        self._held: list[pa.RecordBatch] = []
        self._size = 0
        self._rows = 0

    def write(self, rows: pa.RecordBatch) -> None:
        """Add rows."""
        if not len(rows):
            return
        self._held.append(rows)
        self._size += rows.nbytes
        self._rows += rows.num_rows
        if self._size >= A_GROUP:
            self._flush()

    def close(self) -> Part | None:
        """The file, None without rows."""
        if self._held:
            self._flush()
        if not self._writer:
            return None
        self._writer.close()
        return Part(self._name, self._rows, int(self._storage.files.get_file_info([self._name])[0].size))

    def _flush(self) -> None:
        if not self._writer:
            if self._storage.path:
                (self._storage.path / self._name).parent.mkdir(parents=True, exist_ok=True)
            self._writer = pq.ParquetWriter(
                self._name, self._schema, filesystem=self._storage.files, compression="zstd"
            )
        group = pa.Table.from_batches(self._held)
        self._writer.write_table(group.combine_chunks().cast(self._schema))
        self._held.clear()
        self._size = 0


def write_table(table: pa.Table, storage: Storage, folder: str) -> Parts:
    """The rows of this process as one file in a folder that is not there yet, or none."""
    return write_rows(table.to_batches(), table.schema, storage, folder)


def write_rows(batches: Batches, schema: pa.Schema, storage: Storage, folder: str) -> Parts:
    """The same as they come."""
    writer = PartWriter(storage, f"{folder}/part-0.parquet", schema)
    for rows in batches:
        writer.write(rows)
    part = writer.close()
    return (part,) if part else ()


def write_parts(df: DataFrame, storage: Storage, folder: str) -> Parts:
    """The rows of a DataFrame as files in a folder that is not there yet, none without rows."""
    columns = dict(df.dtypes)

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        writer = Target(storage, folder, columns).open()
        for rows in batches:
            writer.write(rows)
        if part := writer.close():
            yield batch(WRITTEN, [part])

    return tuple(sorted(Part(*row) for row in df.mapInArrow(work, ddl(WRITTEN)).collect()))


def returning(
    targets: Mapping[str, Target], function: Callable[[Batches], Iterator[Output]]
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """A worker's function that writes rows of several tables, as one that returns batches of `RETURNED`."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        writers = {name: target.open() for name, target in targets.items()}
        held: dict[str, list[Row]] = {name: [] for name in targets}
        returned: list[Row] = []
        for name, rows in function(batches):
            if name == PROBLEMS:
                returned += [(name, None, None, None, *problem) for problem in rows]
                continue
            held[name] += rows
            if len(held[name]) >= A_BATCH:
                writers[name].write(batch(targets[name].columns, held[name]))
                held[name] = []
        for name, writer in writers.items():
            writer.write(batch(targets[name].columns, held[name]))
            if part := writer.close():
                returned.append((name, *part, None, None))
        if returned:
            yield batch(RETURNED, returned)

    return work


def read_parts(spark: SparkSession, storage: Storage, parts: Parts, columns: Columns, tasks: int) -> DataFrame:
    """The rows of files."""
    if storage.path:
        return spark.read.schema(ddl(columns)).parquet(*(str(storage.path / name) for name in names(parts)))
    listed = spark.createDataFrame(pa.table({"name": names(parts)})).repartition(min(len(parts), tasks))
    return listed.mapInArrow(_reading(storage, columns), ddl(columns))


def _reading(storage: Storage, columns: Columns) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        import pyarrow.dataset as ds

        for listed in batches:
            schema = arrow_schema(columns)
            files = listed.column(0).to_pylist()
            yield from ds.dataset(files, schema=schema, format="parquet", filesystem=storage.files).to_batches()

    return work
