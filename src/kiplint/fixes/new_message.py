"""The first version of new messages: of an RPC, a metadata record, or the record of a coordinator."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

from kiplint.fixes.new_version import BadField, FieldToAdd, field_text, map_text, parse_fields, properties_of
from kiplint.model.headers import header_map
from kiplint.model.notes import body_start
from kiplint.model.schemas import SchemaSet
from kiplint.text.edit import Document
from kiplint.versions import ALL

_NAME: Final = re.compile(r"[A-Z][A-Za-z0-9]*")
_UNIT: Final = "  "
_RESPONSE: Final = """
ThrottleTimeMs:int32 -- How long the request was held back for a quota, in milliseconds, or 0.,
ErrorCode:int16 -- Why the request failed as a whole, or 0 if it did not.,
ErrorMessage:string?=null -- More about the failure, or null.
"""
"""The fields that every response begins with, in the notation of `parse_fields`."""


class BadName(ValueError):  # noqa: N818
    """There cannot be a message of that name or key; the message says why."""


def new_rpc(
    name: str,
    schemas: SchemaSet,
    *,
    api_key: int | None = None,
    listeners: Sequence[str] = (),
    unstable: bool = False,
    request: Sequence[FieldToAdd] = (),
    response: Sequence[FieldToAdd] = (),
) -> dict[str, bytes]:
    """The request and the response of a new RPC with these fields, by file name.

    The API key is the next after all that the set has. Licence, line ends and header versions are as in the set, and so
    is whether requests name `listeners`, by default the brokers'.
    Raises BadName for a name that is taken or cannot be one, and for a key that is taken.
    """
    name = name.removesuffix("Request").removesuffix("Response")
    key = _free(name, ("request", "response"), api_key, schemas)
    extra = {"latestVersionUnstable": True} if unstable else {}
    if not listeners and (schemas.declares_listeners or not schemas.messages):
        listeners = ("broker",)
    listener_properties = {"listeners": list(listeners)} if listeners else {}
    usual = {field.name for field in parse_fields(_RESPONSE)}
    if twice := next((field.name for field in response if field.name in usual), None):
        raise BadField(f"every response has {twice} already")
    of_request, of_response = (
        [properties_of(field, 0, None, {}, struct_names, schemas=schemas) for field in fields]
        for fields, struct_names in ((request, set[str]()), (response, set[str]()))
    )
    halves = (
        (_head(f"{name}Request", "request", key, **listener_properties) | extra, of_request),
        (_head(f"{name}Response", "response", key), (*_usual_fields(schemas), *of_response)),
    )
    texts = {half["name"]: _definition(half, _header(schemas, half["type"]), fields) for half, fields in halves}
    return in_manner(texts, schemas)


def new_record(
    name: str, schemas: SchemaSet, *, api_key: int | None = None, fields: Sequence[FieldToAdd] = ()
) -> dict[str, bytes]:
    """The definition of a new metadata record, by file name; keys, names and errors are as for `new_rpc`."""
    name = name.removesuffix("Record")
    key = _free(name, ("metadata",), api_key, schemas)
    text = _definition(_head(f"{name}Record", "metadata", key), None, _properties(fields, schemas, "metadata"))
    return in_manner({f"{name}Record": text}, schemas)


def new_coordinator(
    name: str,
    schemas: SchemaSet,
    *,
    api_key: int | None = None,
    key: Sequence[FieldToAdd] = (),
    value: Sequence[FieldToAdd] = (),
) -> dict[str, bytes]:
    """The key and the value of a new record of a coordinator, by file name, as `new_rpc` makes an RPC.

    A key has version 0 alone, which is not flexible (KIP-915).
    """
    name = name.removesuffix("Key").removesuffix("Value")
    number = _free(name, ("coordinator-key", "coordinator-value"), api_key, schemas)
    of_key = [field | {"versions": "0"} for field in _properties(key, schemas, "coordinator-key")]
    texts = {
        f"{name}Key": _definition(
            _head(f"{name}Key", "coordinator-key", number) | {"flexibleVersions": "none"}, None, of_key
        ),
        f"{name}Value": _definition(
            _head(f"{name}Value", "coordinator-value", number),
            None,
            _properties(value, schemas, "coordinator-value"),
        ),
    }
    return in_manner(texts, schemas)


def in_manner(definitions: Mapping[str, str], schemas: SchemaSet) -> dict[str, bytes]:
    """Definitions by the names of their files, with the licence and the line ends of the set."""
    heading, newline = _manners(schemas)
    return {f"{name}.json": (heading + text.replace("\n", newline)).encode() for name, text in definitions.items()}


_TOKEN: Final = re.compile(r'"(?:[^"\\\r\n]|\\.)*"|//[^\r\n]*|/\*.*?\*/|[{}\[\]]', re.DOTALL)


def indent(text: str) -> str:
    """A definition with two blanks before each line for each bracket that is open there."""
    lines: list[str] = []
    depth = 0
    for line in text.strip().splitlines():
        bare = line.strip()
        brackets = [token for token in _TOKEN.findall(bare) if token in {"{", "}", "[", "]"}]
        closing = len(bare) - len(bare.lstrip("}]"))
        lines.append(f"{_UNIT * max(depth - closing, 0)}{bare}" if bare else "")
        depth += sum(1 if bracket in "{[" else -1 for bracket in brackets)
    return "\n".join(lines) + "\n"


def _properties(fields: Sequence[FieldToAdd], schemas: SchemaSet, kind: str) -> list[dict[str, Any]]:
    """The properties of the fields; their names begin in lower case if most such messages do so."""
    names = [field.name for message in schemas.messages if message.type == kind for field in message.all_fields]
    lower = 2 * sum(name[:1].islower() for name in names) > len(names)
    struct_names: set[str] = set()
    properties = [properties_of(field, 0, None, {}, struct_names, schemas=schemas) for field in fields]
    return [_lower(field) for field in properties] if lower else properties


def _lower(field: dict[str, Any]) -> dict[str, Any]:
    inner = {"fields": [_lower(child) for child in field["fields"]]} if "fields" in field else {}
    return field | {"name": field["name"][:1].lower() + field["name"][1:]} | inner


def _usual_fields(schemas: SchemaSet) -> list[dict[str, Any]]:
    """The fields that every response begins with, described as most responses of the set describe them."""
    fields = []
    for field in (properties_of(field, 0, None, {}, set()) for field in parse_fields(_RESPONSE)):
        peers = schemas.fields_by_name.get((True, field["name"]), [])
        abouts = Counter(peer.about for peer in peers if peer.top_level and peer.about).most_common(1)
        fields.append(field | ({"about": abouts[0][0]} if abouts and 2 * abouts[0][1] > len(peers) else {}))
    return fields


_ENDS: Final = {
    "request": "Request", "response": "Response", "metadata": "Record",
    "coordinator-key": "Key", "coordinator-value": "Value",
}  # fmt: skip
"""The end of a message's name by its type."""


def _free(name: str, kinds: Sequence[str], api_key: int | None, schemas: SchemaSet) -> int:
    """The API key of new messages, by default the next one. Raises BadName where name or key cannot be taken."""
    if not _NAME.fullmatch(name):
        what = "an RPC" if "request" in kinds else "a record"
        raise BadName(f"{name!r} is not a name for {what}: letters and digits, the first a capital letter")
    names = {f"{name}{_ENDS[kind]}".lower() for kind in kinds}  # file systems may not tell the cases apart
    if namesake := next((other for other in schemas.by_name if other.lower() in names), None):
        raise BadName(f"there is {namesake} already")
    owners = [message for message in schemas.messages if message.type in kinds]
    keys = {message.api_key: message.base_name for message in owners if message.api_key is not None}
    if api_key in keys:
        raise BadName(f"API key {api_key} belongs to {keys[api_key]}; the next free one is {max(keys) + 1}")
    return max(keys, default=-1) + 1 if api_key is None else api_key


def _head(name: str, kind: str, key: int, **own: Any) -> dict[str, Any]:
    """The properties of a message before its fields, in their order; `own` come before the name."""
    return {"apiKey": key, "type": kind, **own, "name": name, "validVersions": "0", "flexibleVersions": "0+"}


def _definition(properties: dict[str, Any], header: int | None, fields: Sequence[dict[str, Any]]) -> str:
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in properties.items()]
    if header is not None:
        flexible = list(properties).index("flexibleVersions") + 1
        lines.insert(flexible, f'"headerVersions": {map_text(((ALL, header),), _UNIT)}')
    inner = [field_text(field) for field in fields]
    lines.append('"fields": [' + ",".join(f"\n{_UNIT}" + text.replace("\n", f"\n{_UNIT}") for text in inner) + "\n]")
    body = ",\n".join(lines).replace("\n", f"\n{_UNIT}")
    return f"{{\n{_UNIT}{body}\n}}\n"


def _header(schemas: SchemaSet, kind: str) -> int | None:
    """The newest header that messages of the kind use, in a set that declares headers."""
    if not schemas.declares_headers:
        return None
    headers = [header for message in schemas.messages if message.type == kind for _, header in header_map(message)]
    return max(headers, default=2 if kind == "request" else 1)


def _manners(schemas: SchemaSet) -> tuple[str, str]:
    """The licence that the set's files begin with, and how their lines end."""
    for message in schemas.messages:
        if body_start(message.data):
            document = Document(message.data)
            return document.text[: document.root.start].removeprefix("\ufeff"), document.newline
    first = next((message.data for message in schemas.messages), b"")
    return "", "\r\n" if b"\r\n" in first[:4096] else "\n"
