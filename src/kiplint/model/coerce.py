"""What Kafka's reader (Jackson) makes of values of the wrong JSON type, such as `"ignorable": "true"`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kiplint.model.spec import ENTITY_TYPES

_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE", "")

WORDS = {
    "type": ("request", "response", "header", "metadata", "data", "coordinator-key", "coordinator-value"),
    "entityType": ENTITY_TYPES,
}
"""The values that properties with a fixed choice may have."""

REFUSED: Any = object()
"""What `coerced` gives for a value that Kafka's reader does not take."""


def coerced(path: Sequence[str | int], value: Any) -> Any:
    """What Kafka's reader makes of a value of another JSON type than the property at `path` has; None for nothing.

    `REFUSED` when it takes it for an error.
    """
    wanted = wanted_at(path)
    if path and isinstance(path[-1], int):
        return str(value) if wanted == "strings" and isinstance(value, (int, float)) else REFUSED
    return _COERCIONS[wanted](value) if wanted in _COERCIONS else REFUSED


def wanted_at(path: Sequence[str | int]) -> str:
    """What kind of value the property at `path` has: bool, int, enum, list, strings, map, default or string."""
    named = next((token for token in reversed(path) if isinstance(token, str)), "")
    return "enum" if list(path) == ["type"] else _WANTED.get(named, "string")


def _to_bool(value: Any) -> Any:
    if isinstance(value, str):
        text = value.strip()
        return True if text in _TRUE else False if text in _FALSE else REFUSED
    return bool(value) if value is None or isinstance(value, int) else REFUSED


def _to_int(value: Any) -> Any:
    if isinstance(value, float) and abs(value) < 2**31:
        return int(value)
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        digits = text.lstrip("+-")
        return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 6 else REFUSED
    return REFUSED


def _to_string(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**40 else REFUSED
    return repr(value) if isinstance(value, float) else REFUSED


def _to_enum(value: Any) -> Any:
    if isinstance(value, str) and value != value.strip() and value.strip() in {*WORDS["type"], *WORDS["entityType"]}:
        return value.strip()
    return REFUSED


def _to_list(value: Any) -> Any:
    return [value] if isinstance(value, dict) else REFUSED


def _to_strings(value: Any) -> Any:
    return [value] if isinstance(value, str) else REFUSED


_COERCIONS = {
    "bool": _to_bool,
    "int": _to_int,
    "string": _to_string,
    "enum": _to_enum,
    "list": _to_list,
    "strings": _to_strings,
}
_WANTED = {
    **dict.fromkeys(("ignorable", "mapKey", "zeroCopy", "latestVersionUnstable"), "bool"),
    **dict.fromkeys(("apiKey", "tag"), "int"),
    "entityType": "enum",
    "listeners": "strings",
    "fields": "list",
    "commonStructs": "list",
    "headerVersions": "map",
    "default": "default",
}
