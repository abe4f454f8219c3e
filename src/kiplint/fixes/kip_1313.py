"""The migration of a set to KIP-1313: header versions, request header 3, and the client instance id in it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from kiplint.compat.rollout import INSTANCE_ID, WITH_FIELDS, rollout
from kiplint.engine.finding import Finding
from kiplint.fixes.edits import FIELD, MessageEdits, field_like, note_edit
from kiplint.fixes.migration import (
    HEADER,
    HEADER_MISSING,
    FileEdits,
    Migration,
    MigrationRow,
    State,
    client_rpcs,
    file_edits,
    join,
    only_row,
    rpc_names,
)
from kiplint.fixes.new_version import add_version, declare, declared_map, obstacle
from kiplint.model.headers import API_VERSIONS, WITH_INSTANCE_ID, HeaderMap, derived_map, header_of
from kiplint.model.message import Message
from kiplint.model.schemas import FROZEN, Rpc, SchemaSet
from kiplint.text.source import insert_item
from kiplint.versions import VersionRange

_ABOUT: Final = "The client instance ID, which tells this client from all other instances of its application."
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
    rpcs = sorted(client_rpcs(schemas), key=lambda rpc: rpc.name)
    selected_rpcs = [rpc for rpc in rpcs if not only or rpc.name in only]
    parts: list[Migration] = []
    if any(not rpc.is_dead and rpc.rpc_name not in FROZEN for rpc in selected_rpcs) and not only_declare:
        parts.append(_add_instance_id(schemas.request_header, tagged=tagged))
    inflexible = () if only_declare or only else _silently_inflexible(schemas)
    selected = [
        _declare_only(rpc, inflexible) if only_declare or rpc.rpc_name in FROZEN else _add_header(rpc)
        for rpc in selected_rpcs
    ]
    parts += selected
    if schemas.declares_headers or any(part.files for part in selected):
        others = [_declare_only(rpc) for rpc in rpcs if rpc not in selected_rpcs]
        parts += [part for part in others if part.files or part.rows[0].state == "left"]
    for message in inflexible:
        if not message.is_rpc and message.name != HEADER:
            edits = MessageEdits(message)
            edits.put("flexibleVersions", '"none"')
            valid, actions = str(message.valid), ('its flexibleVersions are "none"',)
            row = MigrationRow(message.name, -1, "declared", valid, valid, {}, actions)
            parts.append(Migration(tuple(file_edits(edits)), (row,)))
    return join(parts)


def _add_instance_id(message: Message | None, *, tagged: bool) -> Migration:
    """RequestHeader with the version and the field in it; nothing when it has both."""
    version = WITH_INSTANCE_ID
    before = str(message.valid) if message else ""
    if message is None or not message.valid or message.valid.highest < version - 1:
        look = "RequestHeader is not among the files: give it version 3 with ClientInstanceId"
        if message:
            look = f"RequestHeader has versions {before}: version {version} does not follow them"
        return Migration(rows=(MigrationRow(HEADER, -1, "left", before, before, {}, (), (look,)),))
    edits = MessageEdits(message)
    document = edits.document
    actions: list[str] = []
    if version not in message.valid:
        edits.put("validVersions", f'"{VersionRange.of(message.valid.lowest, version)}"')
        edits.add(note_edit(document, f"Version {version} adds ClientInstanceId (KIP-1313)."))
        actions.append(f"version {version}")
    fields = document.find("/fields")
    if INSTANCE_ID not in message.by_name and fields is not None:
        versions = str(VersionRange.of(version))
        extra = {"taggedVersions": versions, "tag": 0, "ignorable": True} if tagged else {}
        field = {"name": INSTANCE_ID, "type": "uuid", "versions": versions, **extra, "about": _ABOUT}
        last = fields.children[-1] if fields.children else None
        edits.add(insert_item(document, fields, field_like(document, last, field), last))
        actions.append(INSTANCE_ID)
    after = str(VersionRange.of(message.valid.lowest, max(version, message.valid.highest)))
    files = tuple(file_edits(edits))
    state: State = "migrated" if files else "unchanged"
    return Migration(files, (MigrationRow(HEADER, -1, state, before, after, {}, tuple(actions)),))


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
    of_header = [row for row in rows if row.message_name == HEADER]
    if of_header:
        yield HEADER, of_header[0].message
    for row in rows:
        yield row.name, "RequestHeader is first" if row in of_header else row.message
    owners = rpc_names(after)
    for finding in (*findings, *(finding for finding in former if finding.rule == "versions/flexible-missing")):
        if finding.severity == "error" and finding.rule != HEADER_MISSING and finding.path in owners:
            yield owners[finding.path], f"{finding.message} ({finding.rule})"


def _add_header(rpc: Rpc) -> Migration:
    """The version of an RPC behind request header 3, new unless the latest is unstable, and the header maps."""
    request, response = rpc.request, rpc.response
    problem = _obstacle(rpc)
    if rpc.is_dead:
        return only_row(rpc, "dead")
    if problem or request is None or response is None:
        return only_row(rpc, "left", look=(problem,))
    at_goal = header_of(request, request.valid.highest) >= WITH_INSTANCE_ID and request.declares_headers
    version = max(request.valid.highest + (not at_goal and not request.unstable), response.valid.highest)
    files: list[FileEdits] = []
    actions: list[str] = []
    look: list[str] = []
    if rpc.api_key == API_VERSIONS and version == MISROUTING and "ClusterId" not in request.by_name:
        look.append(f"version {version} of Apache Kafka has ClusterId and NodeId (KIP-1242): add them first")
    for message, header in ((request, WITH_INSTANCE_ID), (response, None)):
        edits = MessageEdits(message)
        becomes_flexible = False
        if message.valid.highest < version or (not at_goal and request.unstable):
            becomes_flexible = version not in message.flexible
            new_actions, new_look = _change_version(edits, version, header, becomes_flexible=becomes_flexible)
            actions += new_actions
            look += new_look
        flexible = message.flexible | VersionRange.of(version) if becomes_flexible else message.flexible
        _complete_map(edits, version, header, flexible)
        files += file_edits(edits)
    if files and request.unstable:
        actions.append(f"version {version} stays unstable")
    return Migration(tuple(files), only_row(rpc, "migrated" if files else "unchanged", actions, look).rows)


def _change_version(
    edits: MessageEdits, version: int, header: int | None, *, becomes_flexible: bool
) -> tuple[list[str], list[str]]:
    """Give a message the version if it lacks it; returns what was done beyond that, and what a person has to review."""
    message = edits.message
    if becomes_flexible:
        edits.put("flexibleVersions", f'"{VersionRange.of(version)}"')
    drops_id = _drop_id(edits, version)
    actions = [f"version {version} is the first flexible one"] if becomes_flexible else []
    actions += [f"{INSTANCE_ID} leaves {message.name}"] if drops_id else []
    look: list[str] = []
    note = _note(message, version, header, becomes_flexible=becomes_flexible, drops_id=drops_id)
    if message.valid.highest < version:
        ending = (INSTANCE_ID,) if message.name in WITH_FIELDS else ()
        look = [f"{message.name}: {item}" for item in add_version(edits, version, note, ending=ending)]
    elif header or becomes_flexible or drops_id:
        edits.add(note_edit(edits.document, note))
    return actions, look


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


def _drop_id(edits: MessageEdits, version: int) -> bool:
    message = edits.message
    field = message.by_name.get(INSTANCE_ID) if message.name in WITH_FIELDS else None
    if field is None or not field.versions or version - 1 not in field.versions:
        return False
    if version in field.versions:
        edits.put_in(field.pointer, "versions", f'"{field.versions - VersionRange.of(version)}"', FIELD)
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


def _declare_only(rpc: Rpc, inflexible: Collection[Message] = ()) -> Migration:
    """Declare the headers that the request and the response have, as far as they have valid versions."""
    state: State = "exempt" if rpc.rpc_name in FROZEN else "dead" if rpc.is_dead else "declared"
    files: list[FileEdits] = []
    look: list[str] = []
    for message in (rpc.request, rpc.response):
        if message is None or not message.valid or message.header_ranges:
            continue
        if problem := _flexible_problem(message):
            look.append(problem)
            continue
        edits = MessageEdits(message)
        declare(edits, derived_map(message))
        if message in inflexible:
            edits.put("flexibleVersions", '"none"')
        files += file_edits(edits)
    if state == "declared" and not files:
        state = "left" if look else "unchanged"
    actions = ("its headers are declared",) if files else ()
    return Migration(tuple(files), only_row(rpc, state, actions, look).rows)


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
