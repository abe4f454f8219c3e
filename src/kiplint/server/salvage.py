"""The message of a text that cannot be read while it is typed: what is there, and the rest from when it last could."""

from __future__ import annotations

import os
from typing import Any, Final

import msgspec

from kiplint.model.message import Message
from kiplint.model.shape import repair
from kiplint.model.spec import MessageSpec
from kiplint.server.buffer import Buffer
from kiplint.text.tree import Node

_ELEMENTS: Final = ("fields", "commonStructs")
_NEEDED: Final = frozenset(("type", "versions", "fields"))
"""What is taken over of a field or struct although the text does not begin it; of the message everything is."""


def salvage(buffer: Buffer, before: MessageSpec | None) -> Message | None:
    """The message of a broken text, `before` what it last was; None where not even an object can be made out.

    Pointers refer to the broken text.
    """
    value = _value(buffer.root, buffer.text) if buffer.root else None
    if not isinstance(value, dict):
        return None
    value = _merged(value, msgspec.to_builtins(before) if before else {}, whole=True)
    name = os.path.basename(buffer.path).removesuffix(".json")
    stand_ins = {"name": name, "type": "response" if name.endswith("Response") else "request", "validVersions": "0"}
    spec = repair({**stand_ins, **value})[0]
    return Message(spec, buffer.path, buffer.data) if spec else None


_MISSING: Final = object()


def _value(node: Node, text: str) -> Any:
    """The value of a node; `_MISSING` for what has none yet, or is a string without its end."""
    if node.kind == "object":
        return {child.key: _value(child, text) for child in node.children}
    if node.kind == "array":
        return [value for child in node.children if (value := _value(child, text)) is not _MISSING]
    if node.kind == "string":
        closed = node.end - node.start > 1 and text[node.end - 1] == text[node.start]
        return node.string(text) if closed else _MISSING
    try:
        return msgspec.json.decode(text[node.start : node.end])
    except msgspec.DecodeError:
        return _MISSING


def _merged(value: dict[str, Any], before: dict[str, Any], *, whole: bool = False) -> dict[str, Any]:
    """An object with what it lacks, and what its text has only begun, as it was before; elements go by their names."""
    merged = {key: inner for key, inner in value.items() if inner is not _MISSING}
    for key, inner in before.items():
        if key not in merged and (whole or key in value or key in _NEEDED):
            merged[key] = inner
    for key in _ELEMENTS:
        if isinstance(elements := value.get(key), list):
            former = {element["name"]: element for element in before.get(key) or ()}
            merged[key] = [
                _merged(element, former.get(element.get("name"), {}) if isinstance(element.get("name"), str) else {})
                for element in elements
                if isinstance(element, dict)
            ]
    return merged
