"""The first version of a new RPC: a request and a response that are complete, and say what is still to be said."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from kiplint.fixes.new_version import BadField, FieldToAdd, field_text, map_text, properties_of
from kiplint.model.headers import header_map
from kiplint.model.notes import has_licence
from kiplint.model.schemas import SchemaSet
from kiplint.text.edit import Document
from kiplint.versions import ALL

_NAME: Final = re.compile(r"[A-Z][A-Za-z0-9]*")
_UNIT: Final = "  "
_RESPONSE: Final[tuple[dict[str, Any], ...]] = (
    {
        "name": "ThrottleTimeMs",
        "type": "int32",
        "versions": "0+",
        "about": "How long the request was held back for a quota, in milliseconds, or 0.",
    },
    {
        "name": "ErrorCode",
        "type": "int16",
        "versions": "0+",
        "about": "Why the request failed as a whole, or 0 if it did not.",
    },
    {
        "name": "ErrorMessage",
        "type": "string",
        "versions": "0+",
        "nullableVersions": "0+",
        "default": "null",
        "about": "More about the failure, or null.",
    },
)


class BadName(ValueError):  # noqa: N818
    """There cannot be an RPC of that name or key; the message says why."""


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
    key = _free(name, api_key, schemas)
    heading, newline = _manners(schemas)
    extra = {"latestVersionUnstable": True} if unstable else {}
    if not listeners and (schemas.declares_listeners or not schemas.messages):
        listeners = ("broker",)
    served = {"listeners": list(listeners)} if listeners else {}
    usual = {field["name"] for field in _RESPONSE}
    if twice := next((field.name for field in response if field.name in usual), None):
        raise BadField(f"every response has {twice} already")
    of_request, of_response = (
        [properties_of(field, 0, None, {}, taken, schemas=schemas) for field in fields]
        for fields, taken in ((request, set[str]()), (response, set[str]()))
    )
    asked = _definition(_half(name, "request", key, **served) | extra, _header(schemas, "request"), of_request)
    answered = _definition(
        _half(name, "response", key), _header(schemas, "response"), (*_usual_fields(schemas), *of_response)
    )
    return {
        f"{name}{half}.json": (heading + text.replace("\n", newline)).encode()
        for half, text in (("Request", asked), ("Response", answered))
    }


def _usual_fields(schemas: SchemaSet) -> list[dict[str, Any]]:
    """The fields that every response begins with, described as most responses of the set describe them."""
    fields = []
    for field in _RESPONSE:
        peers = schemas.fields_by_name.get((True, field["name"]), [])
        abouts = Counter(peer.about for peer in peers if peer.top_level and peer.about).most_common(1)
        fields.append(field | ({"about": abouts[0][0]} if abouts and 2 * abouts[0][1] > len(peers) else {}))
    return fields


def _free(name: str, api_key: int | None, schemas: SchemaSet) -> int:
    """The API key of the new RPC, by default the next one. Raises BadName where name or key cannot be taken."""
    if not _NAME.fullmatch(name):
        raise BadName(f"{name!r} is not a name for an RPC: letters and digits, the first a capital letter")
    names = {f"{name}Request".lower(), f"{name}Response".lower()}  # file systems may not tell the cases apart
    if taken := next((other for other in schemas.by_name if other.lower() in names), None):
        raise BadName(f"there is {taken} already")
    keys = {rpc.api_key: rpc.name for rpc in schemas.rpcs if not rpc.is_coordinator}
    if api_key in keys:
        raise BadName(f"API key {api_key} is that of {keys[api_key]}; the next free one is {max(keys) + 1}")
    return max(keys, default=-1) + 1 if api_key is None else api_key


def _half(name: str, kind: str, key: int, **own: Any) -> dict[str, Any]:
    """The properties of a request or response before its fields, in their order; `own` come before the name."""
    named = f"{name}{kind.capitalize()}"
    return {"apiKey": key, "type": kind, **own, "name": named, "validVersions": "0", "flexibleVersions": "0+"}


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
    used = [header for message in schemas.messages if message.type == kind for _, header in header_map(message)]
    return max(used, default=2 if kind == "request" else 1)


def _manners(schemas: SchemaSet) -> tuple[str, str]:
    """The licence that the set's files begin with, and how their lines end."""
    for message in schemas.messages:
        if message.is_rpc and has_licence(message.data):
            document = Document(message.data)
            return document.text[: document.root.start].removeprefix("\ufeff"), document.newline
    first = next((message.data for message in schemas.messages), b"")
    return "", "\r\n" if b"\r\n" in first[:4096] else "\n"
