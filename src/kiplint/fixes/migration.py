"""Migrations: the sets that they read, their rows, and the check that they make nothing worse."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import check_set
from kiplint.fixes.apply import CheckedFiles, Files, apply_accepted, regressions, worse_findings
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
    files: list[FileEdits] = []
    rows: list[MigrationRow] = []
    for migration in migrations:
        files += migration.files
        rows += migration.rows
    return Migration(tuple(files), tuple(rows))


def file_edits(all_edits: Iterable[MessageEdits]) -> tuple[FileEdits, ...]:
    """The changed files, of messages with and without edits."""
    return tuple(
        FileEdits(edits.message.file, edits.edits, edits.message.data, apply_edits(edits.message.data, edits.edits))
        for edits in all_edits
        if edits.edits
    )


def migration_of(
    rpc: Rpc,
    state: State,
    all_edits: Sequence[MessageEdits] = (),
    actions: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> Migration:
    """The migration of one RPC, with the edits of its messages.

    Its row has the versions before the migration; `verify` puts the new ones in. It also has the actions and the notes
    of the edits, beside those of the whole RPC.
    """
    message = rpc.request or rpc.response
    valid = str(message.valid) if message else "none"
    headers = _headers(message) if message else {}
    all_actions = [*(action for edits in all_edits for action in edits.actions), *actions]
    unique_actions = tuple(dict.fromkeys(all_actions))
    all_notes = (*notes, *(f"{edits.message.name}: {note}" for edits in all_edits for note in edits.notes))
    row = MigrationRow(rpc.name, rpc.api_key, state, valid, valid, headers, unique_actions, all_notes)
    return Migration(file_edits(all_edits), (row,))


def _headers(message: Message) -> dict[str, int]:
    """The header version by range of the message's versions, such as `{"0-8": 1, "9+": 2}`."""
    return {str(versions): header for versions, header in header_map(message)}


def client_rpcs(schemas: SchemaSet) -> list[Rpc]:
    """The RPCs of a set without the coordinators' pairs of key and value."""
    return [rpc for rpc in schemas.rpcs if not rpc.is_coordinator]


def files_of(rpc: Rpc) -> list[str]:
    """The paths of the request and the response of an RPC, or of the one that exists."""
    return [message.file for message in (rpc.request, rpc.response) if message]


def rpc_names(schemas: SchemaSet) -> dict[str, str]:
    """By path of a request or a response the name of its RPC, such as `Fetch`; by path of RequestHeader that name."""
    names = {path: rpc.name for rpc in client_rpcs(schemas) for path in files_of(rpc)}
    if schemas.request_header:
        names[schemas.request_header.file] = HEADER
    return names


MAX_REASONS: Final = 5
HEADER: Final = "RequestHeader"
NOTHING: Final = "no RPC can be migrated, so nothing is"

Goal = Callable[[CheckedFiles, CheckedFiles], Iterable[tuple[str, str]]]
"""Takes the files before and after a migration; returns the names of the RPCs that miss its goal, with the reasons."""


def verify(files: SchemaFiles, migration: Migration, rules: RuleSet, goal: Goal | None = None) -> Migration:
    """The migration without the RPCs whose edits would make the set worse or would miss the goal.

    The rows of these RPCs have the state `left` and the reasons. The other rows have the versions and headers that the
    files have then, and new warnings and infos. Where no RPC is left to migrate, nothing is written.
    """

    def check(data_by_path: Files) -> CheckedFiles:
        inputs = (SchemaFile(file.path, data_by_path[file.path]) for file in files.files)
        result = check_set(inputs, rules, directory=files.directory, single_file=files.single_file)
        return CheckedFiles(data_by_path, result.findings)

    def refuse(after: CheckedFiles, names: Collection[str]) -> dict[str, list[str]]:
        return _refuse_rpcs(before, after, migration, names, goal)

    before = check({file.path: file.data for file in files.files})
    names_by_path = rpc_names(before.tree.sets[""])
    edits_by_name: dict[str, list[Edit]] = {row.name: [] for row in migration.rows if row.state != "left"}
    for file in migration.files:
        edits_by_name[names_by_path[file.path]] += file.edits
    after, reasons_by_name = apply_accepted(before, edits_by_name, check, refuse)

    changed_files = tuple(file for file in migration.files if after.files[file.path] == file.after)
    changed_paths = {file.path for file in changed_files}
    notices: dict[str, list[str]] = defaultdict(list)
    for regression in worse_findings(before.findings, after.findings, changed_paths):
        if regression.severity != "error" and regression.path in names_by_path:
            notices[names_by_path[regression.path]].append(str(regression))

    schemas = after.tree.sets[""]
    messages = {HEADER: schemas.request_header, **{rpc.name: rpc.request for rpc in client_rpcs(schemas)}}
    rows: list[MigrationRow] = []
    for row in migration.rows:
        message = messages.get(row.name)
        if row.state == "left" or row.name in reasons_by_name:
            rows.append(_left_row(row, reasons_by_name.get(row.name, [])))
        elif message is None:
            rows.append(row)
        else:
            headers = _headers(message) if message.is_rpc else {}
            look = (*row.look, *notices[row.name])
            rows.append(replace(row, versions=str(message.valid), header_versions=headers, look=look))
    return Migration(changed_files, tuple(rows))


def _refuse_rpcs(
    before: CheckedFiles, after: CheckedFiles, migration: Migration, names: Collection[str], goal: Goal | None
) -> dict[str, list[str]]:
    """The names of the RPCs to revert, with the reasons; `after` has the edits of the RPCs with these `names`.

    An RPC is reverted for errors in its files and for missing the goal. Without such RPCs, an error in a file of no RPC
    reverts all. When no RPC that gets a version is left, the RPCs that only declare their headers are reverted too.
    """
    names_by_path = rpc_names(before.tree.sets[""])
    states = {row.name: row.state for row in migration.rows}
    reasons: dict[str, list[str]] = defaultdict(list)
    other_errors: list[str] = []
    for regression in regressions(before, after) if after is not before else ():
        name = names_by_path.get(regression.path, "")
        if regression.severity != "error":
            continue
        if name in names:
            reasons[name].append(str(regression))
        elif name not in states:
            other_errors.append(str(regression))
    for name, reason in goal(before, after) if goal else ():
        if name in names and states[name] in ("migrated", "unchanged"):
            reasons[name].append(reason)
    if reasons:
        return reasons

    edited_names = {names_by_path[file.path] for file in migration.files}.intersection(names)
    if other_errors:
        return dict.fromkeys(edited_names, other_errors)
    migrated_names = {name for name, state in states.items() if state == "migrated" and name != HEADER}
    if migrated_names and migrated_names.isdisjoint(edited_names):
        return {name: [NOTHING] for name in edited_names}
    return {}


def _left_row(row: MigrationRow, reasons: Sequence[str]) -> MigrationRow:
    """The row of an RPC that stays as it is, with the reasons; its own notes are the reasons if there are no others."""
    unique_reasons = list(dict.fromkeys(reasons))
    look = unique_reasons[:MAX_REASONS] or [*row.look]
    if len(unique_reasons) > MAX_REASONS:
        look.append(f"{len(unique_reasons) - MAX_REASONS} more")
    return replace(row, state="left", versions=row.base_versions, header_versions={}, done=(), look=tuple(look))
