"""`kiplint pipeline forks`."""

from typing import Annotated

import typer

from kiplint.cli.options import FormOption, LakeArgument
from kiplint.commands.pipeline.text import open_lake, present
from kiplint.engine.errors import UsageError
from kiplint.text.words import did_you_mean

QUERIES = {
    "forks": """SELECT * FROM forks WHERE $1 IN ('', source)
        ORDER BY merge_breaks DESC, collisions DESC, source, lineage""",
    "collisions": """SELECT message_name, lowest, highest, difference, field, upstream_release FROM drift
        WHERE status = 'collision' AND source = $1 ORDER BY ALL""",
    "breaks": "SELECT breaks, message_name, versions, message FROM fork_breaks WHERE source = $1 ORDER BY ALL",
    "fixed_upstream": """SELECT rule, severity, message_name, fixed_commit, fixed_time, fixed_release
        FROM fixed_upstream WHERE source = $1 AND severity <> 'info' ORDER BY ALL""",
}
TITLES = {
    "forks": "Forks",
    "collisions": "Collisions: one version number, two layouts",
    "breaks": "What merging upstream's newest release breaks",
    "fixed_upstream": "Fixed upstream",
}
EPILOG = """\b
Examples:
  kiplint pipeline forks lake
  kiplint pipeline forks lake automq"""


def command(
    lake: LakeArgument,
    fork: Annotated[
        str, typer.Argument(metavar="FORK", help="Show only this fork, with the details behind the numbers.")
    ] = "",
    output_format: FormOption = "text",
) -> int:
    """Compare forks with upstream: their base, their own versions, collisions, and what a merge breaks.

    Prints a row for each line of history of a fork, the worst first. `own` counts messages with versions that upstream
    never had, `collisions` counts messages with a version that upstream encodes differently, and `behind` counts
    upstream's changes since the base.
    """
    lake_answers = open_lake(lake)
    queries = QUERIES if fork else {"forks": QUERIES["forks"]}
    answers = {name: lake_answers.rows(sql, [fork]) for name, sql in queries.items()}
    if fork and not answers["forks"].values:
        names = [name for (name,) in lake_answers.rows("SELECT DISTINCT source FROM forks").values]
        raise UsageError(f"the lake has no fork {fork}{did_you_mean(fork, names)}")
    return present(output_format, answers, {name: TITLES[name] for name in answers})
