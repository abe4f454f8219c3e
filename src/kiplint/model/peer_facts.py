"""What a field knows of its peers: the fields of its name in the other messages of the set."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from kiplint.model.fact import fact, set_fact
from kiplint.model.field_start import FieldStart
from kiplint.model.usage import Vote, entity, primitive, vote

if TYPE_CHECKING:
    from kiplint.model.field import Field


class PeerFacts(FieldStart):
    """The part of a field that is about others of its name. What is usual is what most other RPCs make of the name."""

    @set_fact
    def peers(self) -> tuple[Field, ...]:
        """The fields of the same name in other messages of the set: of requests and responses, or of records."""
        mine = self.message
        return tuple(
            one for one in mine.schemas.fields_by_name.get((mine.is_rpc, self.name), ()) if one.message is not mine
        )

    @set_fact
    def _type_vote(self) -> Vote:
        return vote(self.message.schemas.uses.get(self.name, ()), self.message.base_name, primitive)

    @set_fact
    def usual_type(self) -> str:
        """The primitive that most other RPCs give a field of this name; empty when none does."""
        return self._type_vote.value

    @set_fact
    def type_votes(self) -> int:
        """How many other RPCs give it the usual type."""
        return self._type_vote.votes

    @set_fact
    def type_dissent(self) -> int:
        """How many other RPCs give it another primitive."""
        return self._type_vote.dissent

    @set_fact
    def _entity_vote(self) -> Vote:
        uses = self.message.schemas.uses.get(self.name, ())
        own = self.element_type
        alike = (one for one in uses if one[1].type.removeprefix("[]") == own)
        return vote(alike, self.message.base_name, entity)

    @set_fact
    def usual_entity(self) -> str:
        """The entity type that most other RPCs give a field of this name and type; empty when they give none."""
        return self._entity_vote.value

    @set_fact
    def entity_votes(self) -> int:
        """How many other RPCs give it the usual entity type."""
        return self._entity_vote.votes

    @set_fact
    def entity_dissent(self) -> int:
        """How many other RPCs give it another one, or none."""
        return self._entity_vote.dissent

    @set_fact
    def usual_case(self) -> str:
        """The spelling of the name that most RPCs of the set have, where it differs from this one in case only."""
        ways = self.message.schemas.spellings.get(self.name, {})
        usual = max(ways, key=lambda way: ways[way], default="")
        return usual if usual != self.name else ""

    @set_fact
    def case_votes(self) -> int:
        """How many RPCs of the set have the usual spelling."""
        return self.message.schemas.spellings.get(self.name, {}).get(self.usual_case, 0)

    @set_fact
    def own_case_votes(self) -> int:
        """How many RPCs of the set, this one included, spell the name as it is here."""
        return self.message.schemas.spellings.get(self.name, {}).get(self.name, 0)

    @fact
    def is_later(self) -> bool:
        """Whether its message or struct has valid versions before the first that has the field."""
        me = cast("Field", self)
        return bool(me.present) and me.present.lowest > me.owner.present.lowest

    @fact
    def is_everywhere(self) -> bool:
        """Whether it was there as long as its message or struct, in every version."""
        me = cast("Field", self)
        start = 0 if self.top_level else me.owner.versions.lowest
        return me.versions.open and me.versions.lowest <= start
