"""What `kiplint pipeline query` does, apart from reading its arguments."""

from __future__ import annotations

import msgspec

from kiplint.cli.pipeline.answering import write_answer
from kiplint.cli.pipeline.running import need_spark, settle_interrupts
from kiplint.cli.process import CLEAN


class QueryOptions(msgspec.Struct, frozen=True):
    """The arguments of a query, as they were given."""

    lake: str
    sql: str
    limit: int
    output_format: str
    master: str | None
    remote: str | None
    conf: tuple[str, ...]
    color: str


def run_query(options: QueryOptions) -> int:
    """Run the query and write its rows."""
    need_spark()
    from kiplint.pipeline.answers.query import query
    from kiplint.pipeline.lake import Lake
    from kiplint.pipeline.reader import Reader
    from kiplint.pipeline.session import make_session, read_conf

    lake, conf = Lake(options.lake), read_conf(options.conf)
    reader = Reader(lake)
    spark = make_session(options.master, options.remote, conf)
    settle_interrupts()
    try:
        write_answer(
            query(spark, lake, reader.snapshot, options.sql, options.limit), options.output_format, options.color
        )
    finally:
        spark.stop()
    return CLEAN
