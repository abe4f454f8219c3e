"""A new version of a request and of its response, the everyday change; and what any new version needs."""

from __future__ import annotations

from collections.abc import Collection
from itertools import pairwise

from kiplint.fixes.edits import MessageEdits
from kiplint.fixes.migration import Migration, migration_of
from kiplint.model.headers import HeaderMap
from kiplint.model.message import Message
from kiplint.model.schemas import FROZEN, Rpc
from kiplint.versions import VersionRange


def bump(rpc: Rpc, *, unstable: bool = False, new_version: bool = False, comment: str = "") -> Migration:
    """Add a version to the request and the response of an RPC; where that is impossible, the row says why.

    If only one of the two has the highest version, the other one gets that version. After an unstable version, which
    may still change, a version is only added if `new_version` is set. `comment` follows the number of the version in
    the comment above validVersions, such as `adds Epoch.`; by default that says that the version is the same.
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
        text = one_line or f"is the same as version {edits.message.valid.highest}."
        add_version(edits, version, f"Version {version} {text}", unstable=unstable)

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
    """Which validVersions of an RPC is not a range; empty if they all are."""
    for message in (rpc.request, rpc.response):
        if message and message.valid_problem:
            return f"validVersions of {message.name} is {message.spec.valid_versions!r}, which is not a range"
    return ""


def unusable_flexible_versions(message: Message) -> str:
    """Why flexibleVersions cannot say which header a new version has; empty if it can."""
    if message.flexible_problem or (message.flexible and not message.flexible.open):
        return f"flexibleVersions of {message.name} is {message.spec.flexible_versions!r}, which is not an open range"
    return ""


def add_version(
    edits: MessageEdits, version: int, comment: str, *, unstable: bool = False, ending_fields: Collection[str] = ()
) -> None:
    """Make `version` the highest valid one, `unstable` or not, and write a comment on it.

    Ranges that end with the previous highest version are extended, since the new version has the same body, except for
    the fields with the names `ending_fields`.
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
        )
        for key, versions, text in properties:
            if isinstance(text, str) and versions.highest == highest and len(versions.parts) == 1:
                edits.put(key, f'"{VersionRange.of(versions.lowest)}"', field.pointer)
                edits.notes.append(
                    f"{key} of {field.name} ended with version {highest}; it now includes the new version"
                )
    if message.type == "request" and unstable is not message.unstable:
        edits.put("latestVersionUnstable", "true" if unstable else "false")
    if message.unstable:
        edits.notes.append(
            f"version {highest} was unstable, and is not now that version {version} follows it: "
            "is it ready to be released?"
        )


def declared_map(message: Message) -> HeaderMap | None:
    """The header map that a message declares, or None if it does not give each version from 0 on one header."""
    entries = message.header_ranges
    if not entries or any(entry.header < 0 or len(entry.versions.parts) != 1 for entry in entries):
        return None
    if entries[0].versions.lowest != 0 or not entries[-1].versions.open:
        return None
    if any(entry.versions.highest + 1 != following.versions.lowest for entry, following in pairwise(entries)):
        return None
    return tuple((entry.versions, entry.header) for entry in entries)
