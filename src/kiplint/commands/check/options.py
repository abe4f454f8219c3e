"""`kiplint check`."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar

from kiplint.cli import completion
from kiplint.cli.classes import (
    WHAT_TO_CHECK,
    WHAT_TO_REPORT,
    Argument,
    Choosing,
    Command,
    Configuring,
    FailOnOption,
    Option,
    Reporting,
    RepositoryOption,
)

if TYPE_CHECKING:
    from kiplint.commands.check.run import CheckResult


FIXING, BASELINE = "Fixing", "Baseline"
"""The sections of the help for options of this command."""


class CheckCommand(Command, frozen=True):
    """The options of `kiplint check`."""

    EPILOG = (
        "Examples:  kiplint check clients/src/main/resources/common/message   |   "
        "kiplint check Fetch*.json   |   kiplint check . --select kip-1313 --output-format json   |   "
        "kiplint check . --fix.  Exit codes: 0 clean, 1 findings at or above --fail-on, 2 usage, configuration, "
        "unreadable input, or nothing to check."
    )
    HINTS: ClassVar = {
        "baseline-outside": "{message}; name it by --baseline to allow that",
        "no-baseline": "--update-baseline writes a baseline: name it by --baseline FILE",
        "missing-baseline": "{message}; to record the present findings, add --update-baseline",
        "released": "the configuration's released: {message}",
    }

    sets: Annotated[
        tuple[str, ...],
        Argument(
            "Directories (walked), definition files (their siblings are read too, but not reported), archives, "
            "REV:path as git show takes it, or - for standard input.",
            "SET",
            usual="the working directory",
            complete=completion.sets,
        ),
    ] = ()
    choosing: Choosing = Choosing()
    fail_on: FailOnOption = None
    reporting: Reporting = Reporting()
    fix: Annotated[
        bool,
        Option(
            "Apply safe fixes to what changed since HEAD, with --all to the rest; outside git to all.", panel=FIXING
        ),
    ] = False
    unsafe_fixes: Annotated[
        bool, Option("With --fix or --diff: apply likely fixes too. Review them afterwards.", panel=FIXING)
    ] = False
    diff: Annotated[bool, Option("Change nothing: print the changes of --fix as a patch.", panel=FIXING)] = False
    baseline: Annotated[
        str | None, Option("Leave out the findings that are recorded in this file.", "FILE", panel=BASELINE)
    ] = None
    update_baseline: Annotated[
        bool,
        Option(
            "Remove findings that no longer occur from the baseline; if there is no such file yet, write it with all.",
            panel=BASELINE,
        ),
    ] = False
    changed_since: Annotated[
        str | None,
        Option(
            "Report only findings that changes since this revision caused, or that are on changed lines.",
            "REV",
            alias="--since",
            complete=completion.revisions,
            panel=WHAT_TO_CHECK,
        ),
    ] = None
    all: Annotated[
        bool,
        Option(
            "List infos too, and on a terminal show every error with its line. With --fix: fix what HEAD has, too.",
            terminal=True,
            panel=WHAT_TO_REPORT,
        ),
    ] = False
    configuring: Configuring = Configuring()
    repository: RepositoryOption = None

    def run(self) -> int:
        """Check message definitions.

        Every finding states what is wrong, in which version and field, why, and what to write instead. As in Kafka's
        generator, the definitions of one directory are one schema set. --fix keeps every comment; with --diff the exit
        code is 1 when there is something to fix, and reports go to files.
        """
        from kiplint.cli.output import open_outputs, report, report_patch
        from kiplint.commands.check.run import check
        from kiplint.engine.errors import UsageError
        from kiplint.render.formats import FORMATS

        if self.unsafe_fixes and not (self.fix or self.diff):
            raise UsageError("--unsafe-fixes goes with --fix or --diff")
        with_fixes = any(FORMATS[output.format].shows_fixes for output in open_outputs(self.reporting.output_format))
        work = partial(check, self, with_fixes=with_fixes)
        if not self.diff:
            return report("check", self.reporting.output_format, work)
        return report_patch(self.reporting.output_format, work, partial(self._check_without_fixes, with_fixes))

    def _check_without_fixes(self, with_fixes: bool) -> "CheckResult":
        """The result of a check without fixes or an update of the baseline."""
        from msgspec.structs import replace

        from kiplint.commands.check.run import check
        from kiplint.engine.errors import UsageError

        if "-" in self.sets:
            raise UsageError("standard input can be read only once; for a patch and a report, name the file")
        flags = ("fix", "diff", "unsafe_fixes", "update_baseline")
        return check(replace(self, **dict.fromkeys(flags, False)), with_fixes=with_fixes)
