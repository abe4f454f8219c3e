"""What is known of a field as soon as it is read: most facts about most fields, without computing any."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET

from kiplint.model.element import given, read_range
from kiplint.model.spec import FieldSpec
from kiplint.model.types import TypeRef, parse_type
from kiplint.versions import NONE

if TYPE_CHECKING:
    from kiplint.model.container import Container
    from kiplint.model.message import Message

_SMALL = "abcdefghijklmnopqrstuvwxyz"
_ACRONYM = "[A-Z]{2,}(?=[A-Z][a-z]|s?[0-9]|s?$|s[A-Z])"
# What is known of a field without looking further where a property is left out, as most are.
_LEFT_OUT: dict[str, dict[str, object]] = {
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
_PLAIN = {name: value for facts in _LEFT_OUT.values() for name, value in facts.items()}
_GIVEN = tuple((attribute, tuple(facts)) for attribute, facts in _LEFT_OUT.items())


class FieldStart:
    """The part of a field that is known from the start; `spec` is its JSON as written."""

    name: Annotated[str, "The field's name."]
    name_is_valid: Annotated[bool, "Whether the name is an ASCII letter and then ASCII letters and digits."]
    name_is_upper: Annotated[bool, "Whether the name begins with a capital letter."]
    acronym: Annotated[str, "Several capitals in the name that are one word, as in LastKnownELR; else empty."]
    first_word: Annotated[str, "The name's first word, in lower case: `is` of `IsInternal`."]
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
        self.about = given(spec.about, "")
        self.kind: TypeRef = parse_type(spec.type)
        known = self.__dict__
        known.update(_name_facts(spec.name))
        known.update(_type_facts(spec.type))
        known.update(_PLAIN)
        for attribute, names in _GIVEN:
            if getattr(spec, attribute) is not UNSET:
                for name in names:
                    del known[name]
        known.update(_range_facts(spec.versions))


@lru_cache(maxsize=65536)
def _range_facts(text: str) -> dict[str, object]:
    read = read_range(text)
    versions = read.value
    return (
        {}
        if read.problem
        else {
            "versions": versions,
            "versions_problem": "",
            "is_open_ended": versions.open,
            "starts_late": versions.lowest > 0,
        }
    )


@lru_cache(maxsize=65536)
def _name_facts(name: str) -> dict[str, object]:
    java_name = name[:1].lower() + name[1:]
    acronym = None if name[1:].islower() else re.search(_ACRONYM, name)
    return {
        "name": name,
        "name_is_valid": name.isascii() and name.isalnum() and name[0].isalpha(),
        "name_is_upper": name[:1].isupper(),
        "acronym": acronym[0] if acronym else "",
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
