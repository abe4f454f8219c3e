"""What a file tells beside its JSON: its heading, its notes on versions, and its words."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kiplint.model import notes
from kiplint.model.fact import fact, set_fact
from kiplint.model.message_versions import VersionedMessage
from kiplint.model.remarks import Paragraph, heading, paragraphs
from kiplint.versions import NONE, VersionRange

if TYPE_CHECKING:
    from kiplint.model.field import Field
    from kiplint.model.message import Message
    from kiplint.model.note import Note
    from kiplint.model.word import Word


class ToldMessage(VersionedMessage):
    """The part of a message that is about the texts of its file."""

    @property
    def _me(self) -> Message:
        return cast("Message", self)

    @fact
    def paragraphs(self) -> tuple[Paragraph, ...]:
        """The comments behind the heading, those on lines that follow each other together."""
        return tuple(paragraphs(self.data))

    @fact
    def heading(self) -> str:
        """The licence in the comments before the definition."""
        return heading(self.data)

    @set_fact
    def usual_heading(self) -> str:
        """The heading that most files of the set have."""
        return self._me.schemas.usual_heading

    @set_fact
    def has_usual_heading(self) -> bool:
        """Whether the file's heading is the usual one, blanks and line ends aside."""
        return self.heading == self.usual_heading or self.heading.split() == self.usual_heading.split()

    @set_fact
    def heading_likeness(self) -> int:
        """How much of the usual heading the file's own has, in percent."""
        from difflib import SequenceMatcher

        return int(
            100 * SequenceMatcher(None, self.heading.split(), self.usual_heading.split(), autojunk=False).ratio()
        )

    @fact
    def notes(self) -> tuple[Note, ...]:
        """What comments tell of the message's versions, and of the errors that it may return."""
        from kiplint.model.note import notes_of

        return tuple(notes_of(self._me))

    @fact
    def told_versions(self) -> VersionRange:
        """The versions that some comment speaks of."""
        return notes.told_versions(self.data)

    @fact
    def undocumented_version(self) -> int | None:
        """The highest valid version, above 0, when no comment of the file speaks of it; else None."""
        highest = self.valid.highest
        if highest <= 0 or notes.names_plainly(self.data, highest) or self.told_versions.covers(highest):
            return None
        return highest

    @fact
    def untold_versions(self) -> VersionRange:
        """The valid versions between the lowest and the highest that no comment speaks of."""
        valid = self.valid
        if valid.highest - valid.lowest < 2:
            return NONE
        return VersionRange.of(valid.lowest + 1, valid.highest - 1) - self.told_versions & valid

    @set_fact
    def fields_of_both_halves(self) -> dict[str, list[Field]]:
        """By name in lower case: the fields of the message, and of the other half of its RPC."""
        other = self._me.schemas.partner_of(self._me)
        found: dict[str, list[Field]] = {}
        for one in (*self._me.all_fields, *(other.all_fields if other else ())):
            found.setdefault(one.name.lower(), []).append(one)
        return found

    @set_fact
    def odd_words(self) -> tuple[Word, ...]:
        """The words that are rare in the set and nearly another, and those that stand twice in a row."""
        oddness = self._me.schemas.vocabulary.oddness(self._me)
        if not any(oddness):
            return ()
        from kiplint.model.word import odd_words

        return tuple(odd_words(self._me, *oddness))
