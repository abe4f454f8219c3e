"""`kiplint pipeline query`."""

from typing import Annotated, Literal

from kiplint.cli.options import Argument, ColorOption, Command, LakeArgument, Option

DEFAULT_ROWS = 1000
"""The number of rows that are shown by default."""


class QueryCommand(Command, frozen=True):
    """The options of `kiplint pipeline query`."""

    EPILOG = (
        "Examples:  kiplint pipeline query lake 'SHOW VIEWS'   |   "
        "kiplint pipeline query lake 'SELECT release, rule, count(*) FROM set_findings GROUP BY ALL'"
    )

    lake: LakeArgument
    sql: Annotated[str, Argument("A query in DuckDB's SQL over the lake's tables.", "SQL")]
    limit: Annotated[
        int | None, Option("The most rows to print.", "ROWS", least=1, usual="1000; csv and parquet have all")
    ] = None
    timeout: Annotated[int, Option("The longest to wait for an answer, in seconds.", "SECONDS", least=1)] = 60
    output_format: Annotated[
        Literal["text", "json", "markdown", "csv", "parquet"], Option("How to write the result.")
    ] = "text"
    color: ColorOption = "auto"

    def run(self) -> int:
        """Query the lake in SQL.

        Every table is a view with its name. Other views join tables: `set_findings` has the findings of every revision,
        as `check` reports them, `set_changes` the changes of every step, as `diff` reports them; `set_messages`,
        `set_fields`, `releases` and `rpcs` say what revisions hold. `events`, `unreleased_findings`,
        `finding_lifetimes`, `version_releases`, `fixed_upstream` and `behind_upstream` answer a question each. A query
        reads these and nothing else.
        """
        from kiplint.commands.pipeline.lake import open_lake, present_answer, write_rows

        reader = open_lake(self.lake)
        from kiplint.pipeline.answers.query import query, stream

        if self.output_format in ("csv", "parquet"):
            with stream(reader, self.sql, self.timeout) as batches:
                return write_rows(batches, self.output_format, self.limit)
        answer = query(reader, self.sql, self.limit or DEFAULT_ROWS, self.timeout)
        return present_answer(answer, self.output_format, self.color)
