"""Migrations: the sets that they read, their rows, and the check that they make nothing worse."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import check_set
from kiplint.fixes.apply import CheckedFiles, Files, Regression, apply, regressions, tree_of
from kiplint.fixes.edits import MessageEdits
from kiplint.model.headers import header_map
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.sources.schema_files import SchemaFile, SchemaFiles
from kiplint.text.edit import Edit, apply_edits

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


def join(migrations: Iterable[Migration]) -> Migration:
    """One migration of several that have no file in common."""
    parts = [*migrations]
    return Migration(
        tuple(file for part in parts for file in part.files), tuple(row for part in parts for row in part.rows)
    )


def file_edits(edits_of_messages: Iterable[MessageEdits]) -> tuple[FileEdits, ...]:
    """The files of messages that have edits."""
    pairs = [(edits.message, edits.edits) for edits in edits_of_messages]
    return tuple(
        FileEdits(message.file, edits, message.data, apply_edits(message.data, edits))
        for message, edits in pairs
        if edits
    )


def migration_of(
    rpc: Rpc,
    state: State,
    edits_of_messages: Sequence[MessageEdits] = (),
    actions: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Migration:
    """The migration of an RPC; its row has the versions that the RPC has now, and what the edits of messages say."""
    message = rpc.request or rpc.response
    valid = str(message.valid) if message else "none"
    headers = _headers(message) if message else {}
    done = dict.fromkeys([*(action for edits in edits_of_messages for action in edits.actions), *actions])
    more = (f"{edits.message.name}: {note}" for edits in edits_of_messages for note in edits.notes)
    row = MigrationRow(rpc.name, rpc.api_key, state, valid, valid, headers, tuple(done), (*notes, *more))
    return Migration(file_edits(edits_of_messages), (row,))


def _headers(message: Message) -> dict[str, int]:
    return {str(versions): header for versions, header in header_map(message)}


def client_rpcs(schemas: SchemaSet) -> list[Rpc]:
    """The RPCs of a set without the coordinators' pairs of key and value."""
    return [rpc for rpc in schemas.rpcs if not rpc.is_coordinator]


def rpc_names(schemas: SchemaSet) -> dict[str, str]:
    """By path: the RPC that a file is the request or the response of; for the request header its own name."""
    messages = [(message, rpc.name) for rpc in client_rpcs(schemas) for message in (rpc.request, rpc.response)]
    return {message.file: name for message, name in ((schemas.request_header, HEADER), *messages) if message}


MOST_REASONS: Final = 5
HEADER_MISSING: Final = "kip-1313/header-missing"
HEADER: Final = "RequestHeader"
NOTHING: Final = "no RPC can be migrated, so nothing is"

Goal = Callable[[SchemaSet, SchemaSet, Sequence[Finding], Sequence[Finding]], Iterable[tuple[str, str]]]
"""Takes a set before and after a migration, and the findings of both; returns the RPCs that miss the goal, and why."""


def prove(files: SchemaFiles, migration: Migration, rules: RuleSet, goal: Goal | None = None) -> Migration:
    """The migration without the RPCs that it would make worse, or that would miss its goal: these are left, with why.

    The rows of the others have the versions and headers of the migrated files, and new warnings and infos. Where no RPC
    is left to migrate, nothing is written.
    """

    def check(data: Files) -> CheckedFiles:
        inputs = (SchemaFile(file.path, data[file.path]) for file in files.files)
        result = check_set(inputs, rules, directory=files.directory, single_file=files.single_file)
        return CheckedFiles(data, result.findings)

    before = check({file.path: file.data for file in files.files})
    owners = rpc_names(before.tree.sets[""])
    edits: dict[str, list[Edit]] = {row.name: [] for row in migration.rows if row.state != "left"}
    for file in migration.files:
        edits.setdefault(owners.get(file.path, ""), []).extend(file.edits)
    worse: list[Regression] = []

    def refuse(data: Files, names: Collection[str]) -> dict[str, list[str]]:
        nonlocal worse
        after = check(data) if data != before.files else before
        worse = list(regressions(before, after)) if after is not before else []
        reasons = _reasons(worse, owners, {row.name for row in migration.rows} - {*names})
        for name, why in _missed(goal, before, after, migration.rows) if goal else ():
            reasons.setdefault(name, []).append(why)
        return _blame(reasons, {name: edits[name] for name in names}, migration.rows)

    data, refusals = apply(before.files, edits, refuse)
    now = tree_of(data).sets[""]
    requests = {rpc.name: rpc.request for rpc in client_rpcs(now)} | {HEADER: now.request_header}
    notices = [(owners.get(item.path), str(item)) for item in worse if item.severity != "error"]
    rows = (
        _as_left(row, refusals.get(row.name, ()))
        if row.state == "left" or row.name in refusals
        else _as_made(row, requests.get(row.name), [text for name, text in notices if name == row.name])
        for row in migration.rows
    )
    return Migration(tuple(file for file in migration.files if data[file.path] == file.after), tuple(rows))


def _reasons(
    worse: Iterable[Regression], owners: Mapping[str, str], refused_names: Collection[str]
) -> dict[str, list[str]]:
    """By RPC, or by "" for other files: the errors that a migration brings; a refused RPC may lack its headers."""
    reasons: dict[str, list[str]] = {}
    for item in worse:
        name = owners.get(item.path, "")
        if item.severity == "error" and not (item.rule == HEADER_MISSING and name in refused_names):
            reasons.setdefault(name, []).append(str(item))
    return reasons


def _missed(
    goal: Goal, before: CheckedFiles, after: CheckedFiles, rows: Iterable[MigrationRow]
) -> Iterator[tuple[str, str]]:
    """The RPCs that would be done, but are not at the goal, and why."""
    done_names = {row.name for row in rows if row.state in ("migrated", "unchanged")}
    unmet = goal(before.tree.sets[""], after.tree.sets[""], before.findings, after.findings)
    return ((name, why) for name, why in unmet if name in done_names)


def _blame(
    reasons: Mapping[str, list[str]], edits: Mapping[str, Sequence[Edit]], rows: Iterable[MigrationRow]
) -> dict[str, list[str]]:
    """The RPCs to revert, with the reasons: those that have any; else all with edits, if other messages have them.

    Where no migration is left, the RPCs that only declare their headers are reverted too.
    """
    rows_by_name = {row.name: row for row in rows}
    edited_names = [name for name in edits if edits[name]]
    if own := {name: why for name, why in reasons.items() if name in edits and name in rows_by_name}:
        return own
    if others := [text for name, why in reasons.items() if name not in rows_by_name for text in why]:
        return dict.fromkeys(edited_names, others)
    migrated_names = {name for name, row in rows_by_name.items() if row.state == "migrated"} - {HEADER}
    if migrated_names and migrated_names.isdisjoint(edited_names):
        return {name: [NOTHING] for name in edited_names}
    return {}


def _as_left(row: MigrationRow, reasons: Sequence[str]) -> MigrationRow:
    unique = list(dict.fromkeys(reasons))
    more = [f"{len(unique) - MOST_REASONS} more"] if len(unique) > MOST_REASONS else []
    notes = (*(row.look if not unique else ()), *unique[:MOST_REASONS], *more)
    return msgspec.structs.replace(
        row, state="left", versions=row.base_versions, header_versions={}, done=(), look=notes
    )


def _as_made(row: MigrationRow, request: Message | None, notices: Sequence[str]) -> MigrationRow:
    if request is None:
        return row
    headers = _headers(request) if request.is_rpc else {}
    notes = (*row.look, *notices)
    return msgspec.structs.replace(row, versions=str(request.valid), header_versions=headers, look=notes)
