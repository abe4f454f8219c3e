"""The text of `headerVersions` (KIP-1313): as declared, and led on to a new version."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from kiplint.fixes.draft import Draft
from kiplint.model.header_map import HeaderMap
from kiplint.model.message import Message
from kiplint.versions import VersionRange


def led_on(entries: HeaderMap, version: int, header: int) -> HeaderMap:
    """The map in which all versions from `version` on have `header`; the same when they have it already."""
    if any(versions.covers(version) and versions.open and old == header for versions, old in entries):
        return entries
    new = VersionRange.of(version)
    return (*((piece - new, old) for piece, old in entries if piece - new), (new, header))


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
