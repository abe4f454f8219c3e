"""A new version of a request and of its response, the everyday change; and what any new version needs."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from kiplint.fixes.edits import MessageEdits, map_text, note_edit
from kiplint.fixes.migration import Migration, migration_of
from kiplint.model.headers import HeaderMap
from kiplint.model.message import Message
from kiplint.model.schemas import FROZEN, Rpc
from kiplint.text.edit import replace_value
from kiplint.versions import VersionRange


def bump(rpc: Rpc, *, unstable: bool = False, new_version: bool = False, note: str = "") -> Migration:
    """A new version of the request and the response of an RPC; only a row where a new version is not possible.

    Of two that end at different versions the lower one is brought to the higher one. After an unstable version, which
    may still change, there is only a `new_version` if it is asked for. `note` is the text of the comment.
    """
    request, response = rpc.request, rpc.response
    problem = obstacle(rpc)
    if rpc.rpc_name in FROZEN:
        problem = f"it is frozen at versions {FROZEN[rpc.rpc_name]}, and must never be bumped (KIP-1313)"
    if problem or request is None or response is None:
        return migration_of(rpc, "left", notes=[problem])
    highest = max(request.valid.highest, response.valid.highest)
    lags = request.valid.highest != response.valid.highest
    if request.unstable and not lags and not new_version:
        problem = f"version {highest} is unstable, and may still change: edit it, or remove latestVersionUnstable first"
        return migration_of(rpc, "left", notes=[problem])
    version = highest if lags else highest + 1
    all_edits = [MessageEdits(message) for message in (request, response) if message.valid.highest != version]
    text = " ".join(note.split())  # a line end would end the comment
    for edits in all_edits:
        comment = f"Version {version} {text or f'is the same as version {edits.message.valid.highest}.'}"
        add_version(edits, version, comment, unstable=unstable)
        _extend_map(edits, version)
    is_new = version > request.valid.highest
    actions = ["the new version is unstable"] if is_new and unstable else []
    actions += [f"version {version} stays unstable"] if not is_new and request.unstable else []
    return migration_of(rpc, "migrated", all_edits, actions)


def obstacle(rpc: Rpc) -> str:
    """Why a request and its response cannot both get a new version, or empty."""
    for message in filter(None, (rpc.request, rpc.response)):
        if message.valid_problem:
            return f"validVersions of {message.name} is {message.spec.valid_versions!r}, which is not a range"
    if rpc.is_dead:
        return "it has no valid version"
    if rpc.request is None or rpc.response is None:
        return f"there is no {'request' if rpc.request is None else 'response'}"
    for message in (rpc.request, rpc.response):
        if not message.valid or message.valid.open or len(message.valid.parts) > 1:
            return f"the valid versions of {message.name} are {message.valid}"
    return ""


def add_version(
    edits: MessageEdits, version: int, comment: str, *, unstable: bool = False, ending: Collection[str] = ()
) -> None:
    """Make `version` the highest valid one, `unstable` or not.

    Ranges that end with the previous highest version are extended, since the new version has the same body, except for
    the fields that are `ending`.
    """
    message = edits.message
    highest = message.valid.highest
    edits.put("validVersions", f'"{VersionRange.of(message.valid.lowest, version)}"')
    edits.add(note_edit(edits.document, comment))
    for field in message.all_fields:
        ranges = (
            ("versions", field.versions, field.spec.versions),
            ("nullableVersions", field.nullable, field.spec.nullable_versions),
            ("taggedVersions", field.tagged, field.spec.tagged_versions),
        )
        for key, versions, text in ranges if field.name not in ending else ():
            if isinstance(text, str) and versions.highest == highest and len(versions.parts) == 1:
                edits.put(key, f'"{VersionRange.of(versions.lowest)}"', field.pointer)
                ending_range = f"{key} of {field.name} ended with version {highest}"
                edits.notes.append(f"{ending_range}; it now includes the new version")
    if message.type == "request" and unstable is not message.unstable:
        edits.put("latestVersionUnstable", "true" if unstable else "false")
    if message.unstable:
        edits.notes.append(
            f"version {highest} was unstable, and is not now that version {version} follows it: "
            "is it ready to be released?"
        )


def declared_map(message: Message) -> HeaderMap | None:
    """The map as declared; None when it is not whole: unreadable, with gaps, overlaps or a closed end."""
    entries = message.header_ranges
    whole = entries and all(entry.header >= 0 and len(entry.versions.parts) == 1 for entry in entries)
    if not whole or entries[0].versions.lowest != 0 or not entries[-1].versions.open:
        return None
    if any(after.versions.lowest != before.versions.highest + 1 for before, after in pairwise(entries)):
        return None
    return tuple((entry.versions, entry.header) for entry in entries)


def declare(edits: MessageEdits, entries: HeaderMap) -> None:
    """Write the map into a message. An existing map is updated entry by entry, and keeps its comments."""
    before = edits.message.header_ranges
    if not edits.message.declares_headers or not before:
        edits.put("headerVersions", map_text(entries, edits.document.indent_unit))
        return
    by_lowest = {entry.versions.lowest: entry for entry in before}
    for versions, header in entries:
        entry = by_lowest.get(versions.lowest)
        if entry is None:
            edits.put(str(versions), f'"{header}"', "/headerVersions")
            continue
        if entry.versions != versions:
            edits.rename(entry.pointer, str(versions))
        if entry.header != header:
            edits.add([replace_value(edits.document, edits.node(entry.pointer), f'"{header}"')])


def _extend_map(edits: MessageEdits, version: int) -> None:
    """Extend the last range of a header map that ends before the version."""
    entries = edits.message.header_ranges
    if not entries or declared_map(edits.message) is not None:
        return
    last = entries[-1]
    if last.versions and last.header >= 0 and version not in last.versions:
        edits.rename(last.pointer, f"{last.versions.lowest}+")
