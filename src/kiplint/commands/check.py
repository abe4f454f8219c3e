"""`kiplint check`: what is wrong with definitions, and the fixes."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, TextIO

import msgspec
import typer
from msgspec import UNSET, Meta, UnsetType

from kiplint.cli.options import (
    ConfigOption,
    FailOnOption,
    IgnoreOption,
    IsolatedOption,
    ReportFormatOption,
    RepositoryOption,
    SelectOption,
    SeverityOption,
    keywords_of,
    make_options,
)
from kiplint.cli.output import present_patch, report
from kiplint.cli.process import CLEAN, FINDINGS
from kiplint.engine.baseline import StaleEntry
from kiplint.engine.config import Configurations, StrPath, toml
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.fixes.check import CheckOptions, check_sets
from kiplint.fixes.write import require_files
from kiplint.render.formats import Writer
from kiplint.render.report import FindingsSummary, Report, at_least
from kiplint.render.table import SEVERITY, Cell, table, width_of
from kiplint.sources.disk import STDIN, show_path
from kiplint.sources.open import open_sets
from kiplint.sources.repository import open_repository
from kiplint.text.show import as_escape, printable

EPILOG = """\b
Examples:
  kiplint check clients/src/main/resources/common/message
  kiplint check Fetch*.json
  kiplint check . --select kip-1313 --output-format json
  kiplint check . --fix

Exit codes: 0 clean, 1 findings at or above --fail-on, 2 usage, configuration, unreadable input, or nothing to check."""

SetsArgument = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="SET",
        help="Directories (searched recursively), definition files (the rest of their set is read, but not "
        "reported), archives, REV:path as in git show, or - for standard input.",
        show_default="the working directory",
    ),
]
FixOption = Annotated[
    bool,
    typer.Option("--fix", help="Apply the safe fixes of the findings that are reported."),
]
UnsafeFixesOption = Annotated[
    bool,
    typer.Option(
        "--unsafe-fixes",
        help="With --fix or --diff: also apply fixes that are likely but not certain. Review the result.",
    ),
]
BaselineOption = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="Hide the findings that are recorded in this file."),
]
UpdateBaselineOption = Annotated[
    bool,
    typer.Option(
        "--update-baseline",
        help="Remove findings that no longer occur from the baseline; if the file does not exist, record all findings.",
    ),
]
BaseOption = Annotated[
    str | None,
    typer.Option(
        metavar="BASE",
        help="Report only findings that the changes since this revision caused, or that are on changed lines.",
    ),
]
AllOption = Annotated[
    bool,
    typer.Option(
        "--all",
        help="Also list infos and, on a terminal, show every error with its line.",
    ),
]


def command(
    sets: SetsArgument = None,
    select: SelectOption = None,
    ignore: IgnoreOption = None,
    severity: SeverityOption = None,
    fail_on: FailOnOption = None,
    output_format: ReportFormatOption = None,
    fix: FixOption = False,
    unsafe_fixes: UnsafeFixesOption = False,
    diff: Annotated[
        bool,
        typer.Option("--diff", help="Print the changes of --fix as a patch, without writing them."),
    ] = False,
    baseline: BaselineOption = None,
    update_baseline: UpdateBaselineOption = False,
    base: BaseOption = None,
    whole: AllOption = False,
    show_settings: Annotated[
        bool,
        typer.Option("--show-settings", help="Check nothing: print the configuration of each set, and its settings."),
    ] = False,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Print a line for each rule with its number of findings instead.")
    ] = False,
    config: ConfigOption = None,
    isolated: IsolatedOption = False,
    repository: RepositoryOption = None,
) -> int:
    """Check message definitions.

    Every finding states what is wrong, in which version and field, why, and what to write instead. The definitions of
    one directory are one schema set, as in Kafka's generator. --fix keeps every comment; with --diff, the exit code is
    1 if there is something to fix.
    """
    if unsafe_fixes and not (fix or diff):
        raise UsageError("--unsafe-fixes requires --fix or --diff")
    if diff and output_format:
        raise UsageError("--diff prints a patch instead of a report; remove --output-format")
    if statistics and (output_format or diff):
        raise UsageError("--statistics prints counts instead of a report; remove --output-format and --diff")
    options = make_options(CheckOptions, locals())
    if show_settings:
        print("\n\n".join(settings(options)))
        return CLEAN
    if not diff:
        return report("check", output_format, lambda: run(options))
    result = run(options)
    present_patch(result, result.patch or b"")
    return FINDINGS if result.patch else CLEAN  # the findings that remain do not count


class CheckSummary(FindingsSummary, frozen=True, omit_defaults=True):
    """The numbers of a check."""

    left_out: Annotated[
        int, Meta(description="JSON files next to definitions that are not definitions; omitted if 0.")
    ] = 0
    older: Annotated[int, Meta(description="With --base: the number of older findings; omitted if 0.")] = 0


class CheckDocument(msgspec.Struct, frozen=True):
    """What `kiplint check --output-format json` writes."""

    version: Literal[1]
    findings: tuple[Finding, ...]
    summary: CheckSummary
    stale: Annotated[tuple[StaleEntry, ...] | UnsetType, Meta(description="With a baseline: its stale entries.")] = (
        UNSET
    )


class CheckResult(Report, frozen=True):
    """The result of `check`."""

    stale: tuple[StaleEntry, ...] | None = None
    """The entries of the baseline that record more findings than there are; None without a baseline."""
    patch: bytes | None = None
    """The unified diff of the fixes; None if no fixes were requested."""
    base: str = ""
    """The revision that it is compared with; empty for none."""

    statistics: bool = False
    """Whether text is a line for each rule, with its number of findings."""

    command = "check"

    @property
    def writers(self) -> Mapping[str, Writer]:
        """The function of text, if it is only to count."""
        return {"text": write_statistics} if self.statistics else {}

    @property
    def fix_commands(self) -> tuple[str, str]:
        """The command that applies the safe fixes, and the one that applies the others too."""
        base = f" --base {self.base}" if self.base else ""
        return f"`kiplint check{base} --fix`", f"`kiplint check{base} --fix --unsafe-fixes`"

    @property
    def fix_hints(self) -> dict[Literal["safe", "unsafe"], str]:
        """What can be fixed with which command; nothing in a revision, an archive and standard input."""
        try:
            require_files(self.sets)
        except UsageError:
            return {}
        return super().fix_hints

    @property
    def document(self) -> CheckDocument:
        """The content of the JSON output."""
        stale = UNSET if self.stale is None else self.stale
        return CheckDocument(1, self.findings, CheckSummary(**self.summary), stale)


@keywords_of(CheckOptions)
def check(*sets: StrPath, **options: Any) -> CheckResult:
    """Check directories, files, archives or revisions (`REV:path` of the `repository`), by default `.`.

    The status is `findings` when a finding is at least as severe as `fail_on`, by default that of the configuration.
    No fix breaks a released version: one that a release of the configuration has, as in `diff`; without such releases,
    one that the revision `base`, by default HEAD, has.

    `fix` writes fixes to the files, `diff` only to the result's `patch`; the findings of the result are those that
    remain. Findings of the baseline or of `base`, which are not reported, are not fixed.
    Raises UsageError for mistakes in the arguments, the configuration or a pack, and for files that cannot be written,
    and SourceError for files that cannot be opened.
    """
    return run(CheckOptions(sets=sets, **options))


def run(options: CheckOptions) -> CheckResult:
    """Check the sets; raises the errors of `check`."""
    configurations = _configurations(options)
    outcome = check_sets(options, configurations)
    is_failing = any(
        at_least((finding,), options.fail_on or configurations.of(os.path.dirname(finding.path)).config.fail_on)
        for finding in outcome.findings
    )
    return CheckResult(
        findings=outcome.findings,
        files=len(outcome.paths),
        messages=outcome.messages,
        sources=outcome.sources,
        status="findings" if is_failing else "ok",
        sets=options.names,
        rules=configurations.rules_by_id,
        paths=outcome.paths,
        stale=outcome.stale,
        notes=outcome.notes,
        left_out=outcome.left_out,
        older=outcome.older,
        patch=outcome.patch,
        whole=options.whole,
        statistics=options.statistics,
        base=options.base or "",
    )


def settings(options: CheckOptions) -> Iterator[str]:
    """For each set its directory, its configuration file, and the settings of that file and of the options, as TOML."""
    configurations = _configurations(options)
    for schemas in open_sets(options.names, configurations.keeps, open_repository(options.repository)).sets:
        configuration = configurations.of(schemas.directory)
        file = show_path(configuration.file) if configuration.file else "no configuration file"
        values = msgspec.to_builtins(configuration.config)
        lines = (f"{name} = {toml(value)}" for name, value in values.items())
        yield printable(
            "\n".join((f"# {schemas.directory}: {file}", *lines)),
            lambda char: "\n" if char == "\n" else as_escape(char),
        )


def _configurations(options: CheckOptions) -> Configurations:
    return Configurations("" if options.names[0] == STDIN else options.names[0], options)


def write_statistics(result: CheckResult, out: TextIO, *, color: bool) -> None:
    """Write a line for each rule and severity: the number of findings, the severity and the rule; the most first."""
    counts = Counter((finding.severity, finding.rule) for finding in result.findings)
    rows: list[list[Cell]] = [
        [(f"{count:,}", ""), (severity, SEVERITY[severity]), (rule, "")]
        for (severity, rule), count in sorted(counts.items(), key=lambda item: (-item[1], item[0][1]))
    ]
    out.writelines(f"{line}\n" for line in table((), rows, color, width_of(out), indent=""))
