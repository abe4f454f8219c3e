"""`kiplint diff`: the comparison of two schema sets or trees."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, Literal

import msgspec
import typer
from msgspec.structs import replace

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
    severities,
)
from kiplint.cli.output import report
from kiplint.compat.change import Change, ChangeFinding, MessagePair
from kiplint.compat.classify import BREAKS, GRAVE, breaks_in_words, classify
from kiplint.compat.compare import compare_trees
from kiplint.compat.released import Releases, releases_note, releases_of
from kiplint.compat.tree import TooLargeError, Tree, load, load_base, require_counterparts, unparsable_files
from kiplint.engine.config import StrPath, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import SEVERITIES
from kiplint.engine.ruleset import RuleSet
from kiplint.model.message import Message
from kiplint.model.schemas import partner
from kiplint.render.report import Report, Status, Verdict, set_titles, written_by
from kiplint.sources.disk import STDIN
from kiplint.sources.repository import open_repository
from kiplint.text.words import comma_parts, did_you_mean

Role = Literal["client", "broker", "storage"]
"""Whom a change matters to."""

EPILOG = """\b
Examples:
  kiplint diff 4.0.0: 4.1.0:
  kiplint diff HEAD~1: .
  kiplint diff kafka-clients-3.9.0.jar kafka-clients-4.0.0.jar --output-format json"""


def command(
    old: Annotated[
        str,
        typer.Argument(
            metavar="OLD", help="The base: a directory, an archive, REV: or REV:path. Its versions count as released."
        ),
    ],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The set to compare with it, in the same forms.")],
    also: Annotated[
        list[str] | None,
        typer.Option(metavar="OLDER", help="An older set whose tag numbers must not be reused. Repeatable."),
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
            help="Report only what affects clients (the RPCs that brokers serve to them), brokers and proxies (all "
            "RPCs), or operators who store records.",
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
    work = partial(
        diff,
        old,
        new,
        also=also or (),
        messages=messages or (),
        role=role,
        released=released or (),
        repository=repository,
        fail_on_breaks=fail_on_breaks or GRAVE,
        select=select or (),
        ignore=ignore or (),
        severity=severities(severity),
        config=config,
        isolated=isolated,
    )
    return report("diff", output_format, work, PAGE_FORMATS)


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


class DiffDocument(msgspec.Struct, frozen=True):
    """What `kiplint diff --output-format json` writes."""

    version: Literal[1]
    changes: tuple[ChangeFinding, ...]
    summary: DiffSummary


class DiffResult(Report, frozen=True):
    """The result of `diff`. Its findings are the changes."""

    findings: tuple[ChangeFinding, ...]
    """The changes, by file and position."""
    pairs: tuple[MessagePair, ...] = ()
    """For each change its message in the base and in the head, None where there is none."""

    command = "diff"
    renderers = written_by("diff", "text", "markdown", "html")
    list_attribute = "changes"

    @property
    def changes(self) -> tuple[ChangeFinding, ...]:
        """The changes: another name of the findings."""
        return self.findings

    @property
    def verdict(self) -> Verdict:
        """`4.1.0 against 4.0.0: 1 change breaks wire and 4 nothing.`, the breaks of bytes, and advice for the first."""
        old, new = set_titles(*self.sets)
        breaking = sorted(
            (change for change in self.changes if change.breaks != "none"),
            key=lambda change: (BREAKS.index(change.breaks), SEVERITIES.index(change.severity)),
        )
        advice = breaking[0].help if breaking else ""
        return Verdict.of(
            f"{new} compared with {old}: {breaks_in_words(self.changes)}.",
            [f"{change.message} ({change.breaks})" for change in breaking if change.breaks in GRAVE],
            f"To fix the first: {advice}." if advice else "",
        )

    @property
    def document(self) -> DiffDocument:
        """The content of the JSON output."""
        counts = Counter(change.breaks for change in self.changes)
        summary = DiffSummary(
            messages=self.messages, changes=len(self.changes), **{breaks: counts[breaks] for breaks in BREAKS}
        )
        return DiffDocument(1, self.changes, summary)


def diff(
    old: StrPath,
    new: StrPath,
    *,
    also: Sequence[StrPath] = (),
    messages: Sequence[str] = (),
    role: Role | None = None,
    released: Sequence[StrPath] = (),
    repository: StrPath | None = None,
    fail_on_breaks: Sequence[str] = GRAVE,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    severity: Mapping[str, str] = MappingProxyType({}),
    config: StrPath | Mapping[str, Any] | None = None,
    isolated: bool = False,
) -> DiffResult:
    """The changes from one set to another, and what they break; tags of the sets in `also` must not be reused.

    The base is a release. Other releases count only if `released` or the configuration names them, as globs of tags,
    revisions or sets; a tag that neither of them names is no release. If the base or the head is a single file, only
    the changes of its message are reported. `messages` are globs: only changes of matching messages are reported, and
    with a `role` only those that matter to it. The status is `findings` if a change breaks one of `fail_on_breaks`, or
    is an error. Raises UsageError for mistakes in the arguments, the configuration or a pack, and SourceError if a set
    cannot be opened.
    """
    failing_breaks = breaks_of(fail_on_breaks)
    old_name, new_name, *older_names = (os.fspath(name) for name in (old, new, *also))
    configuration = configure(
        new_name, select=select, ignore=ignore, severity=severity, config=config, isolated=isolated
    )
    rules, keeps = configuration.rules(), configuration.keeps
    git = open_repository(repository)
    before = load_base(old_name, git, keeps)
    after, *older = (load(name, git, keeps) for name in (new_name, *older_names))
    if not _single_file(before, after):
        require_counterparts(before, after)

    releases = None
    notes: tuple[str, ...] = ()
    if released or configuration.config.released:
        releases = releases_of(configuration, old_name, [os.fspath(name) for name in released], git, new_name)
        notes = releases_note(releases, old_name)
    result = compare(before, after, rules, older, failing_breaks, messages, releases, role)
    return replace(result, notes=notes)


def breaks_of(texts: Iterable[str]) -> set[str]:
    """What texts such as `wire,storage` name. Raises UsageError for a word that is not in `BREAKS`."""
    names = {*comma_parts(texts)}
    for name in sorted(names - {*BREAKS}):
        hint = did_you_mean(name, BREAKS) or f": {', '.join(BREAKS)}"
        raise UsageError(f"--fail-on-breaks: nothing breaks {name}{hint}")
    return names


def compare(
    before: Tree,
    after: Tree,
    rules: RuleSet,
    older: Sequence[Tree] = (),
    failing_breaks: Collection[str] = GRAVE,
    globs: Collection[str] = (),
    releases: Releases | None = None,
    role: Role | None = None,
) -> DiffResult:
    """Compare a base with a head, which must not reuse the tags of the `older` sets either.

    The status is `findings` when a change breaks one of `failing_breaks`, such as `wire`. With `globs`, such as
    `*Offset*`, and a `role`, only changes of matching messages count.
    """
    is_selected = _selector(globs, before, after)
    single_file = _single_file(before, after)
    ids_in_file = {id(message) for message in single_file.messages} if single_file else set()

    def is_reported(change: Change) -> bool:
        """Whether a change is about a message of the role, of the single file if there is one, and of the globs."""
        messages = [message for message in change.messages if message]
        if role and not any(_concerns(message, role) for message in messages):
            return False
        if single_file and not any(id(message) in ids_in_file for message in messages):
            return False
        return any(map(is_selected, messages))

    too_large: list[TooLargeError] = []
    changes = filter(is_reported, compare_trees(before, after, older, releases, too_large))  # adds to `too_large`
    # The base comes last, so that its file replaces those of older sets with the same path.
    old_sources = {path: data for tree in reversed([before, *older]) for path, data in tree.sources.items()}
    classified_changes = classify(list(changes), rules, old_sources, after.sources)
    findings = tuple(finding for _, finding in classified_changes)
    is_failing = any(finding.breaks in failing_breaks or finding.severity == "error" for finding in findings)
    unparsable = tuple(dict.fromkeys((*unparsable_files(before, after), *(error.file for error in too_large))))
    status: Status = "findings" if is_failing else "ok"
    if unparsable:
        status = "error"
    return DiffResult(
        findings=findings,
        files=len(after.sources),
        messages=sum(map(is_selected, (single_file or after).messages)),
        sources={**before.sources, **after.sources},
        status=status,
        sets=(before.name, after.name),
        rules=rules.by_id,
        paths=tuple(after.sources),
        unparsable=unparsable,
        harmless=("info",),
        pairs=tuple(change.messages for change, _ in classified_changes),
    )


def _selector(globs: Collection[str], before: Tree, after: Tree) -> Callable[[Message], bool]:
    """The test whether a message or its RPC matches one of the globs; without any all do.

    Raises UsageError for a glob that matches nothing.
    """

    def matches(message: Message, glob: str) -> bool:
        return fnmatchcase(message.name, glob) or fnmatchcase(message.base_name, glob)

    for glob in globs:
        if not any(matches(message, glob) for message in (*before.messages, *after.messages)):
            names = {name for message in after.messages for name in (message.name, message.base_name)}
            hint = did_you_mean(glob, names)
            raise UsageError(f"--message {glob}: neither set has such a message{hint}")
    return lambda message: not globs or any(matches(message, glob) for glob in globs)


def _concerns(message: Message, role: Role) -> bool:
    """Whether a message matters to a role.

    Records matter to `storage`. All RPCs matter to `broker`, and those that brokers serve to clients matter to
    `client`. Headers matter to both, and so do messages of type data in a set that has RPCs.
    """
    if role == "storage":
        return message.is_record
    if not message.is_rpc:
        return message.type == "header" or (message.type == "data" and bool(message.schemas.rpcs))
    request = message if message.type == "request" else partner(message)
    if role == "broker" or request is None or not request.listeners:
        return True
    return "broker" in request.listeners


def _single_file(before: Tree, after: Tree) -> Tree | None:
    """The side that is a single file if the other is not: what only the other has is then neither new nor removed."""
    single_files = [tree for tree in (before, after) if tree.name == STDIN or tree.name.lower().endswith(".json")]
    return single_files[0] if len(single_files) == 1 else None
