"""The habits of a set: how its messages use the names of fields."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kiplint.model import usage
from kiplint.model.fact import fact

if TYPE_CHECKING:
    from kiplint.model.field import Field
    from kiplint.model.message import Message
    from kiplint.model.vocabulary import Vocabulary


class Habits:
    """The part of a schema set that is about what is usual in it."""

    wanted: frozenset[str] | None

    @fact
    def messages(self) -> tuple[Message, ...]:
        """The messages, in the order of their files."""
        raise NotImplementedError

    @fact
    def uses(self) -> usage.Uses:
        """By name of a field of a wanted file: its uses in the live requests and responses."""
        return usage.uses_of(self.messages, self.wanted)

    @fact
    def fields_by_name(self) -> dict[tuple[bool, str], list[Field]]:
        """By whether the message is a request or response, and by name: the fields of the live messages."""
        found: dict[tuple[bool, str], list[Field]] = {}
        for message in self.messages:
            for field in message.all_fields if message.valid else ():
                found.setdefault((message.is_rpc, field.name), []).append(field)
        return found

    @fact
    def vocabulary(self) -> Vocabulary:
        """The words of its descriptions, comments and names."""
        from kiplint.model.vocabulary import Vocabulary

        return Vocabulary(self.messages, self.wanted)

    @fact
    def headings(self) -> Counter[str]:
        """How many files have each heading."""
        return Counter(message.heading for message in self.messages)

    @fact
    def usual_heading(self) -> str:
        """The heading that most files have, empty when they have none."""
        return max(self.headings, key=self.headings.__getitem__, default="")

    @fact
    def usual_headings(self) -> int:
        """How many files have the usual heading."""
        return self.headings[self.usual_heading]

    @fact
    def contested_types(self) -> dict[str, str]:
        """By name of a field to which the RPCs give more than one primitive: the usual one."""
        return usage.contested(self.uses, usage.primitive)

    @fact
    def contested_entities(self) -> dict[str, str]:
        """By name of a field to which the RPCs give more than one entity type, or one and none: the usual one."""
        return usage.contested(self.uses, usage.entity)

    @fact
    def spellings(self) -> dict[str, dict[str, int]]:
        """By name of a field, where there is another spelling: the number of RPCs by spelling."""
        return usage.spellings(self.uses)
