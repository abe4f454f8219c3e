"""The headers of a message: its `headerVersions` (KIP-1313)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from kiplint.model.element import given
from kiplint.model.fact import fact, set_fact
from kiplint.model.header import HeaderRange
from kiplint.model.header_map import to_declare
from kiplint.model.told import ToldMessage

if TYPE_CHECKING:
    from kiplint.model.message import Message


_SPOILT: Final = frozenset({"duplicate-key", "wrong-type"})
"""What the reader notes of a map, or of an entry, that it leaves out."""


class HeadedMessage(ToldMessage):
    """The part of a message that is about what goes in front of it."""

    @property
    def _message(self) -> Message:
        return cast("Message", self)

    @fact
    def says_headers(self) -> bool:
        """Whether `headerVersions` is given, even empty."""
        return isinstance(self._message.spec.header_versions, dict)

    @fact
    def header_ranges(self) -> tuple[HeaderRange, ...]:
        """The entries of `headerVersions`, lowest versions first."""
        declared = given(self._message.spec.header_versions, {})
        entries = [HeaderRange(key, value, self._message) for key, value in declared.items()]
        entries.sort(key=lambda entry: (entry.versions.lowest, entry.versions.highest))
        for index, entry in enumerate(entries):
            entry.index = index
        return tuple(entries)

    @set_fact
    def leads_headerless(self) -> bool:
        """Whether it is the first of the set's live requests and responses without a header map."""
        return self._message.schemas.headerless[:1] == (self._message,)

    @fact
    def headers_to_declare(self) -> str:
        """The `headerVersions` that say what Kafka derives without them, as JSON."""
        return to_declare(self._message)

    @fact
    def furthest_headers(self) -> tuple[HeaderRange | None, ...]:
        """For each entry of `headerVersions`: of those before it the one that reaches furthest, or None."""
        found: list[HeaderRange | None] = []
        furthest: HeaderRange | None = None
        for entry in self.header_ranges:
            found.append(furthest)
            if entry.versions and (furthest is None or entry.versions.highest > furthest.versions.highest):
                furthest = entry
        return tuple(found)

    @fact
    def reads_headers(self) -> bool:
        """Whether every entry of `headerVersions` can be read: each key is a range, and none is given twice."""
        return not self.spoils_headers and not any(entry.key_problem for entry in self.header_ranges)

    @fact
    def spoils_headers(self) -> bool:
        """Whether `headerVersions` has what is no entry, or one twice, of which readers keep one."""
        return any(one.kind in _SPOILT and one.pointer.startswith("/headerVersions") for one in self._message.noted)

    @fact
    def highest_header(self) -> int:
        """The header version that the highest valid version uses, -1 when not declared."""
        matching = [entry.header for entry in self.header_ranges if entry.versions.covers(self._message.valid.highest)]
        return matching[-1] if matching and self._message.valid else -1
