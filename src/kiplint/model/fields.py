"""Fields and structs: a message or a struct is a container of fields, and a field may define a struct."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from functools import cached_property
from itertools import count
from typing import TYPE_CHECKING, TypeVar

from kiplint.model import types
from kiplint.model.spec import FieldSpec, StructSpec, optional_range, required_range, value_or
from kiplint.model.types import array_notation, nearest_primitive, parse_type
from kiplint.versions import VersionRange

if TYPE_CHECKING:
    from kiplint.model.message import Message

T = TypeVar("T")


class Container:
    """A message or a struct: an ordered list of fields. The facts here compare sibling fields."""

    in_common_struct: bool = False
    """Whether it is a common struct, or is defined inside one."""
    name: str
    """The name."""
    pointer: str = ""
    """The JSON pointer of the object that has the `fields`."""
    path: str = ""
    """The names that lead to it, joined by dots; empty for a message."""
    versions: VersionRange
    """The versions in which it exists."""
    present: VersionRange
    """The valid versions in which it actually exists."""

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields in order, without the fields of nested structs."""
        raise NotImplementedError

    @cached_property
    def base(self) -> Container | None:
        """The message or struct in the base of a comparison; None without a base, or if it is new."""
        raise NotImplementedError

    @cached_property
    def by_name(self) -> dict[str, Field]:
        """The fields by name; the first of several with the same name."""
        return {field.name: field for field in reversed(self.fields)}

    @cached_property
    def tagged_fields(self) -> tuple[Field, ...]:
        """The fields that have a tag number."""
        return tuple(field for field in self.fields if field.tag is not None)

    @cached_property
    def duplicate_names(self) -> dict[int, str]:
        """By position of a field: the name of another field that becomes the same Java member."""
        pairs = find_duplicates(self.fields, lambda field: field.java_name, _similarity_to_base)
        return {field.position: other.name for field, other in pairs}

    @cached_property
    def duplicate_tags(self) -> dict[int, str]:
        """By position of a field with the tag of another: the other's name. The other is older or comes first."""

        def rank(field: Field) -> tuple[int, int]:
            return _similarity_to_base(field), -field.position

        pairs = find_duplicates(self.tagged_fields, lambda field: field.tag, rank)
        return {field.position: other.name for field, other in pairs}

    @cached_property
    def free_tags(self) -> dict[int, int]:
        """By position of a field with the tag of another, or tagged without a number: a tag that no field has."""
        used_tags = {field.tag for field in self.tagged_fields}
        unused_tags = (tag for tag in count() if tag not in used_tags)
        fields = (
            field
            for field in self.fields
            if field.position in self.duplicate_tags or (field.tagged and field.tag is None)
        )
        return {field.position: tag for field, tag in zip(fields, unused_tags, strict=False)}

    @cached_property
    def has_open_field(self) -> bool:
        """Whether a field exists in all later versions, too."""
        return any(field.versions.open for field in self.fields)

    @cached_property
    def skipped_tags(self) -> dict[int, int]:
        """By position of the field after the first gap in the tags: the lowest tag in the gap.

        `{1: 2}` for the tags 0, 3, 1. A field with the tag of another is probably meant to have a missing tag: so as
        many of the lowest missing tags as there are such fields do not count. Empty if a tag is negative or missing.
        """
        fields_by_tag = {field.tag: field for field in reversed(self.tagged_fields) if field.tag is not None}
        has_negative_tag = any(tag < 0 for tag in fields_by_tag)
        if has_negative_tag or any(field.tag is None and field.tagged for field in self.fields):
            return {}
        duplicates_left = len(self.tagged_fields) - len(fields_by_tag)
        expected_tag = 0
        for tag, field in sorted(fields_by_tag.items()):
            missing_tags = tag - expected_tag
            if missing_tags > duplicates_left:
                return {field.position: expected_tag + duplicates_left}
            duplicates_left -= missing_tags
            expected_tag = tag + 1
        return {}


def find_duplicates(
    elements: Iterable[T], key: Callable[[T], Hashable], rank: Callable[[T], tuple[int, ...] | int]
) -> Iterator[tuple[T, T]]:
    """Each element that has the key of another, and that other element.

    `rank` is a score, for example by what the base has; the element with the highest keeps the key. Of the elements
    with a key, those below the highest rank are wrong; where all have the same rank, each is wrong.
    """
    elements_by_key: dict[Hashable, list[T]] = defaultdict(list)
    for element in elements:
        elements_by_key[key(element)].append(element)
    for same_key in elements_by_key.values():
        if len(same_key) == 1:
            continue
        best = max(same_key, key=rank)
        wrong = [element for element in same_key if rank(element) != rank(best)]
        for element in wrong or same_key:
            is_best = element is best  # then all have one rank, and the best is the first of them
            yield element, same_key[1] if is_best else best


def _similarity_to_base(field: Field) -> int:
    """How similar the base's field of the same name is: 0 without one, or 1 plus the number of equal properties."""
    base = field.base
    if base is None:
        return 0
    properties = ("type", "tag", "versions", "about")
    return 1 + len([name for name in properties if getattr(base, name) == getattr(field, name)])


class Field:
    """One field, at any depth; `spec` is its JSON as written."""

    message: Message
    """The message that the field belongs to, at any depth."""
    owner: Container
    """The message or struct whose field this is."""
    position: int
    """The number of fields before this one in its message or struct."""
    top_level: bool
    """Whether the field is directly in the message, not in a struct."""
    name: str
    """The field's name."""
    name_is_valid: bool
    """Whether the name is an ASCII letter and then ASCII letters and digits."""
    java_name: str
    """The name of the generated Java member: the first letter in lowercase."""
    type: str
    """The type as written: a primitive, a struct name, or `[]` and one of these."""
    element_type: str
    """The type without `[]`."""
    is_array: bool
    """Whether the type is an array."""
    is_struct: bool
    """Whether the type, or the array's element, is a struct."""
    is_primitive: bool
    """Whether the type, or the array's element, is one of Kafka's primitives."""
    can_be_null: bool
    """Whether values of the type can be null: strings, bytes, records, arrays and structs, or an unknown type."""
    has_children: bool
    """Whether the field lists at least one field of its own."""
    definition: Struct | None
    """The struct that the field defines inline, by listing fields, or None."""
    versions: VersionRange
    """The versions in which the field exists; if they are invalid, the versions of its owner."""
    versions_problem: str
    """What is wrong with the text of `versions`, or empty."""
    present: VersionRange
    """The valid versions in which both the field and its owner exist."""
    is_later: bool
    """Whether its message or struct has valid versions before the first that has the field."""
    ends_early: bool
    """Whether its message or struct has valid versions after the last that has the field."""
    tagged: VersionRange
    """The versions in which the field is tagged."""
    tagged_problem: str
    """What is wrong with the text of `taggedVersions`, or empty."""
    nullable: VersionRange
    """The versions in which the value may be null."""
    nullable_problem: str
    """What is wrong with the text of `nullableVersions`, or empty."""
    flexible: VersionRange
    """The versions with the compact encoding: the field's own, otherwise the message's."""
    overrides_flexible: bool
    """Whether the field has its own flexible versions."""
    flexible_problem: str
    """What is wrong with the text of the field's `flexibleVersions`, or empty."""
    tag: int | None
    """The tag number, or None."""
    has_default: bool
    """Whether there is a default that is not JSON's null."""
    default: str
    """The default as text, empty when there is none."""
    default_is_json_null: bool
    """Whether the default is JSON's null, which Kafka reads as no default."""
    defaults_to_null: bool
    """Whether the default is null, and the type has nulls."""
    default_mistake: str
    """The kind of mistake in the default: invalid, unsupported, octal, java, or empty."""
    default_problem: str
    """What is wrong with the default, or empty."""
    about: str
    """The description, empty when there is none."""
    entity_type: str
    """What the value identifies, empty when not stated."""
    ignorable: bool
    """Whether a writer may drop the field in versions that do not have it."""
    map_key: bool
    """Whether the field is part of its array's key."""
    zero_copy: bool
    """Whether readers get a view of the bytes."""

    def __init__(self, spec: FieldSpec, message: Message, owner: Container, position: int) -> None:
        self.spec = spec
        self.message, self.owner = message, owner
        self.position = position
        self.top_level = owner is message
        self.name = name = spec.name
        self.name_is_valid = name.isascii() and name.isalnum() and name[0].isalpha()
        self.java_name = name[:1].lower() + name[1:]

        self.kind = kind = parse_type(spec.type)
        self.type, self.element_type, self.is_array = spec.type, kind.element, kind.array
        self.is_struct, self.is_primitive = kind.struct, kind.primitive
        self.can_be_null = kind.nullable or not (kind.primitive or kind.struct)
        self.has_children = bool(spec.fields)

        self.tagged, self.tagged_problem = optional_range(spec.tagged_versions)
        self.nullable, self.nullable_problem = optional_range(spec.nullable_versions)
        if spec.versions.strip():
            self.versions, self.versions_problem = required_range(spec.versions, owner.versions)
        else:  # Kafka's reader takes taggedVersions then
            self.versions, self.versions_problem = self.tagged, ("" if self.tagged else "is empty")
        self.present = self.versions & owner.present
        self.is_later = bool(self.present) and self.present.lowest > owner.present.lowest
        self.ends_early = bool(self.present) and self.present.highest < owner.present.highest
        self.overrides_flexible = bool(value_or(spec.flexible_versions, "").strip())
        self.flexible, self.flexible_problem = optional_range(spec.flexible_versions, message.flexible)
        self.tag = value_or(spec.tag, None)

        self.has_default = value_or(spec.default, None) is not None
        default = value_or(spec.default, "")
        self.default = str(default).lower() if isinstance(default, bool) else str(default)
        self.default_is_json_null = spec.default is None
        self.defaults_to_null = self.default == "null" and kind.nullable
        flaw = types.NO_FLAW if self.defaults_to_null else types.flaw_of(kind, self.default)
        self.default_mistake, self.default_problem = flaw.kind, flaw.detail

        self.about = spec.about or ""
        self.entity_type = (spec.entity_type or "").strip()
        self.ignorable = spec.ignorable is True
        self.map_key, self.zero_copy = spec.map_key is True, spec.zero_copy is True
        self.definition = Struct(spec, message, self) if spec.fields else None

    @cached_property
    def pointer(self) -> str:
        """The JSON pointer of the field's object."""
        return f"{self.owner.pointer}/fields/{self.position}"

    @cached_property
    def path(self) -> str:
        """The names from the top-level field (or common struct) down to this one, joined by dots."""
        return f"{self.owner.path}.{self.name}" if self.owner.path else self.name

    @cached_property
    def base(self) -> Field | None:
        """The field of the same name in the base of a comparison; None without a base, or if it is new."""
        return self.owner.base.by_name.get(self.name) if self.owner.base else None

    @cached_property
    def none_default(self) -> str:
        """The default, as JSON, that says that nothing was sent, if the field has none: null, or -1 for an id.

        It is empty for a field that has a default, or whose type has no such value.
        """
        if self.has_default or self.default_is_json_null:
            return ""
        if self.nullable and self.versions <= self.nullable and self.can_be_null:
            return '"null"'
        is_id = self.type in types.ID_TYPES and self.name.endswith(types.ID_WORDS)
        return '"-1"' if is_id else ""

    @cached_property
    def type_hint(self) -> str:
        """For a type that Kafka does not know: the primitive that was probably intended, or empty."""
        return nearest_primitive(self.kind.element)

    @cached_property
    def meant_type(self) -> str:
        """For a type that Kafka does not know: the whole type that was probably intended, or empty.

        If the base has a type of Kafka here, it is the released one.
        """
        if self.base and self.base.is_primitive:
            return self.base.type
        if self.is_array and self.type_hint:
            return f"[]{self.type_hint}"
        return array_notation(self.type) or self.type_hint

    @cached_property
    def struct(self) -> Struct | None:
        """The struct of the values: the one defined inline, or the struct of the file that the type names."""
        return self.definition or self.message.structs_by_name.get(self.kind.element)

    @cached_property
    def misspelt(self) -> frozenset[str]:
        """The properties that the field lacks because their names are probably misspelled."""
        return self.message.misspelt_by_owner.get(self.pointer, frozenset())


class Struct(Container):
    """One struct: defined by `field`, which lists fields, or by the entry of `commonStructs` at `index`."""

    message: Message
    """The message in whose file the struct is defined."""
    field: Field | None
    """The field that defines the struct inline; None for a common struct."""
    is_common: bool
    """Whether the struct is listed under `commonStructs`."""
    name_property: str
    """The property with the name: `type` of the field that defines the struct, `name` of a common struct."""
    versions_problem: str
    """What is wrong with the text of a common struct's `versions`, or empty."""

    def __init__(self, spec: FieldSpec | StructSpec, message: Message, field: Field | None, index: int = 0) -> None:
        self.spec = spec
        self.message = message
        self.field = field
        self.is_common = field is None
        if field:
            self.in_common_struct = field.owner.in_common_struct
            self.name, self.name_property = field.element_type, "type"
            self.pointer, self.path = field.pointer, field.path
            self.versions, self.present = field.versions, field.present
            self.versions_problem = ""  # the problem of the field's versions is the field's
        else:
            self.in_common_struct = True
            self.name, self.name_property = spec.name, "name"
            self.pointer, self.path = f"/commonStructs/{index}", spec.name
            self.versions, self.versions_problem = required_range(spec.versions, message.valid)
            self.present = self.versions & message.valid

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The struct's fields in order, without the fields of nested structs."""
        specs = value_or(self.spec.fields, [])
        return tuple(Field(spec, self.message, self, position) for position, spec in enumerate(specs))

    @cached_property
    def name_is_upper(self) -> bool:
        """Whether the name does not begin with a lowercase letter."""
        return not self.name[:1].islower()

    @cached_property
    def base(self) -> Struct | None:
        """The struct in the base of a comparison; None without a base, or if it is new."""
        base = self.message.base
        return base.structs_by_name.get(self.name) if base else None
