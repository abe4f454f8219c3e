"""One difference between two schema sets, and what it breaks."""

from __future__ import annotations

from collections.abc import Mapping

from kiplint.engine.language import register
from kiplint.model.element import given
from kiplint.model.fact import fact
from kiplint.model.message import Message
from kiplint.versions import NONE, VersionRange

RECORDS = ("metadata", "data", "coordinator-key", "coordinator-value")


class Place:
    """A place in one of the two trees: the file, a JSON pointer, and the property wanted there."""

    def __init__(self, file: str, pointer: str = "", wanted: str = "") -> None:
        self.file = file
        self.pointer = pointer
        self.wanted = wanted


class Change:
    """One difference. `place` is in the new tree, `before` where it was in the old one; either may be None."""

    def __init__(
        self,
        name: str,
        kind: str,
        message: Message,
        *,
        versions: VersionRange = NONE,
        field: str = "",
        detail: str = "",
        old: Mapping[str, object] | None = None,
        new: Mapping[str, object] | None = None,
        place: Place | None = None,
        before: Place | None = None,
        early: bool = False,
    ) -> None:
        self._name = name
        self._kind = kind
        self._message = message
        self._versions = versions
        self._field = field
        self._detail = detail
        self.old = old or {}
        self.new = new or {}
        self.place = place
        self.before = before
        self._early = early

    @fact
    def name(self) -> str:
        """The change in the words of the compat pack, such as `layout-changed`."""
        return self._name

    @fact
    def kind(self) -> str:
        """The change more closely, such as `field-removed`."""
        return self._kind

    @fact
    def message(self) -> Message:
        """The message in the new set; in the old one where it was removed."""
        return self._message

    @fact
    def message_name(self) -> str:
        """The message's name."""
        return self._message.name

    @fact
    def message_type(self) -> str:
        """The message's type."""
        return self._message.type

    @fact
    def is_record(self) -> bool:
        """Whether the message is kept on disk, so that what breaks bytes breaks storage."""
        return self._message.type in RECORDS

    @fact
    def is_early(self) -> bool:
        """Whether a comment of the old file says that the message may still change incompatibly."""
        return self._early

    @fact
    def versions(self) -> VersionRange:
        """The versions that the change is about."""
        return self._versions

    @fact
    def field(self) -> str:
        """The field's path, names joined by dots; empty for a change of the whole message."""
        return self._field

    @fact
    def detail(self) -> str:
        """What changed, as a sentence."""
        return self._detail

    @fact
    def header(self) -> int:
        """For a change of headers: the header version now; else -1."""
        found = self.new.get("header")
        return found if isinstance(found, int) else -1

    @fact
    def default(self) -> str:
        """The field's default in the new set, as written, or empty."""
        return str(given(self.new.get("default"), ""))


register("change", Change)
