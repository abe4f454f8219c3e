"""The migration of a set to KIP-1313: header versions, request header 3, and the client instance id in it."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from kiplint.compat.rollout import INSTANCE_ID, MESSAGES_WITH_ID
from kiplint.fixes.edits import MessageEdits, map_text
from kiplint.fixes.migration import (
    Migration,
    MigrationRow,
    State,
    add_version,
    declared_map,
    file_edits,
    join,
    migration_of,
    real_rpcs,
    unreadable_versions,
    unusable_flexible_versions,
    version_comment,
    what_begins,
    why_no_new_version,
)
from kiplint.fixes.trial import REQUEST_HEADER
from kiplint.model.headers import HEADER_WITH_ID, HeaderMap, derived_header, derived_map, header_of
from kiplint.model.message import Message
from kiplint.model.rpcs import FROZEN
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.text.edit import insert_item, replace_value
from kiplint.versions import VersionRange

_ABOUT: Final = "The client instance ID, which tells this client from all other instances of its application."


def migrate(schemas: SchemaSet, *, only: Collection[str] = (), only_declare: bool = False) -> Migration:
    """The edits that migrate a set to KIP-1313; there are none for messages that already conform.

    `only` names RPCs, such as `Fetch`. The others get no version, but declare their headers if any RPC does, as then
    all have to. `only_declare` adds headerVersions as flexibleVersions implies them, and no version.
    """
    rpcs = sorted(real_rpcs(schemas), key=lambda rpc: rpc.name)
    selected_rpcs = [rpc for rpc in rpcs if not only or rpc.name in only]
    other_rpcs = [rpc for rpc in rpcs if rpc not in selected_rpcs]
    rpcs_to_bump = [] if only_declare else [rpc for rpc in selected_rpcs if rpc.rpc_name not in FROZEN]
    migrations = [_migrate_rpc(rpc) if rpc in rpcs_to_bump else _declare_only(rpc) for rpc in selected_rpcs]
    if schemas.declares_headers or any(migration.files for migration in migrations):
        migrations += [  # others have a row only if the migration declares their headers, or a person has to
            migration
            for migration in map(_declare_only, other_rpcs)
            if migration.files or any(row.state == "left" for row in migration.rows)
        ]
    if any(not rpc.is_dead for rpc in rpcs_to_bump):
        migrations.insert(0, _migrate_request_header(schemas.request_header))
    return join(migrations)


def _migrate_request_header(message: Message | None) -> Migration:
    """Add version 3 and ClientInstanceId to RequestHeader if it lacks them; `message` is None if the set lacks it."""
    version = HEADER_WITH_ID
    old_versions = str(message.valid) if message else ""
    if message is None or not message.valid or message.valid.highest < version - 1:
        note = "RequestHeader is not among the files: give it version 3 with ClientInstanceId"
        if message:
            note = f"RequestHeader has versions {old_versions}: version {version} does not follow them"
        return Migration(rows=(MigrationRow(REQUEST_HEADER, -1, "left", old_versions, old_versions, look=(note,)),))

    edits = MessageEdits(message)
    document = edits.document
    if version not in message.valid:
        edits.put("validVersions", f'"{VersionRange.of(message.valid.lowest, version)}"')
        edits.put_comment(f"Version {version} adds ClientInstanceId (KIP-1313).")
        edits.actions.append(f"version {version}")
    fields = document.find("/fields")
    if INSTANCE_ID not in message.by_name and fields is not None:
        properties = f'"name": "{INSTANCE_ID}", "type": "uuid", "versions": "{version}+"'
        text = f'{{ {properties},\n{document.indent_unit}"about": "{_ABOUT}" }}'
        last_field = fields.children[-1] if fields.children else None
        edits.add(insert_item(document, fields, text, last_field))
        edits.actions.append(INSTANCE_ID)
    new_versions = str(VersionRange.of(message.valid.lowest, max(version, message.valid.highest)))
    state: State = "migrated" if edits.edits else "unchanged"
    row = MigrationRow(REQUEST_HEADER, -1, state, old_versions, new_versions, done=tuple(edits.actions))
    return Migration(file_edits([edits]), (row,))


def _migrate_rpc(rpc: Rpc) -> Migration:
    """Give an RPC a version with request header 3, and declare all its headers.

    The version is a new one, unless the latest is unstable: that one then gets the header. No version is added if the
    latest uses the header already.
    """
    request, response = rpc.request, rpc.response
    if rpc.is_dead and not unreadable_versions(rpc):
        return migration_of(rpc, "dead")
    obstacle = why_no_new_version(rpc)
    if obstacle or request is None or response is None:
        return migration_of(rpc, "left", notes=[obstacle])

    latest = request.valid.highest
    latest_uses_header = request.declares_headers and header_of(request, latest) >= HEADER_WITH_ID
    changes_latest = request.unstable and not latest_uses_header
    version = latest if latest_uses_header or changes_latest else latest + 1
    version = max(version, response.valid.highest)  # a response that is ahead has a version that the request lacks

    request_edits, response_edits = MessageEdits(request), MessageEdits(response)
    for edits in (request_edits, response_edits):
        message = edits.message
        new_header = HEADER_WITH_ID if message is request else None  # None: the response keeps its header
        if message.valid.highest < version or changes_latest:  # both have the version, and become flexible in it
            _change_version(edits, version, new_header)
            if message is response and version not in message.flexible:  # it becomes flexible, with another header
                new_header = derived_header(message, version, flexible=VersionRange.of(version))
        _declare_headers(edits, version, new_header)

    if not request_edits.edits and not response_edits.edits:
        return migration_of(rpc, "unchanged")
    stays_unstable = request.unstable and version == latest
    actions = [f"version {version} stays unstable"] if stays_unstable else []
    return migration_of(rpc, "migrated", [request_edits, response_edits], actions)


def _change_version(edits: MessageEdits, version: int, header: int | None) -> None:
    """Make a version flexible and remove the client instance id from it; add the version if the message lacks it.

    `header` is the request header that carries the id instead, None for a response.
    """
    message = edits.message
    parts = what_begins(message, version)
    if version not in message.flexible:
        edits.put("flexibleVersions", f'"{VersionRange.of(version)}"')
        edits.actions.append(f"version {version} is the first flexible one")
        parts.append("is the first flexible version")
    if _remove_id(edits, version):
        edits.actions.append(f"{INSTANCE_ID} leaves {message.name}")
        parts.append(f"removes {INSTANCE_ID}" + (f", which request header {header} carries" if header else ""))
    elif header:
        parts.append(f"uses request header {header}, which carries {INSTANCE_ID}")
    comment = f"{version_comment(message, version, parts)} (KIP-1313)."
    if message.valid.highest < version:
        # The versions of the id may end with the last one already: they must not include the new one.
        ending_fields = [INSTANCE_ID] if message.name in MESSAGES_WITH_ID else []
        add_version(edits, version, comment, ending_fields=ending_fields)
    elif parts:
        edits.put_comment(comment)


def _remove_id(edits: MessageEdits, version: int) -> bool:
    """End ClientInstanceId of a telemetry message before a version; return whether the version before contains it."""
    message = edits.message
    field = message.by_name.get(INSTANCE_ID) if message.name in MESSAGES_WITH_ID else None
    if field is None or version - 1 not in field.versions:
        return False
    if version in field.versions:
        edits.put("versions", f'"{field.versions - VersionRange.of(version)}"', field.pointer)
    return True


def _declare_headers(edits: MessageEdits, version: int = 0, new_header: int | None = None) -> None:
    """Declare the headers that the versions of a message have; those from `version` on get `new_header` if it is given.

    Nothing changes if the message declares exactly these already. Entries that are there keep their comments.
    """
    message = edits.message
    declared = declared_map(message)
    entries = declared or derived_map(message)
    if new_header is not None:
        entries = _with_header(entries, version, new_header)
    if entries == declared:
        return
    if declared is None:
        edits.put("headerVersions", map_text(entries, edits.document.indent_unit))
        return

    old_entries = {entry.versions.lowest: entry for entry in message.header_ranges}
    for versions, header in entries:
        old_entry = old_entries.get(versions.lowest)
        if old_entry is None:
            edits.put(str(versions), f'"{header}"', "/headerVersions")
            continue
        if old_entry.versions != versions:
            edits.rename(old_entry.pointer, str(versions))
        if old_entry.header != header:
            edits.add([replace_value(edits.document, edits.node(old_entry.pointer), f'"{header}"')])


def _with_header(entries: HeaderMap, version: int, new_header: int) -> HeaderMap:
    """The header map with the new header for all versions from `version` on; the same map if they have it already."""
    last_versions, last_header = entries[-1]
    if version in last_versions and last_header == new_header:
        return entries
    new_versions = VersionRange.of(version)
    earlier = [(versions - new_versions, header) for versions, header in entries if versions.lowest < version]
    return (*earlier, (new_versions, new_header))


def _declare_only(rpc: Rpc) -> Migration:
    """Declare the headers that the request and the response have now, and add no version.

    A message stays as it is if it declares headers already or has no valid version.
    """
    all_edits: list[MessageEdits] = []
    notes: list[str] = []
    if reason := unreadable_versions(rpc):
        notes.append(reason)
    for message in (rpc.request, rpc.response):
        if message is None or not message.valid or message.header_ranges:
            continue
        if reason := unusable_flexible_versions(message):
            notes.append(reason)
            continue
        edits = MessageEdits(message)
        _declare_headers(edits)
        all_edits.append(edits)

    state: State
    if rpc.rpc_name in FROZEN:
        state = "exempt"
    elif all_edits:
        state = "declared"
    elif notes:
        state = "left"
    else:
        state = "dead" if rpc.is_dead else "unchanged"
    return migration_of(rpc, state, all_edits, ["its headers are declared"] if all_edits else [], notes)
