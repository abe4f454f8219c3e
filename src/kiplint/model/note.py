"""A note: what a comment tells of the history of a message, and every fact about it that a rule may use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kiplint.model.fact import fact, set_fact
from kiplint.model.note_text import (
    Named,
    Statement,
    about_of,
    like_of,
    names_of,
    statements,
    verb_of,
)
from kiplint.model.notes import read_versions
from kiplint.model.remarks import Spoken
from kiplint.versions import VersionRange

if TYPE_CHECKING:
    from kiplint.model.field import Field
    from kiplint.model.message import Message


class Note(Spoken):
    """One sentence about versions, or one item of a list of errors."""

    def __init__(self, said: Statement, message: Message, twin: bool) -> None:
        super().__init__(message, said.start, said.end)
        self.said = said
        self._twin = twin

    @fact
    def versions(self) -> VersionRange:
        """The versions that the note tells of."""
        return read_versions(self.said.versions)

    @fact
    def verb(self) -> str:
        """What it tells: adds, removes, same, flexible, other; returns for an item of a list of errors."""
        return "returns" if self.said.error else verb_of(self.said.rest)

    @fact
    def error(self) -> str:
        """The error, for an item of a list of errors; else empty."""
        return self.said.error

    @fact
    def _named(self) -> tuple[Named, ...]:
        return names_of(self.said.rest)

    @fact
    def names(self) -> tuple[str, ...]:
        """The names that it adds; the error, for an item of a list."""
        return (self.said.error,) if self.said.error else tuple(one.name for one in self._named)

    @fact
    def text(self) -> str:
        """What it says."""
        return " ".join(self.said.text.split())

    @fact
    def place(self) -> int:
        """The line of the file that it begins on."""
        return self._message.data.count(b"\n", 0, self.said.start) + 1

    @fact
    def like(self) -> int:
        """The version that it says these are the same as, or -1."""
        return like_of(self.said.rest)

    @fact
    def is_repeated(self) -> bool:
        """Whether its error stands in the same list already."""
        return self._twin

    @set_fact
    def foreign_message(self) -> str:
        """The message of another RPC that it says it is about, as in `Version 2 of FetchRequest`; else empty."""
        about = about_of(self.said.rest)
        own = self._message.base_name.lower()
        return "" if about.lower().removesuffix("request").removesuffix("response") == own else about

    @set_fact
    def _by_name(self) -> dict[str, list[Field]]:
        return self._message.fields_of_both_halves

    @set_fact
    def stray_names(self) -> tuple[str, ...]:
        """The fields that it adds, and that neither the message nor the other half of its RPC has."""
        if not self._named:
            return ()
        known = self._by_name
        types = {field.element_type for fields in known.values() for field in fields}
        messages = self._message.schemas.by_name
        if any(word in messages and word != self._message.name for word in re.findall(r"\w+", self.said.text)):
            return ()  # it may well be a field of that message
        return tuple(
            one.name for one in self._named if one.sure and one.name.lower() not in known and one.name not in types
        )

    @set_fact
    def misplaced(self) -> tuple[Field, ...]:
        """The fields that it adds, but that begin in other versions, in the message and in the other half."""
        found = []
        for one in self._named:
            fields = self._by_name.get(one.name.lower(), [])
            if fields and not any(self.versions.covers(start) for field in fields for start in _starts(field)):
                found.append(fields[0])
        return tuple(found)

    @set_fact
    def recased(self) -> tuple[str, ...]:
        """The names that it adds in another case than the field has."""
        return tuple(
            one.name
            for one in self._named
            if (fields := self._by_name.get(one.name.lower())) and all(field.name != one.name for field in fields)
        )

    @set_fact
    def right_case(self) -> str:
        """The first of these names as the field has it, or empty."""
        return self._by_name[self.recased[0].lower()][0].name if self.recased else ""


def _starts(field: Field) -> Iterator[int]:
    """Where a field, or a change of it, begins: no sooner than its struct."""
    begin = field.versions.lowest if field.top_level else max(field.versions.lowest, field.owner.versions.lowest)
    yield begin
    for part in (field.tagged, field.nullable):
        if part:
            yield max(begin, part.lowest)


def notes_of(message: Message) -> Iterator[Note]:
    """The notes of a message's file, in order."""
    for paragraph in message.paragraphs:
        seen: set[str] = set()
        for said in statements(paragraph):
            yield Note(said, message, bool(said.error) and said.error in seen)
            seen.add(said.error)
