"""`kiplint pipeline query`."""

from typing import TYPE_CHECKING, Annotated, Literal

from kiplint.cli.options import Argument, Cluster, ColorOption, Group, LakeArgument, Option

if TYPE_CHECKING:
    from kiplint.pipeline.answers.reader import Reader


EPILOG = (
    "Examples:  kiplint pipeline query lake 'SHOW VIEWS'   |   "
    "kiplint pipeline query lake 'SELECT release, rule, count(*) FROM set_findings GROUP BY ALL'"
)


SHOWN = 1000
"""The most rows that are shown unless asked for others."""


class Options(Group, frozen=True):
    """What it takes."""

    lake: LakeArgument
    sql: Annotated[str, Argument("A query in DuckDB's SQL over the lake's tables, or in Spark's with --master.", "SQL")]
    limit: Annotated[
        int | None, Option("The most rows to print.", "ROWS", least=1, usual="1000; csv and parquet have all")
    ] = None
    timeout: Annotated[int, Option("The longest to wait for an answer, in seconds.", "SECONDS", least=1)] = 60
    output_format: Annotated[
        Literal["text", "json", "markdown", "csv", "parquet"], Option("How to write the result.")
    ] = "text"
    cluster: Cluster = Cluster()
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Ask the lake in SQL.

    Every table is a view of its own name. More put things together: `set_findings` has the findings of every revision,
    as `check` tells them, `set_changes` the changes of every step, as `diff` tells them; `set_messages`, `set_fields`,
    `releases` and `rpcs` say what revisions hold. A query reads these and nothing else.
    """
    from kiplint.commands.pipeline.lake import open_lake, write_answer, write_rows

    reader = open_lake(options.lake)
    cluster = options.cluster
    if cluster.master or cluster.remote:
        return _on_cluster(options, reader)
    from kiplint.pipeline.answers.query import query, stream

    if options.output_format in ("csv", "parquet"):
        with stream(reader, options.sql, options.timeout) as batches:
            return write_rows(batches, options.output_format, options.limit)
    answer = query(reader, options.sql, options.limit or SHOWN, options.timeout)
    return write_answer(answer, options.output_format, options.color)


def _on_cluster(options: Options, reader: "Reader") -> int:
    from kiplint.commands.pipeline.lake import need_spark, one_session, write_answer
    from kiplint.engine.errors import UsageError

    if options.output_format in ("csv", "parquet"):
        raise UsageError(f"--master and --remote answer as text, json or markdown, not as {options.output_format}")
    need_spark()
    from kiplint.pipeline.answers.spark_query import spark_query

    with one_session(options.cluster) as session:
        answer = spark_query(session(), reader.lake, reader.snapshot, options.sql, options.limit or SHOWN)
        return write_answer(answer, options.output_format, options.color)
