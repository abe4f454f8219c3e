"""`kiplint pipeline forks`."""

from typing import Annotated, Any, TextIO

from kiplint.cli.classes import Argument, Command, FormOption, LakeArgument

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


class ForksCommand(Command, frozen=True):
    """The options of `kiplint pipeline forks`."""

    EPILOG = "Examples:  kiplint pipeline forks lake   |   kiplint pipeline forks lake automq"

    lake: LakeArgument
    fork: Annotated[str | None, Argument("Only this source, with what the numbers count.", "FORK")] = None
    output_format: FormOption = "text"

    def run(self) -> int:
        """Compare forks with upstream: where they left it, what they have alone or otherwise, what a merge breaks.

        A row for each line of a fork, the worst first. `own` counts messages with versions that upstream never had,
        `collisions` those with a version that upstream has otherwise, `behind` upstream's changes since the base.
        """
        from kiplint.commands.pipeline.text import open_lake, present
        from kiplint.engine.errors import UsageError
        from kiplint.text.words import did_you_mean

        lake = open_lake(self.lake)
        forks = lake.rows(FORKS, [self.fork or ""])
        if self.fork and not forks.values:
            names = [name for (name,) in lake.rows("SELECT DISTINCT source FROM forks").values]
            raise UsageError(f"the lake has no fork {self.fork}{did_you_mean(self.fork, names)}")
        lists = {name: lake.rows(sql, [self.fork or ""]) for name, (_, sql) in LISTS.items()}

        def write(out: TextIO) -> None:
            from kiplint.commands.pipeline.text import write_rows

            write_rows(out, "Forks", forks, "the lake has upstream only")
            for name, (title, _) in LISTS.items() if self.fork else ():
                write_rows(out, title, lists[name])

        document: dict[str, Any] = {name: rows.records for name, rows in lists.items()}
        return present(self.output_format, {"forks": forks.records, **document}, write)
