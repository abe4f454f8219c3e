"""The migration of a set to KIP-1313: header versions, request header 3, and the client instance id in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from kiplint.compat.rollout import INSTANCE_ID, WITH_FIELDS, rollout
from kiplint.engine.finding import Finding
from kiplint.fixes.draft import FIELD, Draft
from kiplint.fixes.migration import (
    HEADER_MISSING,
    FileEdits,
    Migration,
    MigrationRow,
    State,
    finished,
    migration_row,
    rpc_names,
)
from kiplint.fixes.new_version import (
    add_version,
    declare,
    declared_map,
    field_like,
    led_on,
    note_edit,
    obstacle,
)
from kiplint.model.headers import API_VERSIONS, WITH_INSTANCE_ID, derived_map, header_of
from kiplint.model.message import Message
from kiplint.model.schemas import FROZEN, Rpc, SchemaSet
from kiplint.versions import VersionRange

_ABOUT = "The client instance ID, which tells this client from all other instances of its application."


def add_instance_id(message: Message | None, version: int, *, tagged: bool) -> tuple[list[FileEdits], MigrationRow]:
    """RequestHeader with the version and the field in it; nothing when it has both."""
    before = str(message.valid) if message else ""
    if message is None or not message.valid or message.valid.highest < version - 1:
        look = "RequestHeader is not among the files: give it version 3 with ClientInstanceId"
        if message:
            look = f"RequestHeader has versions {before}: version {version} does not follow them"
        return [], MigrationRow("RequestHeader", -1, "left", before, before, {}, (), (look,))
    draft = Draft(message)
    actions: list[str] = []
    if version not in message.valid:
        draft.put("validVersions", f'"{VersionRange.of(message.valid.lowest, version)}"')
        draft.add(note_edit(draft.document, f"Version {version} adds ClientInstanceId (KIP-1313)."))
        actions.append(f"version {version}")
    if INSTANCE_ID not in message.by_name and draft.document.find("/fields") is not None:
        versions = str(VersionRange.of(version))
        extra = {"taggedVersions": versions, "tag": 0, "ignorable": True} if tagged else {}
        field = {"name": INSTANCE_ID, "type": "uuid", "versions": versions, **extra, "about": _ABOUT}
        draft.append("/fields", field_like(draft.document, draft.node("/fields"), field))
        actions.append(INSTANCE_ID)
    after = str(VersionRange.of(message.valid.lowest, max(version, message.valid.highest)))
    files = finished(draft)
    state: State = "migrated" if files else "unchanged"
    return files, MigrationRow("RequestHeader", -1, state, before, after, {}, tuple(actions))


MISROUTING: Final = 5
"""The version of ApiVersions that KIP-1242 brings, behind header 2."""


def migrate(
    schemas: SchemaSet, *, only: Collection[str] = (), only_declare: bool = False, tagged: bool = False
) -> Migration:
    """The edits that bring a set to KIP-1313, even if it is half done; empty if the set already conforms.

    `only` names RPCs; the others get no version, but declare their headers, as all have to once some do.
    `only_declare` adds the headers that versions have, and no version. `tagged` makes the id in the header a tagged
    field.
    """
    rpcs = sorted((rpc for rpc in schemas.rpcs if not rpc.is_coordinator), key=lambda rpc: rpc.name)
    selected_rpcs = [rpc for rpc in rpcs if not only or rpc.name in only]
    files: list[FileEdits] = []
    rows: list[MigrationRow] = []
    if any(not rpc.is_dead and rpc.rpc_name not in FROZEN for rpc in selected_rpcs) and not only_declare:
        header, row = add_instance_id(schemas.request_header, WITH_INSTANCE_ID, tagged=tagged)
        files += header
        rows.append(row)
    declares = schemas.declares_headers
    inflexible = () if only_declare or only else _silently_inflexible(schemas)
    for rpc in selected_rpcs:
        stays = only_declare or rpc.rpc_name in FROZEN
        edits, row = _declare_only(rpc, inflexible) if stays else _migrate(rpc)
        declares |= bool(edits)
        files += edits
        rows.append(row)
    for edits, row in (_declare_only(rpc) for rpc in rpcs if declares and rpc not in selected_rpcs):
        files += edits
        rows += [row] if edits or row.state == "left" else []
    for message in inflexible:
        if not message.is_rpc and message.name != "RequestHeader":
            draft = Draft(message)
            draft.put("flexibleVersions", '"none"')
            files += finished(draft)
            valid, actions = str(message.valid), ('its flexibleVersions are "none"',)
            rows.append(MigrationRow(message.name, -1, "declared", valid, valid, {}, actions))
    return Migration(tuple(files), tuple(rows))


def _silently_inflexible(schemas: SchemaSet) -> tuple[Message, ...]:
    """The live messages that are not flexible and do not say so, in a set of before 3.0, where many do not.

    Once nearly all messages of a set have flexibleVersions, as after the migration, the others have to say "none".
    """
    silent = [message for message in schemas.messages if message.valid and not message.declares_flexible]
    return tuple(silent) if schemas.flexible_messages and 20 * len(silent) >= schemas.live_messages else ()


def unmet(
    before: SchemaSet, after: SchemaSet, former: Sequence[Finding], findings: Sequence[Finding]
) -> Iterator[tuple[str, str]]:
    """The RPCs that are not at the goal after a migration, each with the reason: an error, or its row in the rollout.

    Flexible versions that are missing, as the `former` findings have it, leave open which headers the versions have.
    """
    rows = [row for row in rollout(after, before) if row.status in ("wrong", "missing")]
    of_header = [row for row in rows if row.message_name == "RequestHeader"]
    if of_header:
        yield "RequestHeader", of_header[0].message
    for row in rows:
        yield row.name, "RequestHeader is first" if row in of_header else row.message
    owners = rpc_names(after)
    for finding in (*findings, *(finding for finding in former if finding.rule == "versions/flexible-missing")):
        if finding.severity == "error" and finding.rule != HEADER_MISSING and finding.path in owners:
            yield owners[finding.path], f"{finding.message} ({finding.rule})"


def _migrate(rpc: Rpc) -> tuple[list[FileEdits], MigrationRow]:
    request, response = rpc.request, rpc.response
    if problem := _obstacle(rpc):
        return [], migration_row(rpc, "dead" if rpc.is_dead else "left", look=(problem,) if not rpc.is_dead else ())
    assert request is not None
    assert response is not None
    at_goal = header_of(request, request.valid.highest) >= WITH_INSTANCE_ID and request.declares_headers
    version = max(request.valid.highest + (not at_goal and not request.unstable), response.valid.highest)
    files: list[FileEdits] = []
    actions: list[str] = []
    look: list[str] = []
    if rpc.api_key == API_VERSIONS and version == MISROUTING and "ClusterId" not in request.by_name:
        look.append(f"version {version} of Apache Kafka has ClusterId and NodeId (KIP-1242): add them first")
    for message, expected in ((request, WITH_INSTANCE_ID), (response, None)):
        draft = Draft(message)
        _lead_on(draft, version, expected, actions, look, changes=not at_goal and request.unstable)
        files += finished(draft)
    if files and request.unstable:
        actions.append(f"version {version} stays unstable")
    return files, migration_row(rpc, "migrated" if files else "unchanged", actions, look)


def _lead_on(
    draft: Draft, version: int, header: int | None, actions: list[str], look: list[str], *, changes: bool
) -> None:
    """Give one message the version, if it lacks it, and the map of its headers; an unstable version `changes`."""
    message = draft.message
    flexible = message.flexible
    if changes or message.valid.highest < version:
        if becomes_flexible := version not in flexible:
            flexible |= VersionRange.of(version)
            draft.put("flexibleVersions", f'"{VersionRange.of(version)}"')
        drops_id = _drop_id(draft, version)
        actions += [f"version {version} is the first flexible one"] if becomes_flexible else []
        actions += [f"{INSTANCE_ID} leaves {message.name}"] if drops_id else []
        comment = _note(message, version, header, becomes_flexible=becomes_flexible, drops_id=drops_id)
        if message.valid.highest < version:
            ending = (INSTANCE_ID,) if message.name in WITH_FIELDS else ()
            look += [f"{message.name}: {item}" for item in add_version(draft, version, comment, ending=ending)]
        elif header or becomes_flexible or drops_id:
            draft.add(note_edit(draft.document, comment))
    entries = declared_map(message) if message.declares_headers and message.header_ranges else None
    before = entries or derived_map(message)
    if header is None and version not in message.flexible:
        header = derived_map(message, flexible)[-1][1]
    after = before if header is None else led_on(before, version, header)
    if after != entries:
        declare(draft, after)


def _drop_id(draft: Draft, version: int) -> bool:
    message = draft.message
    field = message.by_name.get(INSTANCE_ID) if message.name in WITH_FIELDS else None
    if field is None or not field.versions or version - 1 not in field.versions:
        return False
    if version in field.versions:
        draft.put("versions", f'"{field.versions - VersionRange.of(version)}"', field.pointer, FIELD)
    return True


def _note(message: Message, version: int, header: int | None, *, becomes_flexible: bool, drops_id: bool) -> str:
    parts = ["is the first flexible version"] if becomes_flexible else []
    if drops_id:
        parts.append(f"removes {INSTANCE_ID}" + (f", which request header {header} carries" if header else ""))
    elif header:
        parts.append(f"uses request header {header}, which carries {INSTANCE_ID}")
    elif not parts:
        parts = [f"is the same as version {message.valid.highest}"]
    return f"Version {version} {' and '.join(parts)} (KIP-1313)."


def _declare_only(rpc: Rpc, inflexible: Collection[Message] = ()) -> tuple[list[FileEdits], MigrationRow]:
    """Declare the headers that the live halves of an RPC have."""
    state: State = "exempt" if rpc.rpc_name in FROZEN else "dead" if rpc.is_dead else "declared"
    halves = [half for half in (rpc.request, rpc.response) if half and half.valid and not half.header_ranges]
    files: list[FileEdits] = []
    look: list[str] = []
    for half in halves:
        if problem := _flexible_problem(half):
            look.append(problem)
            continue
        draft = Draft(half)
        declare(draft, derived_map(half))
        if half in inflexible:
            draft.put("flexibleVersions", '"none"')
        files += finished(draft)
    if state == "declared" and not files:
        state = "left" if look else "unchanged"
    actions = ("its headers are declared",) if files else ()
    return files, migration_row(rpc, state, actions, look)


def _obstacle(rpc: Rpc) -> str:
    """Why the version cannot be added, or empty."""
    if problem := obstacle(rpc):
        return problem
    for half in filter(None, (rpc.request, rpc.response)):
        if half.header_ranges and declared_map(half) is None:
            return f"headerVersions of {half.name} have gaps or mistakes: fix them first"
        if problem := _flexible_problem(half):
            return problem
    return ""


def _flexible_problem(half: Message) -> str:
    if half.flexible_problem or (half.flexible and not half.flexible.open):
        return f"flexibleVersions of {half.name} is {half.spec.flexible_versions!r}, which is not an open range"
    return ""
