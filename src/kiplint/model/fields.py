"""Fields and structs: a message or a struct is a container of fields, and a field may define a struct."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import UNSET

from kiplint.model import types
from kiplint.model.element import (
    FOR_RULES,
    ParsedRange,
    fact,
    optional_range,
    parse_range,
    range_fact,
    range_problem,
    required_range,
    rule_fact,
    to_blame,
    value_or,
)
from kiplint.model.spec import FieldSpec, StructSpec
from kiplint.model.types import TypeRef, nearest_primitive, parse_type, respelt
from kiplint.text.show import printable
from kiplint.text.words import plural
from kiplint.versions import NONE, VersionRange

if TYPE_CHECKING:
    from kiplint.model.message import Message


class Container:
    """A message or a struct: an ordered list of fields. The facts here compare sibling fields."""

    common = False

    name: Annotated[str, "The name."]
    pointer: Annotated[str, "The JSON pointer of the object that has the `fields`."] = ""
    path: Annotated[str, "The names that lead to it, joined by dots; empty for a message."] = ""
    versions: Annotated[VersionRange, "The versions in which it exists."]
    present: Annotated[VersionRange, "The valid versions in which it is really there."]
    fields: Annotated[tuple[Field, ...], "The fields in order, without the fields of nested structs."]

    @fact
    def by_name(self) -> dict[str, Field]:
        """The fields by name; the first of several with the same name."""
        return {field.name: field for field in reversed(self.fields)}

    @fact
    def tagged_fields(self) -> tuple[Field, ...]:
        """The fields that have a tag number."""
        return tuple(field for field in self.fields if field.tag is not None)

    @rule_fact
    def has_map_keys(self) -> bool:
        """Whether a field is a map key, so that Java keeps the elements in a linked hash set."""
        return any(field.map_key for field in self.fields)

    @rule_fact
    def former(self) -> Container | None:
        """The message or struct in the base of a comparison; None without a base, or if it is new."""
        raise NotImplementedError

    @rule_fact
    def name_twins(self) -> dict[int, str]:
        """By index of a field: the name of another field that becomes the same Java member."""
        if len({field.name.lower() for field in self.fields}) == len(self.fields):
            return {}
        return _twins(self.fields, lambda field: field.java_name)

    @rule_fact
    def tag_twins(self) -> dict[int, str]:
        """By index of a field: the name of another field with the same tag: one older in the base, else before it."""
        return _twins(self.tagged_fields, lambda field: field.tag, lambda field: (_age(field), -field.index))

    @rule_fact
    def next_tag(self) -> int:
        """The lowest tag that no field has."""
        tags = {field.tag for field in self.tagged_fields}
        return next(tag for tag in range(len(tags) + 1) if tag not in tags)

    @rule_fact
    def skipped_tags(self) -> dict[int, int]:
        """By index of a field: the lowest unused tag, where it has the lowest tag above a gap that no twin fills."""
        if any((field.tag or 0) < 0 for field in self.tagged_fields) or any(
            field.tag is None and field.tagged for field in self.fields
        ):
            return {}  # which tag is missing is not known
        expected, spare = (
            0,
            len(self.tagged_fields) - len({field.tag for field in self.tagged_fields}),
        )  # the second use of a tag probably means an unused one
        for field in sorted(self.tagged_fields, key=lambda field: field.tag or 0):
            missing = max((field.tag or 0) - expected, 0)
            if missing > spare:
                return {field.index: expected + spare}
            spare -= missing
            expected = max(expected, (field.tag or 0) + 1)
        return {}


def _twins(
    fields: tuple[Field, ...], key: Callable[[Field], Hashable], age: Callable[[Field], object] | None = None
) -> dict[int, str]:
    groups: dict[Hashable, list[Field]] = {}
    for field in fields:
        groups.setdefault(key(field), []).append(field)
    twin_groups = (group for group in groups.values() if len(group) > 1)
    twins = (
        (group[index].index, twin.name) for group in twin_groups for index, twin in to_blame(group, age or _age).items()
    )
    return dict(sorted(twins))


def _age(field: Field) -> int:
    """How much of a field the base has: 0 for a new field."""
    former = field.owner.former.by_name.get(field.name) if field.owner.former else None
    alike = ("type", "tag", "versions", "about")
    return 1 + sum(getattr(former, name) == getattr(field, name) for name in alike) if former else 0


class Field:
    """One field, at whatever depth.

    `spec` is its JSON as written, `index` counts the fields of its message or struct.
    """

    name: Annotated[str, "The field's name."]
    name_is_valid: Annotated[bool, "Whether the name is an ASCII letter and then ASCII letters and digits.", FOR_RULES]
    name_is_upper: Annotated[bool, "Whether the name begins with a capital letter.", FOR_RULES]
    first_word: Annotated[str, "The name's first word, in lower case: `is` of `IsInternal`.", FOR_RULES]
    java_name: Annotated[str, "The name of the generated Java member: the first letter in lower case."]
    type: Annotated[str, "The type as written: a primitive, a struct name, or `[]` and one of these."]
    element_type: Annotated[str, "The type without `[]`."]
    is_array: Annotated[bool, "Whether the type is an array."]
    is_struct: Annotated[bool, "Whether the type, or the array's element, is a struct."]
    is_primitive: Annotated[bool, "Whether the type, or the array's element, is one of Kafka's primitives."]
    message: Annotated[Message, "The message that the field belongs to, at whatever depth."]
    owner: Annotated[Container, "The message or struct whose field this is."]
    position: Annotated[int, "The number of fields before this one in its message or struct."]
    top_level: Annotated[bool, "Whether the field stands directly in the message."]
    about: Annotated[str, "The description, empty when there is none."]

    def __init__(self, spec: FieldSpec, message: Message, owner: Container, index: int) -> None:
        self.spec = spec
        self.message = message
        self.owner = owner
        self.index = self.position = index
        self.top_level = owner is message
        self.about = value_or(spec.about, "")
        self.kind: TypeRef = parse_type(spec.type)
        # A set is tens of thousands of fields: their plain facts come from dicts that many fields share.
        facts = self.__dict__
        facts.update(_name_facts(spec.name))
        facts.update(_type_facts(spec.type))
        facts.update(_range_facts(spec.versions))
        facts.update(_DEFAULT_FACTS)
        for attribute, names in _FACTS_OF:
            if getattr(spec, attribute) is not UNSET:
                for name in names:
                    del facts[name]

    def __repr__(self) -> str:
        return f"<Field {printable(f'{self.message.name}.{self.path}: {self.type}')} {self.versions}>"

    # Place

    @fact
    def pointer(self) -> str:
        """The JSON pointer of the field's object."""
        return f"{self.owner.pointer}/fields/{self.index}"

    @fact
    def path(self) -> str:
        """The names from the top-level field (or common struct) down to this one, joined by dots."""
        return f"{self.owner.path}.{self.name}" if self.owner.path else self.name

    @rule_fact
    def in_common_struct(self) -> bool:
        """Whether the field belongs to a common struct, directly or deeper."""
        return self.owner.common

    # Versions

    @range_fact
    def versions(self) -> ParsedRange:
        """The versions in which the field exists; if they are invalid, the versions of its owner."""
        text = self.spec.versions
        if not text or text.isspace():
            fallback = optional_range(self.spec.tagged_versions)
            return ParsedRange(fallback.value, "" if fallback.value else "is empty")
        return required_range(text, self.owner.versions)

    versions_problem = range_problem(versions, "`versions`")

    @rule_fact
    def is_open_ended(self) -> bool:
        """Whether the field's versions have no end."""
        return self.versions.open

    @rule_fact
    def starts_late(self) -> bool:
        """Whether the field's versions begin above 0."""
        return self.versions.lowest > 0

    @fact
    def present(self) -> VersionRange:
        """The valid versions in which the field is really there: its owner is, and it is itself."""
        return self.versions & self.owner.present

    @rule_fact
    def is_later(self) -> bool:
        """Whether its message or struct has valid versions before the first that has the field."""
        return bool(self.present) and self.present.lowest > self.owner.present.lowest

    @range_fact
    def tagged(self) -> ParsedRange:
        """The versions in which the field is tagged."""
        return optional_range(self.spec.tagged_versions)

    tagged_problem = range_problem(tagged, "`taggedVersions`")

    @range_fact
    def nullable(self) -> ParsedRange:
        """The versions in which the value may be null."""
        return optional_range(self.spec.nullable_versions)

    nullable_problem = range_problem(nullable, "`nullableVersions`")

    @fact
    def overrides_flexible(self) -> bool:
        """Whether the field has flexible versions of its own."""
        text = value_or(self.spec.flexible_versions, "")
        return bool(text) and not text.isspace()

    @range_fact
    def flexible(self) -> ParsedRange:
        """The versions with the compact encoding: the field's own, else the message's."""
        return optional_range(self.spec.flexible_versions, self.message.flexible)

    flexible_problem = range_problem(flexible, "the field's `flexibleVersions`")

    # Type

    @fact
    def type_hint(self) -> str:
        """For a type that Kafka does not know: the primitive that is probably meant, or empty."""
        return nearest_primitive(self.kind.element)

    @rule_fact
    def meant_type(self) -> str:
        """For a type that Kafka does not know: the whole type that is probably meant, or empty."""
        hint = self.type_hint
        return respelt(self.type) or (f"[]{hint}" if hint and self.is_array else hint)

    @rule_fact
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
        return bool(value_or(self.spec.fields, []))

    @fact
    def definition(self) -> Struct | None:
        """The struct that the field defines in place, by listing fields; else None."""
        return Struct(self.spec, self.message, self) if self.has_children else None

    @fact
    def struct(self) -> Struct | None:
        """The struct that values have: defined in place, or the struct of the file that the type names."""
        return self.definition or self.message.structs_by_name.get(self.kind.element)

    # Tag

    @fact
    def tag(self) -> int | None:
        """The tag number, or None."""
        return value_or(self.spec.tag, None)

    @rule_fact
    def tag_twin(self) -> str:
        """The name of another field of the same struct with the same tag, of an older one if the base is known."""
        return self.owner.tag_twins.get(self.index, "")

    @rule_fact
    def skipped_tag(self) -> int | None:
        """The lowest unused tag, for the field with the lowest tag above it; else None."""
        return self.owner.skipped_tags.get(self.index)

    # Default

    @fact
    def has_default(self) -> bool:
        """Whether there is a default that is not JSON's null."""
        return self.spec.default is not UNSET and self.spec.default is not None

    @fact
    def default(self) -> str:
        """The default as text, empty when there is none."""
        value = self.spec.default
        return "" if value is UNSET or value is None else types.as_text(value)

    @rule_fact
    def default_is_json_null(self) -> bool:
        """Whether the default is JSON's null, which Kafka reads as no default."""
        return self.spec.default is None

    @fact
    def defaults_to_null(self) -> bool:
        """Whether the default is null, and the type has nulls."""
        return self.default == "null" and self.kind.nullable

    @fact
    def _flaw(self) -> types.Flaw:
        if not self.has_default or self.defaults_to_null:
            return types.FINE
        return types.flaw_of(self.kind, self.default)

    @rule_fact
    def default_mistake(self) -> str:
        """The kind of mistake in the default: invalid, unsupported, octal, java, or empty."""
        return self._flaw.kind

    @rule_fact
    def default_problem(self) -> str:
        """What is wrong with the default, or empty."""
        return self._flaw.detail

    # Other properties

    @fact
    def entity_type(self) -> str:
        """What the value identifies, empty when not stated."""
        return value_or(self.spec.entity_type, "").strip()

    @fact
    def ignorable(self) -> bool:
        """Whether a writer may leave the field out in versions that do not have it."""
        return value_or(self.spec.ignorable, False)

    @fact
    def map_key(self) -> bool:
        """Whether the field is part of its array's key."""
        return value_or(self.spec.map_key, False)

    @fact
    def zero_copy(self) -> bool:
        """Whether readers get a view of the bytes."""
        return value_or(self.spec.zero_copy, False)

    @rule_fact
    def misspelt(self) -> frozenset[str]:
        """The properties that the field lacks because their names are probably misspelt."""
        return self.message.misspelt_by_owner.get(self.pointer, frozenset())

    @rule_fact
    def name_twin(self) -> str:
        """The name of another field of the same struct whose Java member is the same, or empty."""
        return self.owner.name_twins.get(self.index, "")


_DEFAULTS: Final[dict[str, dict[str, object]]] = {
    "tagged_versions": {"tagged": NONE, "tagged_problem": ""},
    "tag": {"tag": None},
    "nullable_versions": {"nullable": NONE, "nullable_problem": ""},
    "flexible_versions": {"overrides_flexible": False, "flexible_problem": ""},
    "default": {"has_default": False, "default": "", "default_is_json_null": False, "defaults_to_null": False},
    "fields": {"has_children": False, "definition": None},
    "entity_type": {"entity_type": ""},
    "ignorable": {"ignorable": False},
    "map_key": {"map_key": False},
    "zero_copy": {"zero_copy": False},
}
"""By attribute of a FieldSpec: the facts about it, and the values that they have where it is left out, as most are."""
_DEFAULT_FACTS: Final = {name: value for facts in _DEFAULTS.values() for name, value in facts.items()}
_FACTS_OF: Final = tuple((attribute, tuple(facts)) for attribute, facts in _DEFAULTS.items())


@lru_cache(maxsize=65536)
def _range_facts(text: str) -> dict[str, object]:
    """The facts about valid `versions`; none for invalid ones, whose stand-in depends on the owner."""
    parsed_range = parse_range(text)
    if parsed_range.problem:
        return {}
    return {
        "versions": parsed_range.value,
        "versions_problem": "",
        "is_open_ended": parsed_range.value.open,
        "starts_late": parsed_range.value.lowest > 0,
    }


_SMALL: Final = "abcdefghijklmnopqrstuvwxyz"


@lru_cache(maxsize=65536)
def _name_facts(name: str) -> dict[str, object]:
    java_name = name[:1].lower() + name[1:]
    return {
        "name": name,
        "name_is_valid": name.isascii() and name.isalnum() and name[0].isalpha(),
        "name_is_upper": name[:1].isupper(),
        "java_name": java_name,
        "first_word": java_name[: len(java_name) - len(java_name.lstrip(_SMALL))],
    }


@lru_cache(maxsize=65536)
def _type_facts(text: str) -> dict[str, object]:
    kind = parse_type(text)
    return {
        "type": text,
        "element_type": kind.element,
        "is_array": kind.array,
        "is_struct": kind.struct,
        "is_primitive": kind.primitive,
    }


class Struct(Container):
    """One struct: defined by a field that lists fields, or by an entry of `commonStructs`."""

    name: Annotated[str, "The struct's name."]
    message: Annotated[Message, "The message in whose file the struct is defined."]
    field: Annotated[Field | None, "The field that defines the struct in place; None for a common struct."]
    name_property: Annotated[
        str,
        "The property with the name: `type` of the field that defines the struct, `name` of a common struct.",
        FOR_RULES,
    ]

    def __init__(self, spec: FieldSpec | StructSpec, message: Message, field: Field | None, index: int = 0) -> None:
        self.spec = spec
        self.index = index
        self.common = field is None or field.owner.common
        self.message = message
        self.field = field
        self.name = field.kind.element if field else spec.name
        self.name_property = "type" if field else "name"

    def __repr__(self) -> str:
        return f"<Struct {printable(f'{self.message.name}.{self.path}')}: {plural(len(self.fields), 'field')}>"

    @fact
    def pointer(self) -> str:
        """The JSON pointer of the object that lists the fields."""
        return self.field.pointer if self.field else f"/commonStructs/{self.index}"

    @fact
    def fields(self) -> tuple[Field, ...]:
        """The struct's fields in order, without the fields of nested structs."""
        return tuple(
            Field(spec, self.message, self, index) for index, spec in enumerate(value_or(self.spec.fields, []))
        )

    @fact
    def path(self) -> str:
        """The path of the defining field; for a common struct its name."""
        return self.field.path if self.field else self.name

    @fact
    def is_common(self) -> bool:
        """Whether the struct stands under `commonStructs`."""
        return self.field is None

    @rule_fact
    def in_common_struct(self) -> bool:
        """Whether the struct is defined inside a common struct."""
        return self.field is not None and self.common

    @range_fact
    def versions(self) -> ParsedRange:
        """The versions in which the struct exists: its own, or the versions of the field that defines it."""
        if self.field:
            return ParsedRange(self.field.versions, "")
        return required_range(self.spec.versions, self.message.valid)

    versions_problem = range_problem(versions, "a common struct's `versions`")

    @fact
    def present(self) -> VersionRange:
        """The valid versions in which the struct is really there."""
        return self.field.present if self.field else self.versions & self.message.valid

    @rule_fact
    def name_is_upper(self) -> bool:
        """Whether the name does not begin in lower case."""
        return not self.name[:1].islower()

    @rule_fact
    def used(self) -> VersionRange:
        """For a common struct: the valid versions in which some field has the struct as its type."""
        return self.message.used_structs.get(self.name, NONE)

    @rule_fact
    def former(self) -> Struct | None:
        """The struct in the base of a comparison; None without a base, or if it is new."""
        former_message = self.message.former
        return former_message.structs_by_name.get(self.name) if former_message else None

    @rule_fact
    def twin(self) -> Struct | None:
        """Another struct of the file with the same name, an older one if the base is known; else None."""
        return self.message.struct_twins.get(self.pointer)

    @rule_fact
    def cycle(self) -> str:
        """For the first of the structs that contain each other: the cycle, as `A -> B -> A`; else empty."""
        return self.message.cycles.get(self.name, "")
