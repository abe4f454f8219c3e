"""Header versions (KIP-1313): the entries of `headerVersions`, and what Kafka derives without them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from kiplint.model.spec import escape, required_range
from kiplint.versions import ALL, NONE, VersionRange, boundaries

if TYPE_CHECKING:
    from kiplint.model.message import Message


_NUMBER = r"0|[1-9][0-9]{0,4}"


class HeaderRange:
    """One entry of `headerVersions` (KIP-1313): a range of message versions and its header version.

    `index` counts the entries in the order of their ranges, not as written.
    """

    key: str
    """The range as written."""
    value: str
    """The header version as written."""
    message: Message
    """The request or response."""

    def __init__(self, key: str, value: str, message: Message, index: int = 0) -> None:
        self.index = index
        self.key = key
        self.value = value
        self.message = message

    @cached_property
    def pointer(self) -> str:
        """The JSON pointer of the entry."""
        return f"/headerVersions/{escape(self.key)}"

    @cached_property
    def versions(self) -> VersionRange:
        """The message versions that the entry covers; none when the key cannot be read."""
        return required_range(self.key, NONE).value

    @cached_property
    def key_problem(self) -> str:
        """What is wrong with the key, or empty."""
        parsed_range = required_range(self.key, NONE)
        problem = parsed_range.problem.replace(', "N+" or "none"', ' or "N+"')
        return problem if parsed_range.value or problem not in ("", 'is written "none"') else "names no version"

    @cached_property
    def header(self) -> int:
        """The header version, -1 when the value cannot be read."""
        number = int(self.value) if re.fullmatch(_NUMBER, self.value) else -1
        return number if number <= 32767 else -1

    @cached_property
    def version_of_header(self) -> VersionRange:
        """The header version as a range of a single version; none when the value is invalid."""
        return VersionRange.of(self.header, self.header) if self.header >= 0 else NONE

    @cached_property
    def live(self) -> VersionRange:
        """The valid versions of the message that the entry covers."""
        return self.versions & self.message.valid

    @cached_property
    def sole(self) -> VersionRange:
        """The valid versions that it covers before the next entry starts and that no earlier entry covers."""
        row = self.message.header_ranges
        upto = self.closed if self.index + 1 < len(row) else self.versions
        return (self.live & upto) - self.overlap

    @cached_property
    def previous(self) -> HeaderRange | None:
        """The entry before this one in the order of versions, or None."""
        return self.message.header_ranges[self.index - 1] if self.index else None

    @cached_property
    def furthest(self) -> HeaderRange | None:
        """The entry before this one that reaches furthest, or None."""
        return self.message.furthest_headers[self.index]

    @cached_property
    def closed(self) -> VersionRange:
        """The versions from the entry's lowest up to where the next entry starts; none when it starts there too."""
        later = self.message.header_ranges[self.index + 1 : self.index + 2]
        start = later[0].versions.lowest if later and later[0].versions else 0
        return VersionRange.of(self.versions.lowest, start - 1) if self.versions.lowest < start else NONE

    @cached_property
    def gap(self) -> VersionRange:
        """The versions right before this entry that no entry covers, though an earlier entry has lower versions."""
        before = self.furthest
        if before is None or not self.versions or before.versions.highest >= self.versions.lowest:
            return NONE
        return VersionRange.of(before.versions.highest + 1, self.versions.lowest - 1)

    @cached_property
    def overlap(self) -> VersionRange:
        """The versions that an earlier entry covers too."""
        before = self.furthest
        if before is None or not self.versions or before.versions.highest < self.versions.lowest:
            return NONE
        return self.versions & VersionRange.of(self.versions.lowest, before.versions.highest)

    @cached_property
    def header_message(self) -> Message | None:
        """RequestHeader or ResponseHeader of the same set, whichever the message uses; None if absent or unreadable."""
        name = "RequestHeader" if self.message.type == "request" else "ResponseHeader"
        header = self.message.schemas.by_name.get(name)
        return None if header and (header.valid_problem or header.flexible_problem) else header


CONTROLLED_SHUTDOWN, API_VERSIONS = 7, 18
"""The API keys with headers of their own, as Kafka's generator has them."""
WITH_INSTANCE_ID = 3
"""The first request header with ClientInstanceId (KIP-1313, "Request Header")."""

HeaderMap = tuple[tuple[VersionRange, int], ...]
"""Ranges of versions, lowest first, and the header that goes in front of them."""


def header_of(message: Message, version: int) -> int:
    """The header version of a version of a request or response, -1 where the declared map has none.

    Derived: requests have header 2 where they are flexible, else 1 (ControlledShutdown 0 has 0); responses 1 where
    they are flexible, else 0, and responses of ApiVersions always use 0 (KIP-511).
    """
    if message.declares_headers:
        ranges = message.header_bounds
        at = bisect_right(ranges, version, key=lambda bounds: bounds[0]) - 1
        start, end, header = ranges[at] if at >= 0 else (0, -1, -1)
        return header if start <= version <= end else -1
    return derived_header(message, version)


def derived_header(message: Message, version: int, flexible: VersionRange | None = None) -> int:
    """The header version that Kafka derives for a version, by the message's flexible versions or the passed ones."""
    flexible = message.flexible if flexible is None else flexible
    if message.type == "request":
        oldest = message.api_key == CONTROLLED_SHUTDOWN and version == 0
        return 2 if version in flexible else 0 if oldest else 1
    return 1 if version in flexible and message.api_key != API_VERSIONS else 0


def header_map(message: Message) -> HeaderMap:
    """The header versions of the valid versions, as ranges on which they are constant."""
    ranges = [message.flexible, VersionRange.of(0, 0), *(entry.versions for entry in message.header_ranges)]
    return merge_ranges((part, header_of(message, part.lowest)) for part in boundaries(ranges, message.valid))


def derived_map(message: Message, flexible: VersionRange | None = None) -> HeaderMap:
    """The header of every version from 0 on, as Kafka derives it from flexibleVersions, the last range open.

    Retired versions are in the map too, and those to come: the map is the whole history. `flexible` is for a message
    that is to have other flexible versions.
    """
    flexible = message.flexible if flexible is None else flexible
    parts = boundaries([flexible, VersionRange.of(0, 0)], ALL)
    return merge_ranges((part, derived_header(message, part.lowest, flexible)) for part in parts)


def merge_ranges(entries: Iterable[tuple[VersionRange, int]]) -> HeaderMap:
    """The map with adjacent ranges of the same header merged."""
    merged_entries: list[tuple[VersionRange, int]] = []
    for versions, header in entries:
        if merged_entries and merged_entries[-1][1] == header:
            merged_entries[-1] = (merged_entries[-1][0] | versions, header)
        else:
            merged_entries.append((versions, header))
    return tuple(merged_entries)
