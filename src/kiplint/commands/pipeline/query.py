"""`kiplint pipeline query`."""

from typing import Annotated

from kiplint.cli.classes import Argument, Command, FormOption, LakeArgument


class QueryCommand(Command, frozen=True):
    """The options of `kiplint pipeline query`."""

    EPILOG = (
        "Examples:  kiplint pipeline query lake 'SHOW TABLES'   |   "
        "kiplint pipeline query lake 'SELECT release, rule, count(*) FROM set_findings GROUP BY ALL'"
    )

    lake: LakeArgument
    sql: Annotated[str, Argument("A query in DuckDB's SQL over the tables and views of the lake.", "SQL")]
    output_format: FormOption = "text"

    def run(self) -> int:
        """Query the tables and views of a lake in SQL, and nothing else.

        The views answer questions, such as `set_findings` what `check` finds in each revision, and `set_changes` what
        `diff` finds at each; docs/reference/tables.md has them all.
        """
        from kiplint.commands.pipeline.text import open_lake, present, write_table

        rows = open_lake(self.lake).query(self.sql)
        return present(
            self.output_format, {"rows": rows.records}, lambda out: write_table(out, "", rows.columns, rows.values)
        )
