"""One difference between two schema sets: a value with facts, of which its rule and the changelog write sentences."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, ClassVar, NamedTuple

import msgspec

from kiplint.compat.changes.pairing import MessagePair
from kiplint.model.element import given
from kiplint.model.fact import fact
from kiplint.model.message import Message
from kiplint.versions import NONE, VersionRange

RECORDS = ("metadata", "data", "coordinator-key", "coordinator-value")
Side = Mapping[str, object]
"""What the JSON output tells of one side of a change, by property."""


class Spot(NamedTuple):
    """Where to look in one of the two trees: the file, a JSON pointer, and the property wanted there."""

    file: str
    pointer: str = ""
    wanted: str = ""


@cache
def name_of(kind: type[Change]) -> str:
    """The name of a kind of change, which its rule has too: `layout-changed` for `LayoutChanged`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()


class Change(msgspec.Struct, frozen=True, dict=True):
    """One difference. Each kind is a class below this one, and its name is the class's name in words."""

    messages: MessagePair
    versions: Annotated[VersionRange, "The versions that the change is about."] = NONE
    wanted: ClassVar[str] = ""

    @fact
    def name(self) -> str:
        """The change in the words of the compat pack, such as `layout-changed`."""
        return name_of(type(self))

    @fact
    def kind(self) -> str:
        """The change more closely, such as `field-removed`."""
        return self.closer or self.name

    @fact
    def message(self) -> Message:
        """The message in the new set; in the old one where it was removed."""
        found = self.messages[1] or self.messages[0]
        assert found is not None
        return found

    @fact
    def former(self) -> Message | None:
        """The message in the old set; None where it is new."""
        return self.messages[0]

    @fact
    def message_name(self) -> str:
        """The message's name."""
        return self.message.name

    @fact
    def message_type(self) -> str:
        """The message's type."""
        return self.message.type

    @fact
    def is_record(self) -> bool:
        """Whether the message is kept on disk, so that what breaks bytes breaks storage."""
        return self.message.type in RECORDS

    @fact
    def is_early(self) -> bool:
        """Whether a comment of the old file says that the message may still change incompatibly."""
        return self.former is not None and self.former._in_flux

    @fact
    def field(self) -> str:
        """The field's path, names joined by dots; empty for a change of the whole message."""
        return ""

    @fact
    def header(self) -> int:
        """For a change of headers: the header version now; else -1."""
        found = self.new.get("header")
        return found if isinstance(found, int) else -1

    @fact
    def default(self) -> str:
        """The field's default in the new set, as written, or empty."""
        return str(given(self.new.get("default"), ""))

    @property
    def closer(self) -> str:
        """The kind, where it says more than the name; else empty."""
        return ""

    @property
    def place(self) -> Spot | None:
        """Where it is in the new tree; None where the message is gone."""
        return Spot(self.messages[1].file, "", self.wanted) if self.messages[1] else None

    @property
    def before(self) -> Spot | None:
        """Where it was in the old tree; None where that is not known."""
        return Spot(self.messages[0].file, "", self.wanted) if self.messages[0] else None

    @property
    def old(self) -> Side:
        """What the JSON output tells of the old side."""
        return {}

    @property
    def new(self) -> Side:
        """What the JSON output tells of the new side."""
        return {}
