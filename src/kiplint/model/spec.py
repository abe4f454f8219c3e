"""The JSON shape of a definition file, defined once: the decoder and the published schema come from it.

The functions below read optional properties and version ranges.

Source: Kafka's message definitions (KIP-482 for tags and flexible versions, KIP-1313 for headerVersions).

The annotations are not strings, as `from __future__ import annotations` would make them: to evaluate those takes time.
"""

from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kiplint.versions import NONE, InvalidRange, InvertedRange, VersionRange

T = TypeVar("T")

MessageType = Literal["request", "response", "header", "metadata", "data", "coordinator-key", "coordinator-value"]
ENTITY_TYPES = ("unknown", "transactionalId", "producerId", "groupId", "topicName", "brokerId")
"""Kafka's words for what a value identifies."""

Int16 = Annotated[int, Meta(ge=-32768, le=32767)]
Int32 = Annotated[int, Meta(ge=-2147483648, le=2147483647)]


_Text = str | None | UnsetType
_Flag = bool | UnsetType


class _SpecBase(msgspec.Struct, forbid_unknown_fields=True, rename="camel", gc=False):
    pass


class FieldSpec(_SpecBase, kw_only=True):
    """One field of a message or struct."""

    name: Annotated[str, Meta(description="The field's name, in camel case.")]
    type: Annotated[str, Meta(description="A primitive, a struct name, or an array of either.")]
    versions: Annotated[str, Meta(description="The message versions in which the field exists.")]
    about: Annotated[_Text, Meta(description="What the field means, as a sentence.")] = UNSET
    default: Annotated[
        str | int | float | bool | UnsetType | None,
        Meta(description='The default value; "null" for null. If omitted, the zero value of the type.'),
    ] = UNSET
    nullable_versions: Annotated[_Text, Meta(description="The versions in which the value may be null.")] = UNSET
    tagged_versions: Annotated[
        _Text, Meta(description="The versions in which the field is a tagged field (KIP-482).")
    ] = UNSET
    tag: Annotated[
        Int32 | UnsetType | None, Meta(description="The tag number, counted from 0 in each struct (KIP-482).")
    ] = UNSET
    flexible_versions: Annotated[
        _Text,
        Meta(
            description=(
                "For string and bytes: the versions with the compact encoding (KIP-482), if not the message's."
            )
        ),
    ] = UNSET
    entity_type: Annotated[
        _Text, Meta(description="What the value identifies, for code that checks it; forks have their own values.")
    ] = UNSET
    ignorable: Annotated[
        _Flag, Meta(description="Whether a writer may drop the value in versions without the field.")
    ] = UNSET
    map_key: Annotated[_Flag, Meta(description="Whether it is part of the key of its struct's array.")] = UNSET
    zero_copy: Annotated[_Flag, Meta(description="For bytes: whether readers get a view, not a copy.")] = UNSET
    fields: Annotated[
        "list[FieldSpec] | UnsetType | None", Meta(description="The fields of the struct that this field defines.")
    ] = UNSET


class StructSpec(_SpecBase, kw_only=True):
    """One struct under commonStructs, shared by several fields."""

    name: Annotated[str, Meta(description="The struct's name, beginning with a capital letter.")]
    versions: Annotated[str, Meta(description="The message versions in which the struct exists.")]
    deprecated_versions: Annotated[_Text, Meta(description="The versions that clients should stop using.")] = UNSET
    fields: Annotated[list[FieldSpec] | UnsetType | None, Meta(description="The struct's fields, in order.")] = UNSET


class MessageSpec(_SpecBase, kw_only=True):
    """One definition file: a request, response, header or record."""

    name: Annotated[str, Meta(description="The name of the message and of its file.")]
    type: Annotated[MessageType, Meta(description="What kind of message it is.")]
    valid_versions: Annotated[str, Meta(description='The versions that exist, or "none" for a retired message.')]
    api_key: Annotated[Int16 | UnsetType | None, Meta(description="The number of the RPC or record type.")] = UNSET
    listeners: Annotated[
        list[str] | UnsetType | None, Meta(description="For requests: the listeners that serve it.")
    ] = UNSET
    flexible_versions: Annotated[
        _Text, Meta(description="The versions with compact encodings and tagged fields (KIP-482).")
    ] = UNSET
    deprecated_versions: Annotated[
        _Text, Meta(description="The versions that clients should stop using (KIP-896).")
    ] = UNSET
    header_versions: Annotated[
        dict[str, str] | UnsetType | None,
        Meta(description="For requests and responses: header version by range of versions (KIP-1313)."),
    ] = UNSET
    latest_version_unstable: Annotated[
        bool | UnsetType, Meta(description="For requests: whether the highest version may still change (KIP-848).")
    ] = UNSET
    common_structs: Annotated[
        list[StructSpec] | UnsetType | None, Meta(description="Structs that several fields use.")
    ] = UNSET
    fields: Annotated[list[FieldSpec] | UnsetType | None, Meta(description="The top-level fields, in order.")] = UNSET


DECODER = msgspec.json.Decoder(MessageSpec)


def message_schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a definition file of Kafka's, comments removed."""
    schema = reading_schema()
    schema["$defs"]["FieldSpec"]["properties"]["entityType"] = {
        "description": "What the value identifies, for code that checks it.",
        "enum": [None, *ENTITY_TYPES],
    }
    return schema


def reading_schema() -> dict[str, Any]:
    """The JSON Schema of a definition file that kiplint can read, with any entity types: forks have their own."""
    schema = msgspec.json.schema(MessageSpec)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Apache Kafka message definition",
        **schema,
    }


def value_or(value: T | UnsetType | None, default: T) -> T:
    """The value, or the default if the property is missing or null."""
    return default if value is UNSET or value is None else value


class ParsedRange(NamedTuple):
    """A version range as written: its value (a stand-in when it is invalid), and what is wrong with it or empty."""

    value: VersionRange
    problem: str


@lru_cache(maxsize=65536)
def required_range(text: str, stand_in: VersionRange = NONE) -> ParsedRange:
    """Parse a range that must be present; a text that is invalid, or blank, has the versions of the stand-in.

    An inverted range, such as `3-1`, has no versions whatever the stand-in, as in Kafka.
    """
    try:
        return ParsedRange(VersionRange.parse(text), "")
    except InvalidRange as error:
        return ParsedRange(NONE if isinstance(error, InvertedRange) else stand_in, str(error))


def optional_range(text: str | UnsetType | None, stand_in: VersionRange = NONE) -> ParsedRange:
    """Parse a range that may be missing, null or blank; the stand-in replaces it."""
    if not isinstance(text, str) or not text.strip():
        return ParsedRange(stand_in, "")
    return required_range(text, stand_in)


def escape(token: str) -> str:
    """A property's name as it is written in a JSON pointer (RFC 6901): `a~1b` for `a/b`."""
    return token.replace("~", "~0").replace("/", "~1")
