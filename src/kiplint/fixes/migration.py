"""Migrations: their rows, new versions of RPCs, and the check that they make nothing worse."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import check_set
from kiplint.fixes.edits import MessageEdits
from kiplint.fixes.regressions import CheckedFiles, Files, Limits, worse_findings
from kiplint.fixes.trial import REQUEST_HEADER, EditGroup, Trial, try_edits
from kiplint.model.headers import HeaderMap, header_map, header_of
from kiplint.model.message import Message
from kiplint.model.rpcs import FROZEN
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.sources.schema_files import SchemaFile, SchemaFiles
from kiplint.text.edit import Edit, apply_edits
from kiplint.text.words import join_words
from kiplint.versions import VersionRange

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
    """The files that the edits change, without those of messages that have no edits."""
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

    Its row has the versions before the migration, which `verify` replaces by the new ones. `actions` and `notes` are
    about the whole RPC; the row has those of the edits too.
    """
    message = rpc.request or rpc.response
    valid = str(message.valid) if message else "none"
    headers = _headers(message) if message and state != "left" else {}
    all_actions = [*(action for edits in all_edits for action in edits.actions), *actions]
    unique_actions = tuple(dict.fromkeys(all_actions))
    all_notes = (*notes, *(f"{edits.message.name}: {note}" for edits in all_edits for note in edits.notes))
    row = MigrationRow(rpc.name, rpc.api_key, state, valid, valid, headers, unique_actions, all_notes)
    return Migration(file_edits(all_edits), (row,))


def _headers(message: Message) -> dict[str, int]:
    """The header version by range of the message's versions, such as `{"0-8": 1, "9+": 2}`."""
    return {str(versions): header for versions, header in header_map(message)}


def real_rpcs(schemas: SchemaSet) -> list[Rpc]:
    """The RPCs of a set; a coordinator record's key and value, which form an Rpc too, are none."""
    return [rpc for rpc in schemas.rpcs if not rpc.is_coordinator]


def files_of(rpc: Rpc) -> list[str]:
    """The paths of the request and the response of an RPC, or of the one that exists."""
    return [message.file for message in (rpc.request, rpc.response) if message]


def rpc_names(schemas: SchemaSet) -> dict[str, str]:
    """The names of the RPCs, such as `Fetch`, by path of request and response; and RequestHeader by its path."""
    names = {path: rpc.name for rpc in real_rpcs(schemas) for path in files_of(rpc)}
    if schemas.request_header:
        names[schemas.request_header.file] = REQUEST_HEADER
    return names


# New versions


def bump(rpc: Rpc, *, unstable: bool = False, new_version: bool = False, comment: str = "") -> Migration:
    """Add a version to the request and the response of an RPC; where that is impossible, the row says why.

    If only one of the two has the highest version, the other one gets that version. After an unstable version, which
    may still change, a version is only added if `new_version` is set. `comment` follows the number of the version in
    the comment above validVersions, such as `adds Epoch.`; by default it says what begins in the version.
    """
    request, response = rpc.request, rpc.response
    obstacle = why_no_new_version(rpc)
    if rpc.rpc_name in FROZEN:
        obstacle = f"it is frozen at versions {FROZEN[rpc.rpc_name]}, and must never be bumped (KIP-1313)"
    if obstacle or request is None or response is None:
        return migration_of(rpc, "left", notes=[obstacle])

    highest = max(request.valid.highest, response.valid.highest)
    if request.valid.highest != response.valid.highest:
        version = highest
    elif request.unstable and not new_version:
        advice = "edit it, or remove latestVersionUnstable first"
        return migration_of(rpc, "left", notes=[f"version {highest} is unstable, and may still change: {advice}"])
    else:
        version = highest + 1

    all_edits = [MessageEdits(message) for message in (request, response) if message.valid.highest < version]
    one_line = " ".join(comment.split())  # a line end would end the comment
    for edits in all_edits:
        message = edits.message
        text = f"{version_comment(message, version, _what_begins_with_header(message, version))}."
        add_version(edits, version, f"Version {version} {one_line}" if one_line else text, unstable=unstable)

    actions: list[str] = []
    if version > request.valid.highest and unstable:
        actions.append("the new version is unstable")
    if version == request.valid.highest and request.unstable:
        actions.append(f"version {version} stays unstable")
    return migration_of(rpc, "migrated", all_edits, actions)


def why_no_new_version(rpc: Rpc) -> str:
    """Why the request and the response of an RPC cannot both get a new version; empty if they can."""
    if reason := unreadable_versions(rpc):
        return reason
    if rpc.is_dead:
        return "it has no valid version"
    if rpc.request is None or rpc.response is None:
        return f"there is no {'request' if rpc.request is None else 'response'}"
    for message in (rpc.request, rpc.response):
        if not message.valid or message.valid.open or len(message.valid.parts) > 1:
            return f"the valid versions of {message.name} are {message.valid}"
        if message.header_ranges and declared_map(message) is None:
            return f"headerVersions of {message.name} have gaps or mistakes: fix them first"
        if reason := unusable_flexible_versions(message):
            return reason
    return ""


def unreadable_versions(rpc: Rpc) -> str:
    """Why validVersions of an RPC cannot be read; empty if they can."""
    for message in (rpc.request, rpc.response):
        if message and message.valid_problem:
            return f"validVersions of {message.name} is {message.spec.valid_versions!r}, which is not a range"
    return ""


def unusable_flexible_versions(message: Message) -> str:
    """Why flexibleVersions does not imply the header of a new version; empty if it does."""
    if message.flexible_problem or (message.flexible and not message.flexible.open):
        return f"flexibleVersions of {message.name} is {message.spec.flexible_versions!r}, which is not an open range"
    return ""


def add_version(
    edits: MessageEdits, version: int, comment: str, *, unstable: bool = False, ending_fields: Collection[str] = ()
) -> None:
    """Make `version` the highest valid one, `unstable` or not, and write a comment on it.

    The new version has the same body: ranges of fields that end with the previous highest version are extended. Those
    of the fields that `ending_fields` names are not.
    """
    message = edits.message
    highest = message.valid.highest
    edits.put("validVersions", f'"{VersionRange.of(message.valid.lowest, version)}"')
    edits.put_comment(comment)
    for field in message.all_fields:
        if field.name in ending_fields:
            continue
        properties = (
            ("versions", field.versions, field.spec.versions),
            ("nullableVersions", field.nullable, field.spec.nullable_versions),
            ("taggedVersions", field.tagged, field.spec.tagged_versions),
            ("flexibleVersions", field.flexible, field.spec.flexible_versions),
        )
        for key, versions, written in properties:
            if isinstance(written, str) and versions.highest == highest:
                edits.put(key, f'"{VersionRange.of(versions.lowest)}"', field.pointer)
                edits.notes.append(
                    f"{key} of {field.name} ended with version {highest}; it now includes the new version"
                )
    if message.type == "request" and unstable is not message.declares_unstable:
        edits.put("latestVersionUnstable", "true" if unstable else "false")
    if message.declares_unstable:
        edits.notes.append(
            f"version {highest} is no longer unstable, because version {version} follows it; check that it is ready "
            "to be released"
        )


def version_comment(message: Message, version: int, parts: Sequence[str]) -> str:
    """A comment on a new version, without a full stop; `parts` say how it differs from the highest version."""
    text = join_words(parts) if parts else f"is the same as version {message.valid.highest}"
    return f"Version {version} {text}"


def what_begins(message: Message, version: int) -> list[str]:
    """What begins in a new version by the ranges that the message has: `adds Epoch`, `lets Rack be null`."""
    highest = message.valid.highest
    new_versions = VersionRange.of(highest + 1, version)

    def begins(versions: VersionRange) -> bool:
        return bool(versions & new_versions) and highest not in versions

    fields = [field for field in message.all_fields if highest in field.owner.present]
    new_fields = [field.path for field in fields if begins(field.versions)]
    others = [field for field in fields if highest in field.versions]
    tagged = [field.path for field in others if begins(field.tagged)]
    nullable = [field.path for field in others if begins(field.nullable)]
    flexible = [field.path for field in others if field.overrides_flexible and begins(field.flexible)]
    parts = ["is the first flexible version"] if begins(message.flexible) else []
    parts += [f"adds {join_words(new_fields)}"] if new_fields else []
    parts += [f"makes {join_words(flexible)} flexible"] if flexible else []
    parts += [f"tags {join_words(tagged)}"] if tagged else []
    parts += [f"lets {join_words(nullable)} be null"] if nullable else []
    return parts


def _what_begins_with_header(message: Message, version: int) -> list[str]:
    """What begins in a new version, and the header that the map already gives it."""
    parts, header = what_begins(message, version), header_of(message, version)
    if message.declares_headers and header != header_of(message, message.valid.highest):
        parts.append(f"uses {message.type} header {header}")
    return parts


def declared_map(message: Message) -> HeaderMap | None:
    """The header map that a message declares, or None if it does not give each version from 0 on exactly one header."""
    entries = message.header_ranges
    if not entries or any(entry.header < 0 or len(entry.versions.parts) != 1 for entry in entries):
        return None
    if entries[0].versions.lowest != 0 or not entries[-1].versions.open:
        return None
    if any(entry.versions.highest + 1 != following.versions.lowest for entry, following in pairwise(entries)):
        return None
    return tuple((entry.versions, entry.header) for entry in entries)


# The check


MAX_REASONS: Final = 5
NO_ERRORS: Final = Limits(severities=("error",))
"""A migration may cause warnings and infos: its rows list them."""


def verify(files: SchemaFiles, migration: Migration, rules: RuleSet, header: int | None = None) -> Migration:
    """The migration without the RPCs whose edits would cause errors, or which would not get the request `header`.

    The rows of these RPCs have the state `left` and the reasons. The other rows have the versions and headers after the
    migration, and the new warnings and infos. If no RPC can be migrated, no file changes.
    """

    def check(data_by_path: Files) -> CheckedFiles:
        inputs = (SchemaFile(file.path, data_by_path[file.path]) for file in files.files)
        result = check_set(inputs, rules, directory=files.directory, single_file=files.single_file)
        return CheckedFiles(data_by_path, result.findings)

    before = check({file.path: file.data for file in files.files})
    groups = _edit_groups(before.schemas, migration, header)
    trial = try_edits(before, groups, check, NO_ERRORS)
    reasons = {migration.rows[number].name: [*map(str, dropped)] for number, dropped in trial.dropped.items()}
    migrated_names = {row.name for row in migration.rows if row.state == "migrated"} - {REQUEST_HEADER}
    changed_files = tuple(file for file in migration.files if trial.after.files[file.path] == file.after)
    if migrated_names and migrated_names <= reasons.keys():
        # Others that only declare their headers would require them of all RPCs.
        changed_names = {row.name for row, group in zip(migration.rows, groups, strict=True) if group.edits}
        reasons = {name: ["no RPC can be migrated, so no file changes"] for name in changed_names} | reasons
        trial, changed_files = Trial(before, {}), ()
    return Migration(changed_files, tuple(_verified_rows(migration.rows, before, trial.after, reasons)))


def _edit_groups(schemas: SchemaSet, migration: Migration, header: int | None) -> list[EditGroup]:
    """The edits of each row. A row that is left already has none; one that promises the `header` has to reach it."""
    edits_by_path = {file.path: file.edits for file in migration.files}
    paths_by_name: dict[str, list[str]] = defaultdict(list)
    for path, name in rpc_names(schemas).items():
        paths_by_name[name].append(path)
    groups: list[EditGroup] = []
    for row in migration.rows:
        paths = tuple(paths_by_name[row.name])
        edits = [edit for path in paths for edit in edits_by_path.get(path, ())] if row.state != "left" else []
        goal = header if row.state in ("migrated", "unchanged") else None
        groups.append(EditGroup(paths, tuple(edits), header=goal))
    return groups


def _verified_rows(
    rows: Iterable[MigrationRow], before: CheckedFiles, after: CheckedFiles, reasons_by_name: Mapping[str, list[str]]
) -> Iterator[MigrationRow]:
    """The rows with what the migration changed; an RPC with reasons is left to a person."""
    names_by_path = rpc_names(before.schemas)
    changed_paths = {path for path, data in after.files.items() if data != before.files[path]}
    notices_by_name: dict[str, list[str]] = defaultdict(list)  # the new warnings and infos
    for regression in worse_findings(before.findings, after.findings, changed_paths):
        if regression.severity != "error" and regression.path in names_by_path:
            notices_by_name[names_by_path[regression.path]].append(str(regression))

    schemas = after.schemas
    messages = {REQUEST_HEADER: schemas.request_header, **{rpc.name: rpc.request for rpc in real_rpcs(schemas)}}
    for row in rows:
        message = messages.get(row.name)
        if row.state == "left":
            yield row
        elif row.name in reasons_by_name:
            yield _left_row(row, reasons_by_name[row.name])
        elif message is None:
            yield row
        else:
            headers = _headers(message) if message.is_rpc else {}
            look = (*row.look, *notices_by_name[row.name])
            yield replace(row, versions=str(message.valid), header_versions=headers, look=look)


def _left_row(row: MigrationRow, reasons: Sequence[str]) -> MigrationRow:
    """The row of an RPC that is left to a person, with the first reasons and the number of the others."""
    unique_reasons = list(dict.fromkeys(reasons))
    look = unique_reasons[:MAX_REASONS]
    if len(unique_reasons) > MAX_REASONS:
        look.append(f"{len(unique_reasons) - MAX_REASONS} more")
    return replace(row, state="left", versions=row.base_versions, header_versions={}, done=(), look=tuple(look))
