"""`kiplint pipeline query`."""

from __future__ import annotations

from typing import Annotated

import typer

from kiplint.cli.pipeline.options import ColorOption, ConfOption, FormatOption, LakeArgument, MasterOption, RemoteOption

EPILOG = (
    "Examples:  kiplint pipeline query lake 'SHOW VIEWS'   |   "
    "kiplint pipeline query lake 'SELECT release, rule, count(*) FROM set_findings GROUP BY ALL'"
)


def query(
    lake: LakeArgument,
    sql: Annotated[str, typer.Argument(metavar="SQL", help="A query in Spark's SQL over the lake's tables.")],
    limit: Annotated[int, typer.Option(min=1, help="The most rows to print.")] = 1000,
    output_format: FormatOption = "text",
    master: MasterOption = None,
    remote: RemoteOption = None,
    conf: ConfOption = None,
    color: ColorOption = "auto",
) -> None:
    """Ask the lake in SQL.

    Every table is a view of its own name. Two more put things together: `set_findings` has the findings of every
    revision, as `check` tells them, and `set_changes` the changes of every step, as `diff` tells them.
    """
    from kiplint.cli.pipeline.querying import QueryOptions, run_query
    from kiplint.cli.process import run

    options = QueryOptions(
        lake=lake,
        sql=sql,
        limit=limit,
        output_format=output_format,
        master=master,
        remote=remote,
        conf=tuple(conf or ()),
        color=color,
    )
    run(lambda: run_query(options))
