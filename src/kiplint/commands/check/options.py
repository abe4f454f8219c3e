"""`kiplint check`."""

from functools import partial
from typing import TYPE_CHECKING, Annotated, ClassVar

from kiplint.cli import completion
from kiplint.cli.options import (
    WHAT_TO_CHECK,
    WHAT_TO_REPORT,
    Argument,
    Choosing,
    Command,
    Configuring,
    FailOnOption,
    Option,
    ReleasedOption,
    Reporting,
    RepositoryOption,
    StatisticsOption,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kiplint.commands.check.run import CheckResult


FIXING, BASELINE = "Fixing", "Baseline"
"""The sections of the help for options of this command."""


class CheckCommand(Command, frozen=True):
    """The options of `kiplint check`."""

    EPILOG = (
        "Examples:  kiplint check clients/src/main/resources/common/message   |   "
        "kiplint check Fetch*.json   |   kiplint check . --select kip-1313 --output-format json   |   "
        "kiplint check . --fix"
    )
    HINTS: ClassVar = {
        "baseline-outside": "{message}; name it by --baseline to allow that",
        "allow-new": "--allow-new goes with --update-baseline",
        "no-baseline": "--update-baseline rewrites a baseline: name it by --baseline FILE",
        "missing-baseline": "{message}; to record the present findings, add --update-baseline --allow-new",
        "released": "--released {message}",
        "missing-baseline-of-update": "{message}; to record the present findings, add --allow-new",
    }
    SECTION = "Pull requests"

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
    only_failing: Annotated[
        bool, Option("Report only the findings that make the exit code 1.", panel=WHAT_TO_REPORT)
    ] = False
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
    fix_baselined: Annotated[bool, Option("With --fix or --diff: fix findings in the baseline too.", panel=FIXING)] = (
        False
    )
    choose: Annotated[
        tuple[str, ...],
        Option(
            "With --fix or --diff: apply the Nth of several fixes, safe or not (`fixes` in JSON). Repeatable.",
            "RULE=N",
            complete=completion.rule_ids,
            panel=FIXING,
        ),
    ] = ()
    baseline: Annotated[
        str | None, Option("Leave out the findings that are recorded in this file.", "FILE", panel=BASELINE)
    ] = None
    update_baseline: Annotated[
        bool, Option("Remove findings that no longer occur from the baseline.", panel=BASELINE)
    ] = False
    allow_new: Annotated[bool, Option("With --update-baseline: record new findings too.", panel=BASELINE)] = False
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
    released: ReleasedOption = ()
    as_hook: Annotated[
        bool,
        Option(
            "pre-commit mode: skip files that are not definitions, report what is new since HEAD, check deletions.",
            panel=WHAT_TO_CHECK,
        ),
    ] = False
    all: Annotated[
        bool,
        Option(
            "List all findings: infos about names and texts too, and on a terminal more than the worst 50.",
            terminal=True,
            panel=WHAT_TO_REPORT,
        ),
    ] = False
    configuring: Configuring = Configuring()
    stdin_filename: Annotated[str | None, Option("For -: the path of the text.", "FILE", panel=WHAT_TO_CHECK)] = None
    repository: RepositoryOption = None
    statistics: StatisticsOption = False

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

        for flag, name in (
            (self.unsafe_fixes, "--unsafe-fixes"),
            (self.fix_baselined, "--fix-baselined"),
            (self.choose, "--choose"),
        ):
            if flag and not (self.fix or self.diff):
                raise UsageError(f"{name} goes with --fix or --diff")
        if self.released and not (self.changed_since or self.as_hook):
            raise UsageError("--released goes with --changed-since")
        with_fixes = any(FORMATS[output.format].shows_fixes for output in open_outputs(self.reporting))
        work = partial(check, self, with_fixes=with_fixes)
        if not self.diff:
            return report("check", self.reporting, work, statistics=self.statistics)
        if self.statistics:
            raise UsageError("--statistics counts findings; --diff prints a patch instead")
        return report_patch(self.reporting, work, partial(self._check_without_fixes, with_fixes))

    @property
    def choices(self) -> "Mapping[str, int]":
        """By rule, which of its fixes to apply: 2 for the second. Raises UsageError for what is not RULE=N."""
        return dict(map(_choice, self.choose))

    def _check_without_fixes(self, with_fixes: bool) -> "CheckResult":
        """The result of a check without fixes or an update of the baseline."""
        from msgspec.structs import replace

        from kiplint.commands.check.run import check
        from kiplint.engine.errors import UsageError

        if "-" in self.sets:
            raise UsageError("standard input can be read only once; for a patch and a report, name the file")
        flags = ("fix", "diff", "unsafe_fixes", "fix_baselined", "update_baseline", "allow_new")
        return check(replace(self, choose=(), **dict.fromkeys(flags, False)), with_fixes=with_fixes)


def _choice(text: str) -> tuple[str, int]:
    """The rule and the number of `RULE=N`."""
    from kiplint.engine.errors import UsageError

    rule, _, number = text.partition("=")
    if not (number.isascii() and number.isdigit() and 0 < int(number) < 100):
        raise UsageError(f"--choose takes RULE=N, such as versions/flexible-missing=2, not {text}")
    return rule, int(number)
