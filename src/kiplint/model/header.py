"""One entry of `headerVersions` (KIP-1313): a range of message versions and its header version."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kiplint.model.element import Ranged, escape, required_range
from kiplint.model.fact import fact, set_fact
from kiplint.versions import NONE, VersionRange

if TYPE_CHECKING:
    from kiplint.model.message import Message

_NUMBER = r"[+-]?[0-9]{1,5}"


class HeaderRange:
    """One entry. `index` counts the entries in the order of their ranges, not as written."""

    def __init__(self, key: str, value: str, message: Message, index: int = 0) -> None:
        self.index = index
        self._key = key
        self._value = value
        self._message = message

    @fact
    def key(self) -> str:
        """The range as written."""
        return self._key

    @fact
    def value(self) -> str:
        """The header version as written."""
        return self._value

    @fact
    def message(self) -> Message:
        """The request or response."""
        return self._message

    @fact
    def pointer(self) -> str:
        """The JSON pointer of the entry."""
        return f"/headerVersions/{escape(self.key)}"

    @fact
    def _versions(self) -> Ranged:
        ranged = required_range(self.key, NONE)
        return ranged if ranged.problem or ranged.value else Ranged(NONE, "names no version")

    @fact
    def versions(self) -> VersionRange:
        """The message versions that the entry covers; none when the key cannot be read."""
        return self._versions.value

    @fact
    def key_problem(self) -> str:
        """What is wrong with the key, or empty."""
        problem = self._versions.problem.replace(', "N+" or "none"', ' or "N+"')
        return "names no version" if problem == 'is written "none"' else problem

    @fact
    def header(self) -> int:
        """The header version, -1 when the value cannot be read."""
        text = self.value.strip()
        number = int(text) if re.fullmatch(_NUMBER, text) else -1
        return number if 0 <= number <= 32767 else -1

    @fact
    def version_of_header(self) -> VersionRange:
        """The header version as a range of that one version; none when the value cannot be read."""
        return VersionRange.of(self.header, self.header) if self.header >= 0 else NONE

    @fact
    def live(self) -> VersionRange:
        """The valid versions of the message that the entry covers."""
        return self.versions & self.message.valid

    @fact
    def sole(self) -> VersionRange:
        """The valid versions that it covers before the next entry starts, without those of earlier entries."""
        row = self.message.header_ranges
        upto = self.closed if self.index + 1 < len(row) else self.versions
        return (self.live & upto) - self.overlap

    @fact
    def previous(self) -> HeaderRange | None:
        """The entry before this one in the order of versions, or None."""
        return self.message.header_ranges[self.index - 1] if self.index else None

    @fact
    def furthest(self) -> HeaderRange | None:
        """Of the entries before this one the one that reaches furthest, or None."""
        return self.message.furthest_headers[self.index]

    @fact
    def is_first(self) -> bool:
        """Whether the entry has the lowest versions."""
        return self.index == 0

    @fact
    def is_last(self) -> bool:
        """Whether the entry has the highest versions."""
        return self.index == len(self.message.header_ranges) - 1

    @fact
    def closed(self) -> VersionRange:
        """The versions from the entry's lowest up to where the next entry starts; none when it starts there too."""
        later = self.message.header_ranges[self.index + 1 : self.index + 2]
        start = later[0].versions.lowest if later and later[0].versions else 0
        return VersionRange.of(self.versions.lowest, start - 1) if self.versions.lowest < start else NONE

    @fact
    def gap(self) -> VersionRange:
        """The versions right before this entry that no entry covers, though an earlier one has lower ones."""
        before = self.furthest
        if before is None or not self.versions or before.versions.highest >= self.versions.lowest:
            return NONE
        return VersionRange.of(before.versions.highest + 1, self.versions.lowest - 1)

    @fact
    def overlap(self) -> VersionRange:
        """The versions that an earlier entry covers too."""
        before = self.furthest
        if before is None or not self.versions or before.versions.highest < self.versions.lowest:
            return NONE
        return self.versions & VersionRange.of(self.versions.lowest, before.versions.highest)

    @set_fact
    def header_message(self) -> Message | None:
        """RequestHeader or ResponseHeader of the same set, whichever the message uses; None if absent or unreadable."""
        schemas = self.message.schemas
        found = schemas.request_header if self.message.type == "request" else schemas.response_header
        return None if found and (found.valid_problem or found.flexible_problem) else found
