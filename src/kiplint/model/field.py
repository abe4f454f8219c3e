"""A field of a message or struct, and every fact about it that a rule may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import UNSET

from kiplint.model import defaults
from kiplint.model.element import given
from kiplint.model.fact import fact
from kiplint.model.field_versions import VersionedField
from kiplint.model.types import nearest_primitive, respelt

if TYPE_CHECKING:
    from kiplint.model.struct import Struct


class Field(VersionedField):
    """One field, at whatever depth."""

    # Place

    @fact
    def pointer(self) -> str:
        """The JSON pointer of the field's object."""
        return f"{self.owner.pointer}/fields/{self.index}"

    @fact
    def path(self) -> str:
        """The names from the top-level field (or common struct) down to this one, joined by dots."""
        return f"{self.owner.path}.{self.name}" if self.owner.path else self.name

    @fact
    def in_common_struct(self) -> bool:
        """Whether the field belongs to a common struct, directly or deeper."""
        return self.owner.common

    # Type

    @fact
    def type_hint(self) -> str:
        """For a type that Kafka does not know: the primitive that is probably meant, or empty."""
        return nearest_primitive(self.kind.element)

    @fact
    def meant_type(self) -> str:
        """For a type that Kafka does not know: the one that is probably meant, or empty."""
        hint = self.type_hint
        return respelt(self.type) or (f"[]{hint}" if hint and self.is_array else hint)

    @fact
    def defines_lowercase_struct(self) -> bool:
        """Whether the field defines a struct whose name does not begin with a capital letter."""
        return self.has_children and not self.kind.primitive and self.kind.element[:1].islower()

    @fact
    def can_be_null(self) -> bool:
        """Whether values of the type can be null: strings, bytes, records, arrays and structs."""
        return self.kind.nullable or not (self.kind.primitive or self.kind.struct)

    @fact
    def has_children(self) -> bool:
        """Whether the field lists at least one field of its own."""
        return bool(given(self.spec.fields, []))

    @fact
    def definition(self) -> Struct | None:
        """The struct that the field defines in place, by listing fields; else None."""
        from kiplint.model.struct import Struct

        return Struct(self.spec, self.message, self) if self.has_children else None

    @fact
    def struct(self) -> Struct | None:
        """The struct that values have: defined in place, or the one of the file that the type names."""
        return self.definition or self.message.structs_by_name.get(self.kind.element)

    @fact
    def names_common_struct(self) -> bool:
        """Whether the type names one of the message's common structs."""
        return self.kind.element in self.message.common_names

    # Tags

    @fact
    def tag(self) -> int | None:
        """The tag number, or None."""
        return given(self.spec.tag, None)

    @fact
    def tag_twin(self) -> str:
        """The name of an earlier field of the same struct with the same tag, or empty."""
        return self.owner.tag_twins.get(self.index, "")

    @fact
    def skipped_tag(self) -> int | None:
        """The lowest unused tag, for the field with the lowest tag above it; else None."""
        return self.owner.skipped_tags.get(self.index)

    @fact
    def tag_after(self) -> int | None:
        """The higher tag of the nearest tagged field before this one, when it is higher; else None."""
        return self.owner.tags_after.get(self.index)

    # Default

    @fact
    def has_default(self) -> bool:
        """Whether a default is given that is not JSON's null."""
        return self.spec.default is not UNSET and self.spec.default is not None

    @fact
    def default(self) -> str:
        """The default as text, empty when none is given."""
        value = self.spec.default
        return "" if value is UNSET or value is None else defaults.as_text(value)

    @fact
    def default_is_json_null(self) -> bool:
        """Whether the default is JSON's null, which Kafka reads as no default."""
        return self.spec.default is None

    @fact
    def defaults_to_null(self) -> bool:
        """Whether the default is null, and the type one that has nulls."""
        return self.default == "null" and self.kind.nullable

    @fact
    def _flaw(self) -> defaults.Flaw:
        if not self.has_default or self.defaults_to_null:
            return defaults.FINE
        return defaults.flaw_of(self.kind, self.default)

    @fact
    def default_mistake(self) -> str:
        """The kind of mistake in the default: invalid, unsupported, octal, java, or empty."""
        return self._flaw.kind

    @fact
    def default_problem(self) -> str:
        """What is wrong with the default, or empty."""
        return self._flaw.detail

    # The rest

    @fact
    def about_breaks_java(self) -> bool:
        """Whether the description holds characters that the generated Java string does not escape."""
        return '"' in self.about or "\\" in self.about

    @fact
    def entity_type(self) -> str:
        """What the value identifies, empty when not said."""
        return given(self.spec.entity_type, "").strip()

    @fact
    def ignorable(self) -> bool:
        """Whether a writer may leave the field out in versions that do not have it."""
        return given(self.spec.ignorable, False)

    @fact
    def map_key(self) -> bool:
        """Whether the field is part of its array's key."""
        return given(self.spec.map_key, False)

    @fact
    def zero_copy(self) -> bool:
        """Whether readers get a view of the bytes."""
        return given(self.spec.zero_copy, False)

    @fact
    def name_twin(self) -> str:
        """The name of an earlier field of the same struct whose Java member is the same, or empty."""
        return self.owner.name_twins.get(self.index, "")

    @fact
    def about_twin(self) -> str:
        """The name of an earlier field of the same struct with the same `about`, or empty."""
        return self.owner.about_twins.get(self.index, "")
