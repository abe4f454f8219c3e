"""`kiplint pipeline report`."""

from typing import Annotated, Literal

from kiplint.cli.options import AsOfOption, Command, LakeArgument, Option, PageReporting


class ReportCommand(Command, frozen=True):
    """The options of `kiplint pipeline report`."""

    EPILOG = "Example:  kiplint pipeline report lake --output-format markdown > report.md"

    lake: LakeArgument
    severity: Annotated[Literal["error", "warning", "info"], Option("Tell findings in time down to this severity.")] = (
        "error"
    )
    as_of: AsOfOption = None
    reporting: PageReporting = PageReporting()

    def run(self) -> int:
        """Show what a lake holds: sources, findings in time, what broke, who interoperates, where forks collide.

        For each finding the revision that introduced it and the one that fixed it, the first release that shipped it,
        and the first one after without it. The JSON has them all, whatever --severity says. The formats of findings
        tell what is wrong in the newest set of each line.
        """
        from kiplint.cli.output import report
        from kiplint.commands.pipeline.lake import open_lake

        reader = open_lake(self.lake, self.as_of or "")
        from kiplint.commands.pipeline.result import lake_report

        return report("pipeline report", self.reporting, lambda: lake_report(reader, self.severity))
