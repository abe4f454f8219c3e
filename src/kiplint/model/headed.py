"""The headers of a message: its `headerVersions` (KIP-1313)."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kiplint.model.element import given
from kiplint.model.fact import fact, set_fact
from kiplint.model.header import HeaderRange
from kiplint.model.header_map import to_declare
from kiplint.model.told import ToldMessage

if TYPE_CHECKING:
    from kiplint.model.message import Message


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
        """Whether every key of `headerVersions` is a range, none is given twice, and none overlaps another."""
        entries = self.header_ranges
        return not self.repeats_headers and not any(entry.key_problem or entry.overlap for entry in entries)

    @fact
    def repeats_headers(self) -> bool:
        """Whether a key of `headerVersions` is given twice, of which readers keep one."""
        noted = self._message.noted
        return any(one.kind == "duplicate-key" and one.pointer.startswith("/headerVersions") for one in noted)

    @fact
    def highest_header(self) -> int:
        """The header version that the highest valid version uses, -1 when not declared."""
        matching = [entry.header for entry in self.header_ranges if entry.versions.covers(self._message.valid.highest)]
        return matching[-1] if matching and self._message.valid else -1
