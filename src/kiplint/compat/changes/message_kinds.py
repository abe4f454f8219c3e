"""The kinds of changes that messages have as wholes: versions, key, type, headers."""

from __future__ import annotations

from typing import Annotated, ClassVar

from kiplint.compat.changes.change import Change, Side, Spot
from kiplint.compat.changes.slots import shown_layout
from kiplint.model.fact import fact
from kiplint.model.header_map import header_map, header_of
from kiplint.model.layout import layout
from kiplint.model.message import Message
from kiplint.versions import NONE, VersionRange


class MessageRemoved(Change, frozen=True, dict=True):
    """A message is gone."""

    left: Annotated[str, "The other half of the RPC, where it goes on alone; else empty."] = ""


class NewMessage(Change, frozen=True, dict=True):
    """A message is new."""


class Reworded(Change, frozen=True, dict=True):
    """A property of a message has another value."""

    attribute: ClassVar[str]

    @fact
    def was(self) -> str:
        """The property in the old set."""
        return _told(self.messages[0], self.attribute)

    @fact
    def now(self) -> str:
        """The property in the new set; empty where it is gone."""
        return _told(self.messages[1], self.attribute)

    @property
    def old(self) -> Side:
        """The property in the old set."""
        return {self.wanted: getattr(self.messages[0], self.attribute)}

    @property
    def new(self) -> Side:
        """The property in the new set."""
        return {self.wanted: getattr(self.messages[1], self.attribute)}


class MessageRenamed(Reworded, frozen=True, dict=True):
    """A message has another name."""

    wanted, attribute = "name", "name"


class TypeChanged(Reworded, frozen=True, dict=True):
    """A message is of another type."""

    wanted, attribute = "type", "type"


class ApiKeyChanged(Reworded, frozen=True, dict=True):
    """A message has another API key, or none."""

    wanted, attribute = "apiKey", "api_key"


class RecordTypeMoved(Change, frozen=True, dict=True):
    """A record type's number was the version of its key, and is its API key now (KAFKA-17593)."""

    wanted = "apiKey"

    @property
    def old(self) -> Side:
        """The layout of the version that was the record type."""
        return _layout(self.messages[0], self.versions.lowest)

    @property
    def new(self) -> Side:
        """The layout of the key now."""
        return _layout(self.messages[1], self.message.valid.lowest)


class Ranged(Change, frozen=True, dict=True):
    """A change of the valid versions."""

    wanted = "validVersions"

    @property
    def old(self) -> Side:
        """The valid versions in the old set."""
        return _valid(self.messages[0])

    @property
    def new(self) -> Side:
        """The valid versions in the new set."""
        return _valid(self.messages[1])


class VersionDropped(Ranged, frozen=True, dict=True):
    """Released versions are no longer valid."""

    held: Annotated[VersionRange, "Those of them that the other half of the RPC still has."] = NONE

    @fact
    def other(self) -> str:
        """The other half of the RPC: request or response."""
        return "request" if self.message.type == "response" else "response"


class NewVersion(Ranged, frozen=True, dict=True):
    """Versions are valid that were not."""

    again: Annotated[bool, "Whether they are lower than the highest that was valid, and so come back."] = False

    @fact
    def new_header(self) -> int:
        """The header version of the highest of them, where the version before them has another; else -1."""
        return header_of(self.message, self.versions.highest) if self.header_from >= 0 else -1

    @fact
    def header_from(self) -> int:
        """The lowest of them from which on the header version is another than before them; -1 if it never is."""
        if not self._before or not self.message.is_rpc:
            return -1
        highest = header_of(self.message, self.versions.highest)
        if highest in (-1, header_of(self.message, self.versions.lowest - 1)):
            return -1
        return next(held for held, header in header_map(self.message) if header == highest).lowest

    @fact
    def first_flexible(self) -> int:
        """The first flexible version, where it is one of them and not the first of all; else -1."""
        lowest = self.message.flexible.lowest if self._before and self.message.flexible else -1
        return lowest if self.versions.covers(lowest) else -1

    @fact
    def ended(self) -> tuple[str, ...]:
        """The outermost fields of the version before them that the highest of them has no more."""
        before, now = self.versions.lowest - 1, self.versions.highest
        fields = self.message.fields if self._before else ()
        return tuple(one.name for one in fields if one.versions.covers(before) and not one.versions.covers(now))

    @property
    def _before(self) -> VersionRange:
        """The version before the lowest of them, if both sets have it."""
        was, version = self.messages[0], self.versions.lowest - 1
        return was.valid & self.message.valid & VersionRange.of(version, version) if was and version >= 0 else NONE


class GapInVersions(Ranged, frozen=True, dict=True):
    """The old versions and the new ones do not meet."""


class ReleasedUnstable(Change, frozen=True, dict=True):
    """A released version was declared unstable."""

    wanted = "latestVersionUnstable"


class FrozenBumped(Change, frozen=True, dict=True):
    """A request or response got versions; its rule knows the RPCs that must not."""

    wanted = "validVersions"


class ResponseNotBumped(Change, frozen=True, dict=True):
    """One half of an RPC lacks versions that the other half was bumped to."""

    wanted = "validVersions"

    @fact
    def other(self) -> str:
        """The half that was bumped: request or response."""
        return "request" if self.message.type == "response" else "response"

    @property
    def closer(self) -> str:
        """Which half was not bumped."""
        return f"{self.message.type}-not-bumped"


class UnstableChanged(Change, frozen=True, dict=True):
    """A version that was unstable has other bytes, or another header."""

    @property
    def place(self) -> Spot | None:
        """At the valid versions, where it may have become stable."""
        return Spot(self.message.file, "", "validVersions")

    @property
    def old(self) -> Side:
        """The layout in the old set."""
        return _layout(self.messages[0], self.versions.lowest)

    @property
    def new(self) -> Side:
        """The layout in the new set."""
        return _layout(self.messages[1], self.versions.lowest)


class HeaderChanged(Change, frozen=True, dict=True):
    """Released versions have another header."""

    wanted = "headerVersions"
    old_headers: Annotated[tuple[int, ...], "The header versions in the old set, from the lowest version on."] = ()
    new_header: Annotated[int, "The header version in the new set."] = -1

    @fact
    def old_header(self) -> int:
        """The header version of the lowest version in the old set."""
        return self.old_headers[0]

    @property
    def old(self) -> Side:
        """The header version in the old set, of the lowest version; all of them, if there are several."""
        several = {"headers": [*self.old_headers]} if len(self.old_headers) > 1 else {}
        return {"header": self.old_header, **several}

    @property
    def new(self) -> Side:
        """The header version in the new set."""
        return {"header": self.new_header}


def _told(message: Message | None, attribute: str) -> str:
    value = getattr(message, attribute)
    return "" if value is None else str(value)


def _valid(message: Message | None) -> Side:
    return {"validVersions": str(message.valid)} if message else {}


def _layout(message: Message | None, version: int) -> Side:
    return {"layout": shown_layout(layout(message, version))} if message else {}
