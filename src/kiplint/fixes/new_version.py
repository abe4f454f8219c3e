"""A new version that carries what the latest one carries: whether there can be one; ranges, flag and note."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from kiplint.fixes.draft import Draft
from kiplint.fixes.version_notes import note_edit
from kiplint.model.field import Field
from kiplint.model.message import Message
from kiplint.model.rpc import Rpc
from kiplint.versions import VersionRange

_RANGES: Final = (("versions", "versions"), ("nullableVersions", "nullable"), ("taggedVersions", "tagged"))


def obstacle(rpc: Rpc) -> str:
    """Why a request and its response cannot both get a new version, or empty."""
    if rpc.is_dead:
        return "it has no valid version"
    if rpc.request is None or rpc.response is None:
        return f"there is no {'request' if rpc.request is None else 'response'}"
    for half in (rpc.request, rpc.response):
        if not half.valid or half.valid.open or len(half.valid.parts) > 1:
            return f"the valid versions of {half.name} are {half.valid}"
    return ""


def add_version(draft: Draft, version: int, note: str, *, unstable: bool = False) -> list[str]:
    """Make `version` the highest valid one, for a request unstable if wanted; gives what a person has to look at.

    What ends with the version that was the highest goes on, since the new version has the same body.
    """
    message = draft.message
    draft.put("validVersions", f'"{VersionRange.of(message.valid.lowest, version)}"')
    edit = note_edit(draft.document, note)
    draft.add([edit] if edit else [])
    looks: list[str] = []
    for field, key, versions in _ending(message):
        draft.replace(f"{field.pointer}/{key}", f'"{VersionRange.of(versions.lowest)}"')
        looks.append(f"{key} of {field.name} ended with version {versions.highest}; it goes on now")
    if message.type == "request" and unstable is not message.unstable:
        draft.put("latestVersionUnstable", "true" if unstable else "false")
    if message.unstable:
        looks.append(
            f"version {message.valid.highest} was unstable, and is not now that version {version} follows it: "
            "is it ready to be released?"
        )
    return looks


def make_flexible(draft: Draft, version: int) -> bool:
    """Make the new version the first flexible one, unless it is flexible; gives whether it was not."""
    message = draft.message
    if message.flexible.covers(version):
        return False
    draft.put("flexibleVersions", f'"{VersionRange.of(version)}"')
    return True


def _ending(message: Message) -> Iterator[tuple[Field, str, VersionRange]]:
    """The ranges of fields that end with the highest valid version."""
    for field in message.all_fields:
        for key, fact in _RANGES:
            versions: VersionRange = getattr(field, fact)
            written = getattr(
                field.spec, {"nullable": "nullable_versions", "tagged": "tagged_versions"}.get(fact, fact)
            )
            if isinstance(written, str) and versions.highest == message.valid.highest and len(versions.parts) == 1:
                yield field, key, versions
