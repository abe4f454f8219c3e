"""Files of a lake, written and read by Spark: by itself on a file system, elsewhere through Arrow, task by task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from secrets import token_hex
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from kiplint.pipeline.columns import Columns, arrow_schema, batch, ddl
from kiplint.pipeline.delta import Part, Parts, names
from kiplint.pipeline.storage import Storage

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

WRITTEN: Columns = {"name": "string", "rows": "bigint", "size": "bigint"}
A_GROUP = 16 << 20
"""The bytes of a row group in memory, which a process holds while it writes."""
Batches = Iterable[pa.RecordBatch]


def write_parts(df: DataFrame, storage: Storage, folder: str) -> Parts:
    """The rows as files in a folder that is not there yet; files without rows are left out."""
    if storage.path:
        df.write.parquet(str(storage.path / folder))
        return found_in(storage, folder)
    columns = dict(df.dtypes)
    written = df.mapInArrow(_writing(storage, folder, columns), ddl(WRITTEN)).collect()
    return tuple(sorted(Part(*row) for row in written))


def write_table(found: pa.Table, storage: Storage, folder: str) -> Parts:
    """The rows of this process as one file in a folder that is not there yet, or none."""
    return write_rows(found.to_batches(), found.schema, storage, folder)


def write_rows(batches: Batches, schema: pa.Schema, storage: Storage, folder: str) -> Parts:
    """The same as they come."""
    return tuple(Part(*one) for one in _written(batches, schema, storage, f"{folder}/part-0.parquet"))


def read_parts(spark: SparkSession, storage: Storage, parts: Parts, columns: Columns, tasks: int) -> DataFrame:
    """The rows of files."""
    if storage.path:
        folders = {name.rpartition("/")[0] for name in names(parts)}  # a folder's files come and go together
        return spark.read.schema(ddl(columns)).parquet(*(str(storage.path / one) for one in sorted(folders)))
    listed = spark.createDataFrame(pa.table({"name": names(parts)})).repartition(min(len(parts), tasks))
    return listed.mapInArrow(_reading(storage, columns), ddl(columns))


def found_in(storage: Storage, folder: str) -> Parts:
    """The files with rows that a job has left in a folder of this file system."""
    there = (f"{folder}/{name}" for name in storage.list(folder) if name.endswith(".parquet"))
    parts = (Part(name, _rows(storage, name), _size(storage, name)) for name in there)
    return tuple(part for part in parts if part.rows)


def _rows(storage: Storage, name: str) -> int:
    with storage.files.open_input_file(name) as file:
        return int(pq.read_metadata(file).num_rows)


def _size(storage: Storage, name: str) -> int:
    return int(storage.files.get_file_info([name])[0].size)


def _writing(storage: Storage, folder: str, columns: Columns) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        for one in _written(batches, arrow_schema(columns), storage, f"{folder}/part-{token_hex(8)}.parquet"):
            yield batch(WRITTEN, [one])

    return work


def _written(batches: Batches, schema: pa.Schema, storage: Storage, name: str) -> Iterator[tuple[str, int, int]]:
    """Write a file, if there are rows for it: its name, its rows and bytes."""
    rows, writer = 0, None
    for one in _groups(batches):
        if storage.path and not writer:
            (storage.path / name).parent.mkdir(parents=True, exist_ok=True)
        writer = writer or pq.ParquetWriter(name, schema, filesystem=storage.files, compression="zstd")
        writer.write_table(one.cast(schema))
        rows += one.num_rows
    if writer:
        writer.close()
        yield name, rows, _size(storage, name)


def _groups(batches: Batches) -> Iterator[pa.Table]:
    """The rows some at a time, each time for a row group: many small ones are slow to read."""
    held: list[pa.RecordBatch] = []
    size = 0
    for one in filter(len, batches):
        held.append(one)
        size += one.nbytes
        if size >= A_GROUP:
            yield pa.Table.from_batches(held)
            held.clear()
            size = 0
    if held:
        yield pa.Table.from_batches(held)


def _reading(storage: Storage, columns: Columns) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        import pyarrow.dataset as ds

        for one in batches:
            found = one.column(0).to_pylist()
            schema = arrow_schema(columns)
            yield from ds.dataset(found, schema=schema, format="parquet", filesystem=storage.files).to_batches()

    return work
