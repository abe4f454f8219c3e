"""`kiplint diff`: the comparison of two schema sets or trees."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TextIO

import msgspec
import typer
from msgspec import Meta

from kiplint.cli.options import (
    PAGE_FORMATS,
    BreaksOption,
    ConfigOption,
    IgnoreOption,
    IsolatedOption,
    PageFormatOption,
    ReleasedOption,
    RepositoryOption,
    SelectOption,
    SeverityOption,
    complete_sets,
    keywords_of,
    make_options,
)
from kiplint.cli.output import report
from kiplint.compat.change import ChangeFinding, MessagePair
from kiplint.compat.classify import BREAKS, GRAVE, breaks_in_words
from kiplint.compat.diff import Role, breaks_of, compare, notes_of, single_file_of
from kiplint.compat.released import releases_note, releases_of
from kiplint.compat.tree import load, load_base, load_head, reported_sets, sets_of_clients, with_counterparts
from kiplint.engine.config import Configurations, RuleOptions, StrPath
from kiplint.engine.finding import SEVERITIES, Finding
from kiplint.render.changes import write_change_table, write_changes
from kiplint.render.formats import PAGE, Writer
from kiplint.render.markdown import write_accepted_table, write_findings, write_verdict
from kiplint.render.report import Report, Status, Verdict, set_titles
from kiplint.render.table import fold, width_of
from kiplint.render.text import write_accepted, write_finding_rows
from kiplint.sources.repository import open_repository

EPILOG = """\b
Examples:
  kiplint diff 4.0.0: 4.1.0:
  kiplint diff HEAD~1: .
  kiplint diff kafka-clients-3.9.0.jar kafka-clients-4.0.0.jar --output-format json"""


def command(
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD",
            autocompletion=complete_sets,
            help="The base: a directory, an archive, a release such as 4.1, REV: or REV:path. Its versions count as "
            "released.",
        ),
    ],
    new: Annotated[
        str,
        typer.Argument(
            metavar="NEW", autocompletion=complete_sets, help="The set to compare with it, in the same forms."
        ),
    ],
    also: Annotated[
        list[str] | None,
        typer.Option(
            metavar="OLDER",
            autocompletion=complete_sets,
            help="An older set whose tag numbers must not be reused. Repeatable.",
        ),
    ] = None,
    messages: Annotated[
        list[str] | None,
        typer.Option(
            "--message",
            metavar="GLOB",
            help="Report only messages or RPCs with this name, such as `Fetch` or `*Offset*`. Repeatable.",
        ),
    ] = None,
    role: Annotated[
        Role | None,
        typer.Option(
            "--for",
            help="Report only what affects clients (what they send and read), brokers and proxies (all RPCs), or "
            "operators who store records.",
        ),
    ] = None,
    released: ReleasedOption = None,
    repository: RepositoryOption = None,
    fail_on_breaks: BreaksOption = None,
    select: SelectOption = None,
    ignore: IgnoreOption = None,
    severity: SeverityOption = None,
    output_format: PageFormatOption = None,
    config: ConfigOption = None,
    isolated: IsolatedOption = False,
) -> int:
    """Report the changes between two releases, and what they break.

    A change breaks `wire` if the bytes of a released version change, `storage` if records on disk are affected,
    `support` if something is no longer served, `semantics` if the same bytes get another meaning, `source` if only
    generated code changes, and `none` if it only adds something. The layouts before and after are shown as proof.
    """
    options = make_options(DiffOptions, locals())
    return report("diff", output_format, lambda: run(options), PAGE_FORMATS)


class DiffOptions(RuleOptions, frozen=True, kw_only=True):
    """What `kiplint diff` compares, and which changes it reports."""

    old: StrPath
    new: StrPath
    also: Sequence[StrPath] = ()
    """Older sets, whose tag numbers must not be reused."""
    messages: Sequence[str] = ()
    """Globs: only changes of messages or RPCs with a matching name are reported."""
    role: Role | None = None
    """Only changes that affect this role are reported."""
    released: Sequence[StrPath] = ()
    """The releases besides the base, as globs of tags, revisions or sets; by default those of the configuration."""
    repository: StrPath | None = None
    """The repository of revisions, a directory or a bundle."""
    fail_on_breaks: Sequence[str] = GRAVE
    """What a change must break to cause the status `findings`."""


class DiffSummary(msgspec.Struct, frozen=True, kw_only=True):
    """How many messages were compared, how many changes there are, and how many break what."""

    messages: int
    changes: int
    wire: int
    storage: int
    support: int
    semantics: int
    source: int
    none: int
    accepted: Annotated[
        int, Meta(description="The number of accepted changes, which the other numbers do not include.")
    ]


class DiffDocument(msgspec.Struct, frozen=True):
    """What `kiplint diff --output-format json` writes."""

    version: Literal[1]
    changes: tuple[ChangeFinding, ...]
    accepted: Annotated[tuple[ChangeFinding, ...], Meta(description="The changes that somebody accepted.")]
    findings: Annotated[tuple[Finding, ...], Meta(description="About comments that accept no change.")]
    summary: DiffSummary


class DiffResult(Report, frozen=True):
    """The result of `diff`. Its findings are the changes, and those about comments that accept none."""

    pairs: tuple[MessagePair, ...] = ()
    """For each change, its message in the base and in the head; None if there is none."""

    command = "diff"
    list_attribute = "changes"

    @property
    def writers(self) -> Mapping[str, Writer]:
        """The writers of the formats that a diff has its own form of."""
        return {"text": write, "markdown": write_markdown, PAGE: write_page}

    @property
    def changes(self) -> tuple[ChangeFinding, ...]:
        """The changes that nobody accepted, by file and position."""
        return tuple(finding for finding in self.findings if isinstance(finding, ChangeFinding))

    @property
    def comments(self) -> tuple[Finding, ...]:
        """The findings about comments that accept no change."""
        return tuple(finding for finding in self.findings if not isinstance(finding, ChangeFinding))

    @property
    def verdict(self) -> Verdict:
        """`4.1.0 compared with 4.0.0: 1 change breaks wire`, the breaks of bytes, and advice for the first."""
        old, new = set_titles(*self.sets)
        breaking = sorted(
            (change for change in self.changes if change.breaks != "none"),
            key=lambda change: (BREAKS.index(change.breaks), SEVERITIES.index(change.severity)),
        )
        advice = breaking[0].help if breaking else ""
        return Verdict.of(
            f"{new} compared with {old}: {breaks_in_words(self.changes)}{self.accepted_in_words}.",
            [f"{change.message} ({change.breaks})" for change in breaking if change.breaks in GRAVE],
            f"To fix the first: {advice}." if advice else "",
        )

    @property
    def document(self) -> DiffDocument:
        """The content of the JSON output."""
        counts = Counter(change.breaks for change in self.changes)
        summary = DiffSummary(
            messages=self.messages,
            changes=len(self.changes),
            accepted=len(self.accepted),
            **{breaks: counts[breaks] for breaks in BREAKS},
        )
        return DiffDocument(1, self.changes, self.accepted, self.comments, summary)


@keywords_of(DiffOptions)
def diff(old: StrPath, new: StrPath, **options: Any) -> DiffResult:
    """The changes from one set to another, and what they break; tags of the sets in `also` must not be reused.

    The base is a release. Other releases count only if `released` or the configuration names them, as globs of tags,
    revisions or sets; a tag that neither of them names is not a release. If the base or the head is a single file, only
    the changes of its message are reported. `messages` are globs: only changes of matching messages are reported, and
    with a `role` only those that matter to it. The status is `findings` if a change breaks one of `fail_on_breaks`, or
    is an error. Raises UsageError for mistakes in the arguments, the configuration or a pack, and SourceError if a set
    cannot be opened.
    """
    return run(DiffOptions(old=old, new=new, **options))


def run(options: DiffOptions) -> DiffResult:
    """Compare the two sets; raises the errors of `diff`."""
    failing_breaks = breaks_of(options.fail_on_breaks)
    git = open_repository(options.repository)
    old_name, new_name, *older_names = (os.fspath(name) for name in (options.old, options.new, *options.also))
    configurations = Configurations(new_name, options)
    configurations.main.rules()  # a mistake in the options is reported even if there is nothing to compare
    after = load_head(new_name, git, configurations.keeps)
    before = reported_sets(load_base(old_name, git), configurations.keeps, after.root)
    older = [load(name, git) for name in older_names]
    paths = tuple(filter(configurations.keeps, after.sources))
    if options.role == "client":
        before, after, *older = map(sets_of_clients, (before, after, *older))
    if not single_file_of(before, after):
        before, after = with_counterparts(before, after)

    releases = None
    notes: tuple[str, ...] = ()
    if options.released or configurations.main.config.released:
        release_names = [os.fspath(name) for name in options.released]
        releases = releases_of(configurations.main, old_name, release_names, git, new_name)
        notes = releases_note(releases, old_name)
    result = compare(before, after, configurations, older, options.messages, releases, options.role)
    is_failing = any(change.breaks in failing_breaks or change.severity == "error" for change in result.changes)
    status: Status = "findings" if is_failing else "ok"
    return DiffResult(
        findings=(*result.changes, *result.comments),
        files=len(paths),
        messages=result.messages,
        sources={**before.sources, **after.sources},
        status="error" if result.unparsable or not result.is_complete else status,
        sets=(old_name, new_name),
        rules=configurations.rules_by_id,
        paths=paths,
        unparsable=result.unparsable,
        notes=(*notes, *notes_of([result])),
        harmless=("info",),
        pairs=result.pairs,
        accepted=result.accepted,
    )


def write(result: DiffResult, out: TextIO, *, color: bool) -> None:
    """Write a result, and below it the verdict."""
    write_changes(result.changes, result.sources, out, color=color)
    write_finding_rows(result.comments, out, color=color)
    write_accepted(result, out, color=color)
    if result.changes or result.accepted:
        out.write("\n".join(fold(result.verdict.sentence, width_of(out))) + "\n")


def write_markdown(result: DiffResult, out: TextIO) -> None:
    """Write a result as Markdown, for pull requests and job summaries."""
    if result.findings or result.accepted:
        write_verdict(result.verdict, out)
    if result.changes:
        write_change_table(result.changes, out)
    write_findings(result.comments, out)
    write_accepted_table(result, out)


def write_page(result: DiffResult, out: TextIO) -> None:
    """Write a result as a page of HTML."""
    from kiplint.render.diff_page import write_diff_page  # jinja2 takes 60 ms to import

    entries = zip(result.changes, result.pairs, strict=True)
    titles = set_titles(*result.sets)
    write_diff_page(out, titles, entries, result.accepted, result.unparsable, result.verdict)
