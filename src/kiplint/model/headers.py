"""Header versions (KIP-1313): the entries of `headerVersions`, and what Kafka derives without them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from kiplint.model.rpcs import API_VERSIONS, CONTROLLED_SHUTDOWN
from kiplint.model.spec import escape, required_range, value_or
from kiplint.versions import ALL, MAX_VERSION, NONE, VersionRange, uniform_parts

if TYPE_CHECKING:
    from kiplint.model.message import Message


class HeaderRange:
    """One entry of `headerVersions` (KIP-1313): a range of message versions and its header version."""

    key: str
    """The range as written."""
    value: str
    """The header version as written."""
    message: Message
    """The request or response."""
    pointer: str
    """The JSON pointer of the entry."""
    versions: VersionRange
    """The message versions that the entry covers; none if the key cannot be read."""
    header: int
    """The header version, -1 if the value cannot be read."""
    live: VersionRange
    """The valid versions of the message that the entry covers."""
    previous: HeaderRange | None = None
    """The entry before this one in the order of versions, or None."""
    following: HeaderRange | None = None
    """The entry after this one in the order of versions, or None."""
    furthest: HeaderRange | None = None
    """The entry before this one that reaches furthest, or None."""

    def __init__(self, key: str, value: str, message: Message) -> None:
        self.key = key
        self.value = value
        self.message = message
        self.pointer = f"/headerVersions/{escape(key)}"
        self.versions = required_range(key).value
        is_number = re.fullmatch("0|[1-9][0-9]{0,4}", value) and int(value) <= MAX_VERSION
        self.header = int(value) if is_number else -1
        self.live = self.versions & message.valid

    @cached_property
    def key_problem(self) -> str:
        """What is wrong with the key, or empty; `none`, which other version ranges may be, is wrong here."""
        versions, problem = required_range(self.key)
        if not versions and problem in ("", 'is written "none"'):
            return "names no version"
        return problem.replace(', "N+" or "none"', ' or "N+"')

    @cached_property
    def declared(self) -> VersionRange:
        """The versions that it covers, not above the highest valid one: Kafka's generator judges also those below."""
        return self.versions & VersionRange.of(0, self.message.valid.highest) if self.message.valid else NONE

    @cached_property
    def sole(self) -> VersionRange:
        """The versions, not above the highest valid one, that it covers before the next entry and no earlier one does.

        Versions below the lowest valid one are among them: their header stays in the map.
        """
        before_next = self.closed if self.following else self.versions
        return (self.declared & before_next) - self.overlap

    @cached_property
    def closed(self) -> VersionRange:
        """The versions from the entry's start to just before the next entry's; none for the last entry."""
        if not self.versions or not self.following:
            return NONE
        return VersionRange.of(self.versions.lowest, self.following.versions.lowest - 1)

    @cached_property
    def gap(self) -> VersionRange:
        """The versions between the earlier entry that reaches furthest and this one; none for the first entry."""
        if self.furthest is None:
            return NONE
        return VersionRange.of(self.furthest.versions.highest + 1, self.versions.lowest - 1)

    @cached_property
    def overlap(self) -> VersionRange:
        """The versions that an earlier entry also covers."""
        return self.versions & VersionRange.of(0, self.furthest.versions.highest) if self.furthest else NONE

    @cached_property
    def header_message(self) -> Message | None:
        """The set's RequestHeader for a request, ResponseHeader for a response; None if absent or unreadable."""
        name = "RequestHeader" if self.message.type == "request" else "ResponseHeader"
        message = self.message.schemas.by_name.get(name)
        return None if message and (message.valid_problem or message.flexible_problem) else message

    @cached_property
    def users(self) -> int:
        """The number of messages of this type in the set that declare this header for a valid version."""
        return self.message.schemas.header_users.get((self.message.type, self.header), 0)

    @cached_property
    def is_retired(self) -> bool:
        """Whether it is request header 0, which only version 0 of ControlledShutdown used."""
        if self.message.type != "request" or self.header != 0:
            return False
        return self.message.api_key != CONTROLLED_SHUTDOWN or self.declared != VersionRange.of(0, 0)

    @cached_property
    def needs_header(self) -> bool:
        """Whether an RPC declares the header, and the header's message does not explain that it lacks it.

        A RequestHeader of later versions explains that of version 1: it removed it, which is a finding of its own.
        """
        if not self.message.is_rpc or self.header < 0 or not self.declared:
            return False
        is_request_header_1 = self.message.type == "request" and self.header == 1
        return not (is_request_header_1 and self.header_message and self.header_message.valid.highest >= 1)


def header_ranges_of(message: Message) -> tuple[HeaderRange, ...]:
    """The entries of a message's `headerVersions`, lowest versions first, linked to each other."""
    header_versions = value_or(message.spec.header_versions, {})
    entries = [HeaderRange(key, value, message) for key, value in header_versions.items()]
    entries.sort(key=lambda entry: (entry.versions.lowest, entry.versions.highest))
    for previous, entry in pairwise(entries):
        entry.previous = previous
        previous.following = entry
        candidates = [other for other in (previous.furthest, previous) if other and other.versions]
        entry.furthest = max(candidates, key=lambda other: other.versions.highest, default=None)
    return tuple(entries)


HEADER_WITH_ID = 3
"""The first request header with ClientInstanceId (KIP-1313, "Request Header")."""

HeaderMap = tuple[tuple[VersionRange, int], ...]
"""Ranges of versions, lowest first, and the header version of each."""


def header_of(message: Message, version: int) -> int:
    """The header version of a version of a request or response, -1 where its `headerVersions` lack the version."""
    if not message.declares_headers:
        return derived_header(message, version)
    entries = message.effective_header_ranges
    # Each entry reaches further than the one before: this finds the first that reaches the version.
    index = bisect_left(entries, version, key=lambda entry: entry.versions.highest)
    if index == len(entries) or version not in entries[index].versions:
        return -1
    return entries[index].header


def derived_header(message: Message, version: int, flexible: VersionRange | None = None) -> int:
    """The header version that Kafka derives for a version of a request or response without `headerVersions`.

    Requests have header 2 where they are flexible, otherwise 1; responses have header 1 where they are flexible,
    otherwise 0. `flexible` are flexible versions to take instead of the message's own.
    """
    is_flexible = version in (message.flexible if flexible is None else flexible)
    if message.type != "request":
        return 1 if is_flexible and message.api_key != API_VERSIONS else 0  # ApiVersions: KIP-511
    if message.api_key == CONTROLLED_SHUTDOWN and version == 0 and not is_flexible:
        return 0
    return 2 if is_flexible else 1


def header_map(message: Message) -> HeaderMap:
    """The header versions of the valid versions, as ranges on which they are constant."""
    # Version 0 of ControlledShutdown has a header of its own.
    ranges = [message.flexible, VersionRange.of(0, 0), *(entry.versions for entry in message.header_ranges)]
    return _merge((part, header_of(message, part.lowest)) for part in uniform_parts(ranges, message.valid))


def derived_map(message: Message) -> HeaderMap:
    """The header of every version from 0 on, with no end, as Kafka derives it from flexibleVersions.

    Retired versions are in the map too, and those to come: the map is the whole history.
    """
    parts = uniform_parts([message.flexible, VersionRange.of(0, 0)], ALL)  # version 0: ControlledShutdown
    return _merge((part, derived_header(message, part.lowest)) for part in parts)


def _merge(entries: Iterable[tuple[VersionRange, int]]) -> HeaderMap:
    """The map in which successive ranges with the same header are one range."""
    merged: list[tuple[VersionRange, int]] = []
    for versions, header in entries:
        previous_versions, previous_header = merged[-1] if merged else (NONE, None)
        if header == previous_header:
            merged[-1] = (previous_versions | versions, header)
        else:
            merged.append((versions, header))
    return tuple(merged)
