"""The migration of a set to KIP-1313: header versions, request header 3, and the client instance id in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from kiplint.compat.rollout import INSTANCE_ID, WITH_FIELDS, rollout
from kiplint.engine.finding import Finding
from kiplint.fixes.edits import MessageEdits, field_text, note_edit
from kiplint.fixes.migration import (
    HEADER,
    HEADER_MISSING,
    Migration,
    MigrationRow,
    State,
    client_rpcs,
    file_edits,
    join,
    migration_of,
    rpc_names,
)
from kiplint.fixes.new_version import add_version, declare, declared_map, obstacle
from kiplint.model.headers import API_VERSIONS, WITH_INSTANCE_ID, HeaderMap, derived_map, header_of
from kiplint.model.message import Message
from kiplint.model.schemas import FROZEN, Rpc, SchemaSet
from kiplint.text.edit import insert_item
from kiplint.versions import VersionRange

_ABOUT: Final = "The client instance ID, which tells this client from all other instances of its application."
MISROUTING: Final = 5
"""The version of ApiVersions that KIP-1242 brings, behind header 2."""


def migrate(schemas: SchemaSet, *, only: Collection[str] = (), only_declare: bool = False) -> Migration:
    """The edits that bring a set to KIP-1313, even if some of its RPCs conform; empty if all do.

    `only` names RPCs; the others get no version, but declare their headers, as all have to once some do.
    `only_declare` adds the headers that versions have, and no version.
    """
    rpcs = sorted(client_rpcs(schemas), key=lambda rpc: rpc.name)
    selected_rpcs = [rpc for rpc in rpcs if not only or rpc.name in only]
    parts: list[Migration] = []
    if any(not rpc.is_dead and rpc.rpc_name not in FROZEN for rpc in selected_rpcs) and not only_declare:
        parts.append(_add_instance_id(schemas.request_header))
    selected_parts = [
        _declare_only(rpc) if only_declare or rpc.rpc_name in FROZEN else _add_header(rpc) for rpc in selected_rpcs
    ]
    parts += selected_parts
    if schemas.declares_headers or any(part.files for part in selected_parts):
        others = [_declare_only(rpc) for rpc in rpcs if rpc not in selected_rpcs]
        parts += [part for part in others if part.files or part.rows[0].state == "left"]
    return join(parts)


def _add_instance_id(message: Message | None) -> Migration:
    """RequestHeader with the version and the field in it; nothing when it has both."""
    version = WITH_INSTANCE_ID
    before = str(message.valid) if message else ""
    if message is None or not message.valid or message.valid.highest < version - 1:
        note = "RequestHeader is not among the files: give it version 3 with ClientInstanceId"
        if message:
            note = f"RequestHeader has versions {before}: version {version} does not follow them"
        return Migration(rows=(MigrationRow(HEADER, -1, "left", before, before, {}, (), (note,)),))
    edits = MessageEdits(message)
    document = edits.document
    actions: list[str] = []
    if version not in message.valid:
        edits.put("validVersions", f'"{VersionRange.of(message.valid.lowest, version)}"')
        edits.add(note_edit(document, f"Version {version} adds ClientInstanceId (KIP-1313)."))
        actions.append(f"version {version}")
    fields = document.find("/fields")
    if INSTANCE_ID not in message.by_name and fields is not None:
        field = {"name": INSTANCE_ID, "type": "uuid", "versions": f"{version}+", "about": _ABOUT}
        last = fields.children[-1] if fields.children else None
        edits.add(insert_item(document, fields, field_text(document, field), last))
        actions.append(INSTANCE_ID)
    after = str(VersionRange.of(message.valid.lowest, max(version, message.valid.highest)))
    files = file_edits([edits])
    state: State = "migrated" if files else "unchanged"
    return Migration(files, (MigrationRow(HEADER, -1, state, before, after, {}, tuple(actions)),))


def unmet(
    old: SchemaSet, new: SchemaSet, old_findings: Sequence[Finding], new_findings: Sequence[Finding]
) -> Iterator[tuple[str, str]]:
    """The RPCs that are not at the goal after a migration, each with the reason: an error, or its row in the rollout.

    Flexible versions that are missing, as the `old_findings` have it, leave open which headers the versions have.
    """
    rows = [row for row in rollout(new, old) if row.status in ("wrong", "missing")]
    of_header = [row for row in rows if row.message_name == HEADER]
    if of_header:
        yield HEADER, of_header[0].message
    for row in rows:
        yield row.name, "RequestHeader is first" if row in of_header else row.message
    owners = rpc_names(new)
    without_flexible = [finding for finding in old_findings if finding.rule == "versions/flexible-missing"]
    for finding in (*new_findings, *without_flexible):
        if finding.severity == "error" and finding.rule != HEADER_MISSING and finding.path in owners:
            yield owners[finding.path], f"{finding.message} ({finding.rule})"


def _add_header(rpc: Rpc) -> Migration:
    """The version of an RPC behind request header 3, new unless the latest is unstable, and the header maps."""
    request, response = rpc.request, rpc.response
    problem = _obstacle(rpc)
    if rpc.is_dead:
        return migration_of(rpc, "dead")
    if problem or request is None or response is None:
        return migration_of(rpc, "left", notes=[problem])
    at_goal = header_of(request, request.valid.highest) >= WITH_INSTANCE_ID and request.declares_headers
    version = max(request.valid.highest + (not at_goal and not request.unstable), response.valid.highest)
    notes: list[str] = []
    if rpc.api_key == API_VERSIONS and version == MISROUTING and "ClusterId" not in request.by_name:
        notes.append(f"version {version} of Apache Kafka has ClusterId and NodeId (KIP-1242): add them first")
    all_edits = [MessageEdits(request), MessageEdits(response)]
    for edits, header in zip(all_edits, (WITH_INSTANCE_ID, None), strict=True):
        flexible = edits.message.flexible
        if edits.message.valid.highest < version or (not at_goal and request.unstable):
            flexible |= VersionRange.of(version)
            _change_version(edits, version, header)
        _complete_map(edits, version, header, flexible)
    is_changed = any(edits.edits for edits in all_edits)
    stays_unstable = request.unstable and version == request.valid.highest
    actions = [f"version {version} stays unstable"] if is_changed and stays_unstable else []
    return migration_of(rpc, "migrated" if is_changed else "unchanged", all_edits, actions, notes)


def _change_version(edits: MessageEdits, version: int, header: int | None) -> None:
    """Give a message the version if it lacks it, flexible and without the id that the header has."""
    message = edits.message
    parts: list[str] = []
    if version not in message.flexible:
        edits.put("flexibleVersions", f'"{VersionRange.of(version)}"')
        edits.actions.append(f"version {version} is the first flexible one")
        parts.append("is the first flexible version")
    if _drop_id(edits, version):
        edits.actions.append(f"{INSTANCE_ID} leaves {message.name}")
        parts.append(f"removes {INSTANCE_ID}" + (f", which request header {header} carries" if header else ""))
    elif header:
        parts.append(f"uses request header {header}, which carries {INSTANCE_ID}")
    text = " and ".join(parts) or f"is the same as version {message.valid.highest}"
    note = f"Version {version} {text} (KIP-1313)."
    if message.valid.highest < version:
        add_version(edits, version, note, ending=(INSTANCE_ID,) if message.name in WITH_FIELDS else ())
    elif parts:
        edits.add(note_edit(edits.document, note))


def _drop_id(edits: MessageEdits, version: int) -> bool:
    """Whether the version has no ClientInstanceId and the one before has; a field that goes on is ended."""
    message = edits.message
    field = message.by_name.get(INSTANCE_ID) if message.name in WITH_FIELDS else None
    if field is None or not field.versions or version - 1 not in field.versions:
        return False
    if version in field.versions:
        edits.put("versions", f'"{field.versions - VersionRange.of(version)}"', field.pointer)
    return True


def _complete_map(edits: MessageEdits, version: int, header: int | None, flexible: VersionRange) -> None:
    """Declare the headers of a message with these flexible versions; from the version on it has `header`, if given."""
    message = edits.message
    entries = declared_map(message) if message.declares_headers and message.header_ranges else None
    if header is None and version not in message.flexible:
        header = derived_map(message, flexible)[-1][1]
    after = entries or derived_map(message)
    if header is not None:
        after = _with_header(after, version, header)
    if after != entries:
        declare(edits, after)


def _with_header(entries: HeaderMap, version: int, header: int) -> HeaderMap:
    """The map in which all versions from `version` on have `header`; the same when they have it already."""
    if any(version in versions and versions.open and old == header for versions, old in entries):
        return entries
    new = VersionRange.of(version)
    return (*((versions - new, old) for versions, old in entries if versions - new), (new, header))


def _declare_only(rpc: Rpc) -> Migration:
    """Declare the headers that the request and the response have, as far as they have valid versions."""
    state: State = "exempt" if rpc.rpc_name in FROZEN else "dead" if rpc.is_dead else "declared"
    all_edits: list[MessageEdits] = []
    notes: list[str] = []
    for message in (rpc.request, rpc.response):
        if message is None or not message.valid or message.header_ranges:
            continue
        if problem := _flexible_problem(message):
            notes.append(problem)
            continue
        edits = MessageEdits(message)
        declare(edits, derived_map(message))
        all_edits.append(edits)
    if state == "declared" and not all_edits:
        state = "left" if notes else "unchanged"
    return migration_of(rpc, state, all_edits, ["its headers are declared"] if all_edits else [], notes)


def _obstacle(rpc: Rpc) -> str:
    """Why the version cannot be added, or empty."""
    if problem := obstacle(rpc):
        return problem
    for message in filter(None, (rpc.request, rpc.response)):
        if message.header_ranges and declared_map(message) is None:
            return f"headerVersions of {message.name} have gaps or mistakes: fix them first"
        if problem := _flexible_problem(message):
            return problem
    return ""


def _flexible_problem(message: Message) -> str:
    if message.flexible_problem or (message.flexible and not message.flexible.open):
        return f"flexibleVersions of {message.name} is {message.spec.flexible_versions!r}, which is not an open range"
    return ""
