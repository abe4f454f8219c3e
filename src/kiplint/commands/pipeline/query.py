"""`kiplint pipeline query`."""

from typing import Annotated

import typer

from kiplint.cli.options import FormOption, LakeArgument
from kiplint.commands.pipeline.text import open_lake, present

EPILOG = """\b
Examples:
  kiplint pipeline query lake 'SHOW TABLES'
  kiplint pipeline query lake 'SELECT release, rule, count(*) FROM set_findings GROUP BY ALL'"""


def command(
    lake: LakeArgument,
    sql: Annotated[
        str, typer.Argument(metavar="SQL", help="A query in DuckDB's SQL over the tables and views of the lake.")
    ],
    output_format: FormOption = "text",
) -> int:
    """Run a read-only SQL query over the tables and views of a lake.

    The views answer common questions: `set_findings` has what `check` finds in each revision, and `set_changes` what
    `diff` finds. docs/reference/tables.md lists all views.
    """
    return present(output_format, {"rows": open_lake(lake).query(sql)}, {"rows": ""})
