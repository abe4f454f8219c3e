"""`kiplint pipeline forks`."""

from typing import Annotated, Any, TextIO

import typer

from kiplint.cli.options import FormOption, LakeArgument
from kiplint.commands.pipeline.text import open_lake, present, write_rows
from kiplint.engine.errors import UsageError
from kiplint.text.words import did_you_mean

FORKS = "SELECT * FROM forks WHERE $1 IN ('', source) ORDER BY merge_breaks DESC, collisions DESC, source, lineage"
LISTS = {
    "collisions": (
        "Collisions: one version number, two layouts",
        "SELECT source, message_name, lowest, highest, difference, upstream_release FROM drift "
        "WHERE status = 'collision' AND $1 IN ('', source) ORDER BY ALL",
    ),
    "breaks": (
        "What merging upstream's newest release breaks",
        "SELECT source, breaks, message_name, versions, message FROM fork_breaks WHERE $1 IN ('', source) ORDER BY ALL",
    ),
    "fixed_upstream": (
        "Fixed upstream",
        "SELECT source, rule, severity, message_name, fixed_commit, fixed_time, fixed_release FROM fixed_upstream "
        "WHERE $1 IN ('', source) AND severity <> 'info' ORDER BY ALL",
    ),
}
"""The lists of a fork: the title and the query of each by its name in JSON."""


EPILOG = """\b
Examples:
  kiplint pipeline forks lake
  kiplint pipeline forks lake automq"""


def command(
    lake: LakeArgument,
    fork: Annotated[
        str | None, typer.Argument(metavar="FORK", help="Only this source, with what the numbers count.")
    ] = None,
    output_format: FormOption = "text",
) -> int:
    """Compare forks with upstream: where they left it, what they have alone or otherwise, what a merge breaks.

    A row for each line of a fork, the worst first. `own` counts messages with versions that upstream never had,
    `collisions` those with a version that upstream has otherwise, `behind` upstream's changes since the base.
    """
    tables = open_lake(lake)
    forks = tables.rows(FORKS, [fork or ""])
    if fork and not forks.values:
        names = [name for (name,) in tables.rows("SELECT DISTINCT source FROM forks").values]
        raise UsageError(f"the lake has no fork {fork}{did_you_mean(fork, names)}")
    lists = {name: tables.rows(sql, [fork or ""]) for name, (_, sql) in LISTS.items()}

    def write(out: TextIO) -> None:
        write_rows(out, "Forks", forks, "the lake has upstream only")
        for name, (title, _) in LISTS.items() if fork else ():
            write_rows(out, title, lists[name])

    document: dict[str, Any] = {name: rows.records for name, rows in lists.items()}
    return present(output_format, {"forks": forks.records, **document}, write)
