"""`kiplint review`: what a change adds, what it breaks, and for whom, with one entry per cause."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal, TextIO

import msgspec
import typer
from msgspec import UNSET, Meta, UnsetType

from kiplint.cli.options import (
    BreaksOption,
    ConfigOption,
    FailOnOption,
    IgnoreOption,
    IsolatedOption,
    ReleasedOption,
    ReportFormatOption,
    SelectOption,
    SeverityOption,
    complete_sets,
    keywords_of,
    make_options,
)
from kiplint.cli.output import report
from kiplint.compat.acceptance import SUPPRESSION_ADDED
from kiplint.compat.base import (
    CONFIGURATION_CHANGED,
    RevisionFiles,
    changed_configuration,
    find_base,
    require_comparable,
)
from kiplint.compat.causes import Entry, Origin, entries_of
from kiplint.compat.change import ChangeFinding
from kiplint.compat.classify import BREAKS, GRAVE, breaks_of_counts
from kiplint.compat.comparison import Comparison, compare_paths
from kiplint.compat.diff import breaks_of
from kiplint.compat.grouping import group_changes
from kiplint.compat.rollout import RolloutRow, in_words
from kiplint.compat.rollout_report import RolloutDocument, findings_of, rollout_document
from kiplint.engine.config import Configurations, FailOn, RuleOptions, StrPath
from kiplint.engine.finding import Finding
from kiplint.fixes.check import CheckOptions, check_sets
from kiplint.model.headers import HEADER_WITH_ID
from kiplint.render.changes import ENTRY_COLUMNS, in_one_line, proof, write_changes, write_proofs
from kiplint.render.formats import Writer
from kiplint.render.markdown import inline, write_accepted_table, write_table, write_verdict
from kiplint.render.report import FindingsSummary, Report, Status, Verdict, at_least
from kiplint.render.table import fold, title, width_of
from kiplint.render.text import excerpt, split_for_excerpts, write_accepted, write_finding_rows, write_fix_hints
from kiplint.sources.built_in import title as title_of_release
from kiplint.sources.repository import HERE
from kiplint.sources.schema_files import SourceError
from kiplint.text.files import DISK, relative_path
from kiplint.text.words import plural, tally

RolloutReport = Literal["auto", "always", "never"]
"""When the rollout of KIP-1313's header is reported: once a definition has headerVersions, always as findings."""

MOST_ENTRIES: Final = 20
MOST_ADDITIONS: Final = 8
"""How many findings and added changes Markdown shows: 60 lines in all are read."""

EPILOG = """\b
Examples:
  kiplint review
  kiplint review --base origin/trunk clients/
  kiplint review --base 4.1.0 --output-format markdown=comment.md
  kiplint review --fix"""

BaseOption = Annotated[
    str | None,
    typer.Option(
        metavar="BASE",
        autocompletion=complete_sets,
        help="The revision to compare with; none for no comparison; hook for what a commit hook has to review.",
        show_default="the merge base with the default branch; on the default branch, the previous commit",
    ),
]


def command(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Directories and files of the checkout.", show_default="the checkout"),
    ] = None,
    base: BaseOption = None,
    upstream: Annotated[
        str | None,
        typer.Option(metavar="REV", help="The branch that a fork merges: what HEAD has merged of it is not reported."),
    ] = None,
    released: ReleasedOption = None,
    rollout: Annotated[
        RolloutReport,
        typer.Option(
            help="Report the rollout of KIP-1313's header: auto once a definition has headerVersions, always as "
            "findings."
        ),
    ] = "auto",
    trust_head: Annotated[
        bool,
        typer.Option(
            "--trust-head",
            help="Use the configuration, rule packs and baseline of the working tree, not those of the base.",
        ),
    ] = False,
    fix: Annotated[
        bool,
        typer.Option("--fix", help="Apply safe fixes to the findings that the change caused, then report the rest."),
    ] = False,
    whole: Annotated[bool, typer.Option("--all", help="Also list infos and, in Markdown, everything.")] = False,
    select: SelectOption = None,
    ignore: IgnoreOption = None,
    severity: SeverityOption = None,
    fail_on: FailOnOption = None,
    fail_on_breaks: BreaksOption = None,
    output_format: ReportFormatOption = None,
    config: ConfigOption = None,
    isolated: IsolatedOption = False,
) -> int:
    """Review a change: what it adds, what it breaks, and for whom.

    Compares the working tree with a base, and reports new findings, what breaks in versions that a release or the base
    has, and the state of KIP-1313's header. Each cause is reported once, at the place to correct, with a fix if there
    is one. Changes that only add something are listed below and cause no failure. Comments, moved files and untouched
    lines are not reported.
    """
    options = make_options(ReviewOptions, locals())
    return report("review", output_format, lambda: run(options))


class ReviewOptions(RuleOptions, frozen=True, kw_only=True):
    """What `kiplint review` reviews, and the base that it compares with."""

    paths: Sequence[StrPath] = ()
    """Directories and files of the work tree; by default all."""
    base: str | None = None
    """The revision to compare with, or `none`; by default as `find_base` chooses it."""
    upstream: str | None = None
    """The branch that a fork merges: what HEAD has merged of it is not of the change."""
    released: Sequence[StrPath] = ()
    """The releases, as globs of tags, revisions or sets; by default those of the configuration, otherwise the tags."""
    rollout: RolloutReport = "auto"
    trust_head: bool = False
    """Whether to use the configuration of the work tree instead of that of the base."""
    fix: bool = False
    """Whether to write the safe fixes of the findings that the change caused."""
    whole: bool = False
    """Whether text also lists infos, and Markdown everything."""
    fail_on: FailOn | None = None
    """The lowest severity that causes the status `findings`; by default that of the configuration."""
    fail_on_breaks: Sequence[str] = GRAVE
    """What a change must break to cause the status `findings`."""


class ReviewSummary(FindingsSummary, frozen=True, kw_only=True):
    """The numbers of a review."""

    older: Annotated[int, Meta(description="Findings that are older than the change.")]
    breaks: Annotated[dict[str, int], Meta(description="The number of entries, by what they break.")]
    additions: Annotated[int, Meta(description="The number of changes that only add something.")]
    accepted: Annotated[int, Meta(description="The number of changes that somebody accepted.")]


class ReviewDocument(msgspec.Struct, frozen=True):
    """What `kiplint review --output-format json` writes."""

    version: Literal[1]
    base: Annotated[str, Meta(description="The base revision; empty for none.")]
    released: Annotated[tuple[str, ...], Meta(description="The releases; empty if the base counts as released.")]
    findings: Annotated[tuple[Entry, ...], Meta(description="An entry for each cause, the most severe first.")]
    additions: Annotated[tuple[ChangeFinding, ...], Meta(description="The changes that break nothing.")]
    accepted: Annotated[tuple[ChangeFinding, ...], Meta(description="The changes that somebody accepted.")]
    summary: ReviewSummary
    rollout: Annotated[
        RolloutDocument | UnsetType, Meta(description="Present once a definition has headerVersions.")
    ] = UNSET


class ReviewResult(Report, frozen=True):
    """The result of `review`."""

    findings: tuple[Entry, ...]
    """An entry for each cause, the most severe first."""
    additions: tuple[ChangeFinding, ...] = ()
    """The changes that break nothing."""
    base: str = ""
    """The base revision, or empty."""
    released: tuple[str, ...] = ()
    """The releases; empty if the base counts as released."""
    rollout: tuple[RolloutRow, ...] = ()
    """The RPCs with their request headers, once a definition has headerVersions."""

    command = "review"
    always_has_verdict = True

    @property
    def writers(self) -> Mapping[str, Writer]:
        """The writers of the formats that a review has its own form of."""
        return {"text": write, "markdown": write_markdown}

    def is_listed(self, finding: Finding) -> bool:
        """Whether text lists a finding: also infos about breaks, and about what the change suppresses."""
        is_breaking = isinstance(finding, Entry) and finding.breaks != "none"
        return super().is_listed(finding) or is_breaking or finding.rule == SUPPRESSION_ADDED.id

    @property
    def breaks(self) -> Counter[str]:
        """The number of entries by what they break."""
        return Counter(entry.breaks for entry in self.findings if entry.breaks != "none")

    @property
    def verdict(self) -> Verdict:
        """`1 error and 1 warning in 3 files, compared with 4.1.0: 1 breaks wire; 2 changes that break nothing.`"""
        counts = tally(self.counts) or "no findings"
        breaks = f": {breaks_of_counts(self.breaks)}" if self.breaks else ""
        base = f", compared with {self.base}" if self.base else ""
        sentence = f"{counts} in {plural(self.files, 'file')}{base}{breaks}{self.omissions}{self.unlisted_hint}."
        return Verdict.of(sentence, step=self.fix_hint)

    @property
    def omissions(self) -> str:
        """`; 2 changes that break nothing; 1 older finding not shown`: the end of the verdict's sentence."""
        verb = "breaks" if len(self.additions) == 1 else "break"
        additions = f"; {plural(len(self.additions), 'change')} that {verb} nothing" if self.additions else ""
        return self.accepted_in_words + additions + super().omissions

    @property
    def fix_commands(self) -> tuple[str, str]:
        """The command that applies the safe fixes of the change, and the one that applies its unsafe fixes too."""
        base = f" --base {self.base}" if self.base else ""
        return "`kiplint review --fix`", f"`kiplint check{base} --fix --unsafe-fixes`"

    @property
    def document(self) -> ReviewDocument:
        """The JSON document."""
        return ReviewDocument(
            version=1,
            base=self.base,
            released=self.released,
            findings=self.findings,
            additions=self.additions,
            accepted=self.accepted,
            rollout=rollout_document(self.rollout, HEADER_WITH_ID) if self.rollout else UNSET,
            summary=ReviewSummary(
                **self.numbers,
                older=self.older,
                breaks={what: self.breaks[what] for what in BREAKS if self.breaks[what]},
                additions=len(self.additions),
                accepted=len(self.accepted),
            ),
        )


@keywords_of(ReviewOptions)
def review(*paths: StrPath, **options: Any) -> ReviewResult:
    """Review how the work tree, or some of its directories and files, differs from a base revision.

    The base is by default the merge base with the default branch, or the commit before HEAD where there is nothing else
    to compare with; `none` only checks. A version is released if one of `released` contains it; by default, the tags.
    The status is `findings` when an entry is as severe as `fail_on` or breaks one of `fail_on_breaks`, unless `fail_on`
    is `never`. The configuration is the base's, with `trust_head` the work tree's. Raises UsageError and SourceError.
    """
    return run(ReviewOptions(paths=paths, **options))


def run(options: ReviewOptions) -> ReviewResult:
    """Review the work tree; raises the errors of `review`."""
    failing_breaks = breaks_of(options.fail_on_breaks)
    names = _names(options.paths)
    found_base = find_base(options.base, options.upstream)
    revision, merged = found_base.revision, found_base.merged
    if revision:
        require_comparable([os.fspath(path) for path in options.paths], HERE.top)
    base_files = RevisionFiles(revision) if revision and not HERE.is_unborn(revision) else None
    configurations = Configurations(names[0], options, base_files if base_files and not options.trust_head else DISK)
    rules_by_id = {
        **configurations.rules_by_id,
        **{rule.id: rule for rule in (CONFIGURATION_CHANGED, SUPPRESSION_ADDED)},
    }
    # Entries of `accept` count as their author wrote them; all else is the base's. A mistake is a finding of its own.
    heads = Configurations(names[0], options, replacements=configurations) if base_files else configurations

    check_options = CheckOptions(sets=names, base=revision or None, fix=options.fix)
    check = check_sets(check_options, configurations, strict=True, merged=merged)
    released = [os.fspath(name) for name in options.released]
    comparison = compare_paths(names, found_base, released, configurations, heads)  # after the fixes
    rows = _rollout(comparison, options.rollout)
    paths = [*names, *comparison.head_sources]
    findings_by_origin: dict[Origin, Iterable[Finding]] = {
        "check": (
            *check.findings,
            *changed_configuration(base_files, merged, paths, options.trust_head),
            *comparison.comments,
            *comparison.suppressions,
        ),
        "diff": comparison.findings,
        "rollout": findings_of(rows, comparison.head_sources) if options.rollout == "always" else (),
    }
    entries = entries_of(findings_by_origin, {rule.id: rule.supersedes for rule in rules_by_id.values()})

    def fail_on(path: str) -> str:
        return options.fail_on or configurations.of(os.path.dirname(path)).config.fail_on

    return ReviewResult(
        findings=entries,
        files=len(check.paths),
        messages=check.messages,
        sources={**comparison.base_sources, **comparison.head_sources, **check.sources},
        status=_status(entries, comparison.findings, fail_on, failing_breaks) if comparison.is_complete else "error",
        sets=(*names, f"{revision}:") if revision else names,
        rules=rules_by_id,
        paths=check.paths,
        notes=(*([found_base.note] if found_base.note else []), *comparison.notes, *check.notes),
        left_out=check.left_out,
        harmless=("info",),
        whole=options.whole,
        older=check.older,
        additions=comparison.additions,
        accepted=tuple(comparison.accepted),
        base=title_of_release(found_base.release) if found_base.release else revision,
        released=comparison.releases.names if comparison.releases else (),
        rollout=rows,
    )


def _names(paths: Iterable[StrPath]) -> tuple[str, ...]:
    """The paths that are reviewed, by default the whole checkout, without paths inside other ones.

    Raises SourceError for one that is not there.
    """
    names = [os.fspath(path) for path in paths] or [relative_path(HERE.top or os.curdir)]
    names_by_path: dict[str, str] = {}
    for name in names:
        if not os.path.lexists(name):
            raise SourceError(f"no such file or directory: {name}; to compare with a revision, use --base REV")
        # A separator ends each path, so that `ab` is not inside of `a`.
        names_by_path.setdefault(os.path.join(os.path.realpath(name), ""), name)
    outer_names = []
    for path, name in names_by_path.items():
        is_inside_other = any(path.startswith(other) for other in names_by_path if other != path)
        if not is_inside_other:
            outer_names.append(name)
    return tuple(outer_names)


def _status(
    entries: Iterable[Entry], changes: Iterable[ChangeFinding], fail_on: Callable[[str], str], failing_breaks: set[str]
) -> Status:
    """`findings` if an entry is as severe as `fail_on` its path, or a change breaks one of `failing_breaks`."""
    is_failing = any(at_least((entry,), fail_on(entry.path)) for entry in entries) or any(
        change.breaks in failing_breaks and fail_on(change.path) != "never" for change in changes
    )
    return "findings" if is_failing else "ok"


def _rollout(comparison: Comparison, when: RolloutReport) -> tuple[RolloutRow, ...]:
    """The RPCs with their request headers; none for `never`, and for `auto` while no definition has headerVersions."""
    declares_headers = any(b'"headerVersions"' in data for data in comparison.head_sources.values())
    if when == "never" or (when == "auto" and not declares_headers):
        return ()
    return tuple(comparison.rollout(HEADER_WITH_ID))


def write(result: ReviewResult, out: TextIO, *, color: bool) -> None:
    """Write the entries, and what is added; nothing when nothing changed."""
    width = width_of(out)
    entries = [entry for entry in result.findings if result.is_listed(entry)]
    excerpts, rows = split_for_excerpts(entries, lambda entry: entry.severity == "error" or entry.breaks in GRAVE)
    for entry in excerpts:
        out.write(excerpt(entry, result.sources.get(entry.path), color, width).rstrip() + "\n")
        for line in _also(entry):
            out.write("\n".join(fold(f"{' ' * len(str(entry.line))} = {line}", width)) + "\n")
        proofs = [proof(change, color, width) for change in entry.changes]
        out.write("".join(dict.fromkeys(proofs)) + "\n")  # changes of the same versions have the same proof
    write_finding_rows(rows, out, color=color)
    write_accepted(result, out, color=color)
    write_changes(result.additions, result.sources, out, color=color)
    if result.rollout:
        lines = fold(f"  {in_words(result.rollout, HEADER_WITH_ID)}", width)
        out.write("\n".join([title("KIP-1313", color), *lines, "\n"]))
    if result.findings or result.additions or result.accepted:
        hint = " `kiplint explain RULE` explains a rule." if entries or result.additions else ""
        out.write("\n".join(fold(result.verdict.sentence + hint, width)) + "\n")
    write_fix_hints(result, out)


def write_markdown(result: ReviewResult, out: TextIO) -> None:
    """Write a review as Markdown for pull requests and job summaries: at most 60 lines, unless `whole` is set."""
    write_verdict(result.verdict, out)
    entries = [entry for entry in result.findings if result.is_listed(entry)]
    most_entries = len(entries) if result.whole else MOST_ENTRIES
    if entries:
        write_table(ENTRY_COLUMNS, map(_cells, entries[:most_entries]), out)
    out.write(_more(len(entries) - most_entries, "finding"))

    proofs = io.StringIO()
    write_proofs((change for entry in entries for change in entry.changes), proofs)
    if result.whole or proofs.getvalue().count("\n") <= MOST_ENTRIES:  # longer proofs are left out
        out.write(proofs.getvalue())

    write_accepted_table(result, out)

    groups = group_changes(result.additions)
    most_additions = len(groups) if result.whole else MOST_ADDITIONS
    if groups:
        out.write("\nBreaks nothing:\n\n")
    for group in groups[:most_additions]:
        out.write(f"- {inline(in_one_line(group))}\n")
    out.write(_more(sum(len(group.changes) for group in groups[most_additions:]), "change"))

    if result.rollout:
        sentence = in_words(result.rollout, HEADER_WITH_ID)
        out.write(f"\nKIP-1313: {inline(sentence)} `kiplint rollout` lists the RPCs.\n")


def _more(number: int, noun: str) -> str:
    """The line about the findings or changes that are not listed; empty where the number is not positive."""
    return f"\n{plural(number, f'more {noun}')}: `kiplint review --all` lists them.\n" if number > 0 else ""


def _cells(entry: Entry) -> tuple[str, ...]:
    """The cells of the columns `ENTRY_COLUMNS`."""
    breaks = "" if entry.breaks == "none" else entry.breaks
    return entry.severity, breaks, entry.rule, f"{entry.path}:{entry.line}", "; ".join([entry.summary, *_also(entry)])


def _also(entry: Entry) -> Iterator[str]:
    """The other findings of the same cause, in a line each."""
    for finding in entry.also:
        yield f"also {finding.rule}: {finding.message}"
