"""Migrations: the sets that they read, their results, and the proof that a change makes nothing worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property
from typing import Annotated, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from kiplint.compat.change import Change
from kiplint.compat.compare import compare_trees
from kiplint.compat.judge import judge
from kiplint.compat.kinds import FieldChange
from kiplint.compat.released import Releases
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.config import Configuration
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import SEVERITIES, Finding, Severity
from kiplint.engine.packs import shipped_rules
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, check_set
from kiplint.fixes.draft import Draft
from kiplint.model.headers import header_map
from kiplint.model.load import Definition, load
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.sources.schema_files import SchemaFiles
from kiplint.text.edit import Edit

State = Literal["migrated", "declared", "unchanged", "exempt", "dead", "left"]
"""`left` is an RPC that a person has to change; `unchanged` is one that needs no change."""


class FileEdits(msgspec.Struct, frozen=True):
    """The edits of one file, and its bytes before and after them."""

    path: str
    edits: tuple[Edit, ...]
    before: bytes
    after: bytes


Versions = Annotated[str, Meta(description="Of the request; `none` for no version, empty where there is no header.")]


class MigrationRow(msgspec.Struct, frozen=True):
    """What a migration did to an RPC or to another message, such as the request header; its `api_key` is then -1."""

    name: str
    api_key: int
    state: Annotated[State, Meta(description="`left` is for a person to do; `unchanged` needs no change.")]
    base_versions: Versions
    versions: Versions
    header_versions: Annotated[
        dict[str, int], Meta(description="The request header version by range of the request's versions.")
    ] = {}
    done: Annotated[tuple[str, ...], Meta(description="What was done beyond the new version.")] = ()
    look: Annotated[tuple[str, ...], Meta(description="What a person has to review.")] = ()
    directory: Annotated[str, Meta(description="The directory of the definitions.")] = ""


class Migration(msgspec.Struct, frozen=True):
    """The files that change, in the order of writing, and the rows of the summary."""

    files: tuple[FileEdits, ...] = ()
    rows: tuple[MigrationRow, ...] = ()


def finished(draft: Draft) -> list[FileEdits]:
    """The file of a draft, if it has edits."""
    edits = draft.edits
    data = draft.message.data
    return [FileEdits(draft.message.file, edits, data, draft.result())] if edits else []


def migration_row(rpc: Rpc, state: State, actions: Collection[str] = (), look: Collection[str] = ()) -> MigrationRow:
    """The row of an RPC, with the versions that it has now."""
    half = rpc.request or rpc.response
    valid = str(half.valid) if half else "none"
    headers = {str(versions): header for versions, header in header_map(half)} if half else {}
    return MigrationRow(rpc.name, rpc.api_key, state, valid, valid, headers, tuple(dict.fromkeys(actions)), tuple(look))


def load_set(files: SchemaFiles) -> tuple[SchemaSet, list[Definition]]:
    """The schema set of some files, and the definitions that could not be read."""
    definitions = [load(file.path, file.data) for file in files.files]
    messages = tuple(definition.message for definition in definitions if definition.message)
    return SchemaSet(messages, files.directory), [definition for definition in definitions if not definition.message]


def client_rpcs(schemas: SchemaSet) -> list[Rpc]:
    """The RPCs of a set without the coordinators' pairs of key and value."""
    return [rpc for rpc in schemas.rpcs if not rpc.is_coordinator]


def rpc_names(schemas: SchemaSet) -> dict[str, str]:
    """By path: the RPC that a file is a half of; for the request header its own name."""
    halves = ((half, rpc.name) for rpc in client_rpcs(schemas) for half in (rpc.request, rpc.response))
    header = [(schemas.request_header, "RequestHeader")]
    return {half.file: name for half, name in (*header, *halves) if half}


Files = Mapping[str, bytes]
"""The files of a set, by path."""

Check = Callable[[Files], Sequence[Finding]]
"""A function from the files of a set to the findings of all rules."""

HARMLESS: Final = ("none",)
LIKELY: Final = ("none", "source", "semantics")
"""What a change of a released version may break: nothing; or, if a person reviews it, what no byte shows."""


class CheckedFiles(msgspec.Struct, frozen=True, dict=True):
    """The files of a set, the findings of the rules that run, and those of all other rules."""

    files: Files
    own: Sequence[Finding]
    others: Sequence[Finding] = ()

    @property
    def findings(self) -> Sequence[Finding]:
        """All findings."""
        return (*self.own, *self.others)

    @cached_property
    def tree(self) -> Tree:
        """The definitions in the files."""
        return tree_of(self.files)


class Regression(NamedTuple):
    """What a change of files would make worse: the file, the rule, why, and the JSON pointer in the changed file."""

    path: str
    rule: str
    text: str
    severity: Severity = "error"
    pointer: str = ""

    def __str__(self) -> str:
        return f"{self.text} ({self.rule})" if self.rule else self.text


def all_rules(configuration: Configuration) -> RuleSet:
    """The rules of a configuration, and all others that are on, except those that it ignores."""
    config = msgspec.structs.replace(
        configuration.config, select=list(dict.fromkeys(("default", *configuration.config.select)))
    )
    return msgspec.structs.replace(configuration, config=config).rules()


def regressions(
    before: CheckedFiles, after: CheckedFiles, *, likely: bool = False, releases: Releases | None = None
) -> Iterator[Regression]:
    """What a change makes worse: what breaks in released versions, as `diff` has it, and new findings.

    Every stable version of `before` may be released. A change that is only `likely` right may break what no byte shows,
    and anything in versions that no release has, if the `releases` are known. What a file that could not be read has
    beside is not new.
    """
    allowed_breaks, known_releases = (LIKELY, releases) if likely else (HARMLESS, None)
    yield from breaks_between(before.tree, after.tree, allowed_breaks, known_releases)
    hidden_paths = unreadable(before.findings) - unreadable(after.findings)
    visible = [item for item in after.findings if item.path not in hidden_paths]
    changed_paths = {path for path in after.files if before.files.get(path) != after.files[path]}
    yield from new_findings(before.findings, visible, changed_paths)


def unreadable(findings: Iterable[Finding]) -> set[str]:
    """The files with a mistake in the JSON, which hides all other findings."""
    return {finding.path for finding in findings if finding.rule == "syntax/invalid-json"}


def new_findings(before: Sequence[Finding], after: Sequence[Finding], paths: Collection[str]) -> Iterator[Regression]:
    """The findings that a rule has more often or more severely than before in a file that changed, or in the set.

    A finding that a rule reports once for the set may move from one file to another that did not change.
    """
    counts = [Counter(_levels(findings)) for findings in (before, after)]
    more = counts[1] - counts[0]
    totals = [Counter((rule, level) for rule, _, level in count.elements()) for count in counts]
    previous = {(finding.fingerprint, finding.severity) for finding in before}
    for finding in sorted(after, key=lambda finding: (finding.fingerprint, finding.severity) in previous):
        key = (finding.rule, finding.path, finding.severity)
        rises = totals[1][finding.rule, finding.severity] > totals[0][finding.rule, finding.severity]
        if more[key] > 0 and (rises or finding.path in paths):
            more[key] -= 1
            yield Regression(finding.path, finding.rule, finding.message, finding.severity, finding.pointer)


def _levels(findings: Iterable[Finding]) -> Iterator[tuple[str, str, str]]:
    """Each finding at its severity and at all below: an error that was a warning is worse."""
    for finding in findings:
        for level in SEVERITIES[SEVERITIES.index(finding.severity) :]:
            yield finding.rule, finding.path, level


def tree_of(files: Files) -> Tree:
    """The definitions of the files of one set."""
    return make_tree("", [("", files.items())])


def breaks_between(
    old: Tree, new: Tree, allowed_breaks: Collection[str] = HARMLESS, releases: Releases | None = None
) -> Iterator[Regression]:
    """The changes that are errors or break something else than what is `allowed`, in messages that can be read.

    A tagged field's default is what its absence means, as good as a byte, and its change an error.
    """
    try:
        changes = compare_trees(old, new, releases=releases)
        judgements = judge(changes, _change_rules(), old.sources, new.sources, prove=False)
    except UsageError as error:  # a message that is too large to be compared
        yield Regression("", "", str(error))
        return
    for change, finding in judgements:
        is_allowed = finding.breaks in allowed_breaks and (finding.breaks == "none" or finding.severity != "error")
        if not is_allowed and _was_readable(change, is_release=releases is not None):
            yield Regression(finding.path, finding.rule, finding.message, pointer=finding.pointer)


def _was_readable(change: Change, *, is_release: bool) -> bool:
    """Whether the ranges and the type that the change is about could be read; else there are no bytes to keep.

    No flexible versions mean none in an old release; in other definitions they are missing.
    """
    message = change.former
    if message is None or message.valid_problem or message.flexible_problem:
        return False
    if not (is_release or message.declares_flexible):
        return False
    field = change.fields[0] if isinstance(change, FieldChange) else None
    return field is None or field.is_primitive or field.struct is not None


@cache
def _change_rules() -> RuleSet:
    rules = [rule for rule in shipped_rules() if rule.each == "change"]
    return RuleSet([rule for rule in rules if rule.severity != "off"], rules)


MOST_REASONS: Final = 5
HEADER_MISSING: Final = "kip-1313/header-missing"
HEADERS: Final = {"RequestHeader"}
NOTHING: Final = "no RPC can be migrated, so nothing is"

Goal = Callable[[SchemaSet, SchemaSet, Sequence[Finding], Sequence[Finding]], Iterable[tuple[str, str]]]
"""Takes a set before and after a migration, and the findings of both; returns the RPCs that miss the goal, and why."""


def prove(
    files: SchemaFiles,
    migration: Migration,
    rules: RuleSet,
    goal: Goal | None = None,
    schemas: SchemaSet | None = None,
) -> Migration:
    """The migration without the RPCs that it would make worse, or that would miss its goal: these are left, with why.

    `schemas` is the set that was migrated, by default that of the files. The rows of the others have the versions and
    headers of the migrated files, and new warnings and infos. Where no RPC is left to migrate, nothing is written.
    """
    schemas = schemas or load_set(files)[0]
    owners = rpc_names(schemas)
    states = {row.name: row.state for row in migration.rows}
    migrated_rpcs = {name for name, state in states.items() if state == "migrated"} - HEADERS
    refusals: dict[str, list[str]] = {row.name: [] for row in migration.rows if row.state == "left"}

    def check_files(data: Files) -> CheckedFiles:
        inputs = (Input(file.path, data[file.path]) for file in files.files)
        return CheckedFiles(
            data, check_set(inputs, rules, directory=files.directory, partial=files.single_file).findings
        )

    before = check_files({file.path: file.data for file in files.files})
    while True:
        edits = tuple(file for file in migration.files if owners.get(file.path, "") not in refusals)
        after = check_files({**before.files, **{file.path: file.after for file in edits}}) if edits else before
        now = after.tree.sets[""]
        worse = list(regressions(before, after)) if edits else []
        problems = [
            (owners.get(item.path, ""), str(item))
            for item in worse
            if item.severity == "error" and not (item.rule == HEADER_MISSING and owners.get(item.path) in refusals)
        ]
        reasons = goal(schemas, now, before.findings, after.findings) if goal else ()
        problems += [(name, why) for name, why in reasons if states.get(name) in ("migrated", "unchanged")]
        edited_rpcs = {owners.get(file.path, "") for file in edits}
        faults = [(name, text) for name, text in problems if name in states and name not in refusals]
        other_texts = [text for name, text in problems if name not in states] if not faults else []
        faults += [(name, text) for name in sorted(edited_rpcs) for text in other_texts]
        if not faults and migrated_rpcs and not migrated_rpcs & edited_rpcs:
            faults = [(name, NOTHING) for name in sorted(edited_rpcs)]
        if not faults:
            break
        for name, text in faults:
            refusals.setdefault(name, []).append(text)
    requests = {rpc.name: rpc.request for rpc in client_rpcs(now)} | {"RequestHeader": now.request_header}
    notices = [(owners.get(item.path), str(item)) for item in worse if item.severity != "error"]
    rows = (
        _as_left(row, refusals[row.name])
        if row.name in refusals
        else _as_made(row, requests.get(row.name), [text for name, text in notices if name == row.name])
        for row in migration.rows
    )
    return Migration(edits, tuple(rows))


def _as_left(row: MigrationRow, reasons: Sequence[str]) -> MigrationRow:
    unique = list(dict.fromkeys(reasons))
    more = [f"{len(unique) - MOST_REASONS} more"] if len(unique) > MOST_REASONS else []
    look = (*(row.look if not unique else ()), *unique[:MOST_REASONS], *more)
    return msgspec.structs.replace(
        row, state="left", versions=row.base_versions, header_versions={}, done=(), look=look
    )


def _as_made(row: MigrationRow, request: Message | None, notices: Sequence[str]) -> MigrationRow:
    if request is None:
        return row
    headers = {str(versions): header for versions, header in header_map(request)} if request.is_rpc else {}
    look = (*row.look, *notices)
    return msgspec.structs.replace(row, versions=str(request.valid), header_versions=headers, look=look)
