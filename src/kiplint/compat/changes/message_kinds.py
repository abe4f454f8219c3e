"""The kinds of changes that messages have as wholes: versions, key, type, headers."""

from __future__ import annotations

from typing import Annotated, ClassVar

from kiplint.compat.changes.change import Change, Side
from kiplint.compat.changes.slots import shown_layout
from kiplint.model.fact import fact
from kiplint.model.layout import layout
from kiplint.model.message import Message


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


class NewVersion(Ranged, frozen=True, dict=True):
    """Versions are valid that were not."""

    again: Annotated[bool, "Whether they are lower than the highest that was valid, and so come back."] = False


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


class HeaderChanged(Change, frozen=True, dict=True):
    """Released versions have another header."""

    wanted = "headerVersions"
    old_header: Annotated[int, "The header version in the old set."] = -1
    new_header: Annotated[int, "The header version in the new set."] = -1

    @property
    def old(self) -> Side:
        """The header version in the old set."""
        return {"header": self.old_header}

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
