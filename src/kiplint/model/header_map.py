"""Which header goes in front of which version: declared by `headerVersions` (KIP-1313), else as Kafka derives it."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from kiplint.versions import VersionRange, boundaries

if TYPE_CHECKING:
    from kiplint.model.message import Message

OLDEST_HEADER_REQUEST = "ControlledShutdownRequest"
HEADERLESS_RESPONSE = "ApiVersionsResponse"


def header_of(message: Message, version: int) -> int:
    """The header version of one version of a request or response, -1 where the declared map has none.

    Derived: requests have header 2 where they are flexible, else 1 (ControlledShutdown 0 has 0); responses 1 where
    they are flexible, else 0, and ApiVersionsResponse always 0 (KIP-511).
    """
    if message.says_headers:
        known = _stretches(message)
        at = bisect_right(known, version, key=lambda one: one[0]) - 1
        start, end, header = known[at] if at >= 0 else (0, -1, -1)
        return header if start <= version <= end else -1
    return _derived(message, version)


def _derived(message: Message, version: int) -> int:
    flexible = message.flexible.covers(version)
    if message.type == "request":
        return 2 if flexible else 0 if message.name == OLDEST_HEADER_REQUEST and version == 0 else 1
    return 1 if flexible and message.name != HEADERLESS_RESPONSE else 0


def _stretches(message: Message) -> list[tuple[int, int, int]]:
    """First and last version and header of each stretch, lowest first; where entries overlap, the first counts."""
    found: list[tuple[int, int, int]] | None = vars(message).get("_stretches")
    if found is None:
        found = vars(message)["_stretches"] = []
        reached = 0
        for entry in message.header_ranges:
            if entry.versions and entry.versions.highest >= reached:
                found.append((max(entry.versions.lowest, reached), entry.versions.highest, entry.header))
                reached = entry.versions.highest + 1
    return found


def header_map(message: Message) -> tuple[tuple[VersionRange, int], ...]:
    """The header versions of the valid versions, as ranges on which they are constant."""
    ranges = [message.flexible, VersionRange.of(0, 0), *(entry.versions for entry in message.header_ranges)]
    found: list[tuple[VersionRange, int]] = []
    for piece in boundaries(ranges, message.valid):
        header = header_of(message, piece.lowest)
        if found and found[-1][1] == header:
            found[-1] = (found[-1][0] | piece, header)
        else:
            found.append((piece, header))
    return tuple(found)


def to_declare(message: Message) -> str:
    """The `headerVersions` of a request or response, as JSON: what is derived without them, from version 0 on."""
    if not message.is_rpc or not message.valid:
        return "{}"
    found: list[tuple[int, int]] = []
    for piece in boundaries([message.flexible, VersionRange.of(0, 0)], VersionRange.of(0)):
        header = _derived(message, piece.lowest)
        if not found or found[-1][1] != header:
            found.append((piece.lowest, header))
    ends = [start - 1 for start, _ in found[1:]]
    keys = [_key(start, end) for (start, _), end in zip(found, [*ends, None], strict=True)]
    return "{" + ", ".join(f'"{key}": "{header}"' for key, (_, header) in zip(keys, found, strict=True)) + "}"


def _key(start: int, end: int | None) -> str:
    return f"{start}+" if end is None else str(start) if start == end else f"{start}-{end}"
