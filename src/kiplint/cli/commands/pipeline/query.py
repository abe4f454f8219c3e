"""`kiplint pipeline query`."""

from typing import Annotated

from kiplint.cli.groups import AnswerFormOption, Cluster, ColorOption, LakeArgument
from kiplint.cli.options import Argument, Group, Option

EPILOG = (
    "Examples:  kiplint pipeline query lake 'SHOW VIEWS'   |   "
    "kiplint pipeline query lake 'SELECT release, rule, count(*) FROM set_findings GROUP BY ALL'"
)


class Options(Group, frozen=True):
    """What it takes."""

    lake: LakeArgument
    sql: Annotated[str, Argument("A query in Spark's SQL over the lake's tables.", "SQL")]
    limit: Annotated[int, Option("The most rows to print.", least=1)] = 1000
    output_format: AnswerFormOption = "text"
    cluster: Cluster = Cluster()
    color: ColorOption = "auto"


def run(options: Options) -> int:
    """Ask the lake in SQL.

    Every table is a view of its own name. Two more put things together: `set_findings` has the findings of every
    revision, as `check` tells them, and `set_changes` the changes of every step, as `diff` tells them.
    """
    from kiplint.cli.lake import open_lake, settle_interrupts, write_answer

    reader = open_lake(options.lake)
    from kiplint.pipeline.answers.query import query
    from kiplint.pipeline.lake import Lake
    from kiplint.pipeline.session import make_session, read_conf

    cluster = options.cluster
    spark = make_session(cluster.master, cluster.remote, read_conf(cluster.conf))
    settle_interrupts()
    try:
        found = query(spark, Lake(options.lake), reader.snapshot, options.sql, options.limit)
        return write_answer(found, options.output_format, options.color)
    finally:
        spark.stop()
