"""The kinds of changes that tags have: numbers that came, went, changed, or came back with another meaning."""

from __future__ import annotations

from typing import Annotated

from kiplint.compat.changes.change import Side, Spot
from kiplint.compat.changes.field_kinds import FieldChange
from kiplint.compat.changes.slots import shown_layout
from kiplint.model.fact import fact
from kiplint.model.layout import known_layout


class TagChanged(FieldChange, frozen=True, dict=True):
    """A tagged field has another number."""

    wanted = "tag"


class TaggedMoved(FieldChange, frozen=True, dict=True):
    """A released field became tagged, or ceased to be."""

    wanted = "taggedVersions"
    tagged: Annotated[bool, "Whether it is tagged now."] = False

    @property
    def closer(self) -> str:
        """Which of the two."""
        return "tagged" if self.tagged else "untagged"


class TagRemoved(FieldChange, frozen=True, dict=True):
    """A tagged field is gone from a released version."""


class NewTag(FieldChange, frozen=True, dict=True):
    """A tagged field was added to a released version."""

    wanted = "tag"

    @property
    def closer(self) -> str:
        """That a tag was added."""
        return "tag-added"


class TagReused(FieldChange, frozen=True, dict=True):
    """A tag number came back with another meaning."""

    wanted = "tag"

    @fact
    def old_type(self) -> str:
        """The type of the field that had the number."""
        return self.fields[0].type if self.fields[0] else ""

    @property
    def before(self) -> Spot | None:
        """At the tag."""
        spot = super().before
        return spot._replace(wanted="tag") if spot else None

    @property
    def old(self) -> Side:
        """The field that had the number, and the layout around it."""
        return self._owner(0)

    @property
    def new(self) -> Side:
        """The field that has it now, and the layout around it."""
        return self._owner(1)

    def _owner(self, side: int) -> dict[str, object]:
        field = self.fields[side]
        assert field is not None
        body = known_layout(field.owner, self.versions.lowest, flexible=True) if self.versions else None
        proof = {"layout": shown_layout(body, field)} if body else {}
        return {"tag": field.tag, "name": field.name, "type": field.type, **proof}
