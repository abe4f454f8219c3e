"""Which header goes in front of which version: declared by `headerVersions` (KIP-1313), else as Kafka derives it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING

from kiplint.versions import ALL, VersionRange, boundaries

if TYPE_CHECKING:
    from kiplint.model.message import Message

CONTROLLED_SHUTDOWN, API_VERSIONS = 7, 18
"""The API keys with headers of their own, as Kafka's generator has them."""

HeaderMap = tuple[tuple[VersionRange, int], ...]
"""Ranges of versions, lowest first, and the header that goes in front of them."""


def header_of(message: Message, version: int) -> int:
    """The header version of one version of a request or response, -1 where the declared map has none.

    Derived: requests have header 2 where they are flexible, else 1 (ControlledShutdown 0 has 0); responses 1 where
    they are flexible, else 0, and those of ApiVersions always 0 (KIP-511).
    """
    if message.says_headers:
        known = _stretches(message)
        at = bisect_right(known, version, key=lambda one: one[0]) - 1
        start, end, header = known[at] if at >= 0 else (0, -1, -1)
        return header if start <= version <= end else -1
    return derived_header(message, version)


def derived_header(message: Message, version: int, flexible: VersionRange | None = None) -> int:
    """The header version that Kafka derives for one version, by the flexible versions, or by others."""
    flexible = message.flexible if flexible is None else flexible
    if message.type == "request":
        oldest = message.api_key == CONTROLLED_SHUTDOWN and version == 0
        return 2 if flexible.covers(version) else 0 if oldest else 1
    return 1 if flexible.covers(version) and message.api_key != API_VERSIONS else 0


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


def header_map(message: Message) -> HeaderMap:
    """The header versions of the valid versions, as ranges on which they are constant."""
    ranges = [message.flexible, VersionRange.of(0, 0), *(entry.versions for entry in message.header_ranges)]
    return joined((piece, header_of(message, piece.lowest)) for piece in boundaries(ranges, message.valid))


def derived_map(message: Message, flexible: VersionRange | None = None) -> HeaderMap:
    """The header of every version from 0 on, as Kafka derives it from flexibleVersions, the last range open.

    Retired versions are in the map too, and those to come: the map tells the whole history. `flexible` is for a message
    that is to have other flexible versions.
    """
    flexible = message.flexible if flexible is None else flexible
    pieces = boundaries([flexible, VersionRange.of(0, 0)], ALL)
    return joined((piece, derived_header(message, piece.lowest, flexible)) for piece in pieces)


def joined(entries: Iterable[tuple[VersionRange, int]]) -> HeaderMap:
    """The map with neighbours of one header made one."""
    found: list[tuple[VersionRange, int]] = []
    for versions, header in entries:
        if found and found[-1][1] == header:
            found[-1] = (found[-1][0] | versions, header)
        else:
            found.append((versions, header))
    return tuple(found)


def to_declare(message: Message) -> str:
    """The `headerVersions` of a request or response, as JSON on one line; empty for what has no header."""
    entries = derived_map(message) if message.is_rpc and message.valid else ()
    return "{" + ", ".join(f'"{versions}": "{header}"' for versions, header in entries) + "}"
