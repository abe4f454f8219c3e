"""The kinds of changes of fields that no byte shows: names, defaults, markers; and fields of new versions."""

from __future__ import annotations

from typing import ClassVar

from kiplint.compat.changes.change import Spot
from kiplint.compat.changes.field_kinds import FieldChange
from kiplint.model.fact import fact
from kiplint.model.field import Field


class AttributeChanged(FieldChange, frozen=True, dict=True):
    """A property of a field that no byte shows has another value."""

    attribute: ClassVar[str]

    @fact
    def was(self) -> str:
        """The property in the old set, in words."""
        return _word(self._value(0))

    @fact
    def now(self) -> str:
        """The property in the new set, in words."""
        return _word(self._value(1))

    @property
    def before(self) -> Spot | None:
        """At the property."""
        spot = super().before
        return spot._replace(wanted=self.wanted) if spot else None

    def _value(self, side: int) -> object:
        return getattr(self.fields[side], self.attribute)

    def _proof(self, side: int) -> dict[str, object]:
        return {self.wanted: self._value(side)}


class FieldRenamed(AttributeChanged, frozen=True, dict=True):
    """A field has another name; or, in some versions only, other fields have its bytes."""

    wanted, attribute = "name", "name"

    @property
    def closer(self) -> str:
        """Whether the field is gone, and its bytes are not."""
        return "" if self.fields[1] else "same-bytes"

    def _proof(self, side: int) -> dict[str, object]:
        return FieldChange._proof(self, side) if self.around else super()._proof(side)


class StructRenamed(AttributeChanged, frozen=True, dict=True):
    """A struct has another name."""

    wanted, attribute = "type", "type"

    @fact
    def was(self) -> str:
        """The struct's name in the old set."""
        return self.fields[0].element_type if self.fields[0] else ""

    @fact
    def now(self) -> str:
        """The struct's name in the new set."""
        return self.fields[1].element_type if self.fields[1] else ""


class DefaultChanged(AttributeChanged, frozen=True, dict=True):
    """A field has another default."""

    wanted, attribute = "default", "default"

    @fact
    def was(self) -> str:
        """The default in the old set, in quotes if there is one."""
        return quoted(self.fields[0])

    @fact
    def now(self) -> str:
        """The default in the new set, in quotes if there is one."""
        return quoted(self.fields[1])


class EntityTypeChanged(AttributeChanged, frozen=True, dict=True):
    """A field identifies something else."""

    wanted, attribute = "entityType", "entity_type"


class MapKeyChanged(AttributeChanged, frozen=True, dict=True):
    """The keys of an array changed."""

    wanted, attribute = "mapKey", "map_key"


class IgnorableChanged(AttributeChanged, frozen=True, dict=True):
    """A field may now be dropped, or no longer."""

    wanted, attribute = "ignorable", "ignorable"


class AboutChanged(AttributeChanged, frozen=True, dict=True):
    """A field is described differently."""

    wanted, attribute = "about", "about"


class Arrived(FieldChange, frozen=True, dict=True):
    """A field that only versions not yet released have."""

    @fact
    def type(self) -> str:
        """The field's type."""
        return self.fields[1].type if self.fields[1] else ""

    @fact
    def added(self) -> Field | None:
        """The field itself."""
        return self.fields[1]

    @property
    def closer(self) -> str:
        """Whether it is tagged."""
        return "field-added" if self.new_tag < 0 else "tag-added"


class NewField(Arrived, frozen=True, dict=True):
    """A new field in a new version."""


class NewFieldNotIgnorable(Arrived, frozen=True, dict=True):
    """A new field without which no older version can be written once it is set."""

    wanted = "ignorable"


def quoted(field: Field | None) -> str:
    """A field's default as it is told."""
    if field is None or not (field.defaults_to_null or field.has_default):
        return "left out"
    return "null" if field.defaults_to_null else f'"{field.default}"'


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value) or "left out"
