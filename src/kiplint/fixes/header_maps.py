"""The text of `headerVersions` (KIP-1313): derived from flexibleVersions, and led on to a new version."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kiplint.fixes.draft import Draft
from kiplint.model.header_map import HEADERLESS_RESPONSE, OLDEST_HEADER_REQUEST
from kiplint.model.message import Message
from kiplint.versions import ALL, VersionRange, boundaries

HeaderMap = tuple[tuple[VersionRange, int], ...]
API_VERSIONS = 18


def derived_map(message: Message, flexible: VersionRange | None = None) -> HeaderMap:
    """The header of every version from 0 on, as Kafka derives it from flexibleVersions, the last range open.

    Retired versions are in the map too, and those to come: the map tells the whole history.
    """
    flexible = message.flexible if flexible is None else flexible
    pieces = ((piece, _derived(message, piece.lowest, flexible)) for piece in boundaries(_cuts(message, flexible), ALL))
    return joined(tuple(pieces))


def led_on(entries: HeaderMap, version: int, header: int) -> HeaderMap:
    """The map in which all versions from `version` on have `header`; the same when they have it already."""
    if any(versions.covers(version) and versions.open and old == header for versions, old in entries):
        return entries
    new = VersionRange.of(version)
    return (*((piece - new, old) for piece, old in entries if piece - new), (new, header))


def joined(entries: HeaderMap) -> HeaderMap:
    """The map with neighbours of one header made one."""
    found: list[tuple[VersionRange, int]] = []
    for versions, header in entries:
        if found and found[-1][1] == header:
            found[-1] = (found[-1][0] | versions, header)
        else:
            found.append((versions, header))
    return tuple(found)


def declared_map(message: Message) -> HeaderMap | None:
    """The map as declared; None when it is not whole: unreadable, with gaps, overlaps or a closed end."""
    entries = message.header_ranges
    whole = entries and all(one.header >= 0 and len(one.versions.parts) == 1 for one in entries)
    if not whole or entries[0].versions.lowest != 0 or not entries[-1].versions.open:
        return None
    if any(two.versions.lowest != one.versions.highest + 1 for one, two in pairwise(entries)):
        return None
    return tuple((one.versions, one.header) for one in entries)


def map_text(entries: HeaderMap, unit: str = "  ") -> str:
    """The map as JSON, a range a line, to be indented like its property."""
    lines = [f'{unit}"{versions}": "{header}"' for versions, header in entries]
    return "{\n" + ",\n".join(lines) + "\n}"


def declare(draft: Draft, entries: HeaderMap) -> None:
    """Give the message of a draft the map; a map that it has is led on entry by entry, and keeps its comments."""
    before = draft.message.header_ranges
    if not draft.message.says_headers or not before:
        draft.put("headerVersions", map_text(entries, draft.document.indent_unit))
        return
    wanted = dict(_starts(entries))
    there = {one.versions.lowest: one for one in before}
    for lowest, (versions, header) in wanted.items():
        entry = there.get(lowest)
        if entry is None:
            draft.insert("/headerVersions", str(versions), f'"{header}"')
            continue
        if entry.versions != versions:
            draft.rename(entry.pointer, str(versions))
        if entry.header != header:
            draft.replace(entry.pointer, f'"{header}"')


def _starts(entries: HeaderMap) -> Sequence[tuple[int, tuple[VersionRange, int]]]:
    return [(versions.lowest, (versions, header)) for versions, header in entries]


def _cuts(message: Message, flexible: VersionRange) -> list[VersionRange]:
    return [flexible, VersionRange.of(0, 0)] if message.name == OLDEST_HEADER_REQUEST else [flexible]


def _derived(message: Message, version: int, flexible: VersionRange) -> int:
    if message.type == "request":
        old = message.name == OLDEST_HEADER_REQUEST and version == 0
        return 2 if flexible.covers(version) else 0 if old else 1
    headerless = message.name == HEADERLESS_RESPONSE or message.api_key == API_VERSIONS
    return 1 if flexible.covers(version) and not headerless else 0
