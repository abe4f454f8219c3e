"""The kinds of values that readers take for a property."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

from kiplint.readers.profile import Parts, Profile

_RANGE: Final = re.compile(r"[0-9]{1,9}(?:\+|-[0-9]{1,9})?")
_TRUTHS: Final = frozenset("0 off f false n no 1 on t true y yes".split())  # noqa: SIM905 (a list of words)


def _integer(low: int, high: int) -> Callable[[Any], bool]:
    return lambda value: type(value) is int and low <= value <= high


def _loose_integer(value: Any) -> bool:
    if isinstance(value, str):
        return re.fullmatch(r"\s*[+-]?[0-9]{1,20}\s*", value) is not None
    return isinstance(value, int) or (isinstance(value, float) and value.is_integer())


def _loose_boolean(value: Any) -> bool:
    return value in (0, 1) if isinstance(value, (bool, int, float)) else str(value).lower() in _TRUTHS


def _objects(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, dict) for one in value)


CHECKS: Final[dict[str, tuple[str, Callable[[Any], bool]]]] = {
    "any": ("anything", lambda value: True),
    "text": ("text", lambda value: isinstance(value, str)),
    "integer": ("an integer", lambda value: type(value) is int),
    "int16": ("a 16 bit integer", _integer(-(1 << 15), (1 << 15) - 1)),
    "int32": ("a 32 bit integer", _integer(-(1 << 31), (1 << 31) - 1)),
    "count": ("a number from 0 on", _integer(0, (1 << 32) - 1)),
    "boolean": ("true or false", lambda value: isinstance(value, bool)),
    "scalar": ("text, a number, true or false", lambda value: isinstance(value, (str, int, float))),
    "textOrInteger": ("text or an integer", lambda value: isinstance(value, str) or type(value) is int),
    "looseInteger": ("an integer", _loose_integer),
    "looseBoolean": ("true or false", _loose_boolean),
    "looseText": ("text", lambda value: isinstance(value, (str, int, float))),
    "versions": ("a range of versions", lambda value: isinstance(value, str)),
    "type": ("a type", lambda value: isinstance(value, str)),
    "texts": ("a list of texts", lambda value: isinstance(value, list) and all(isinstance(one, str) for one in value)),
    "list": ("a list", lambda value: isinstance(value, list)),
    "fields": ("a list of fields", _objects),
    "structs": ("a list of structs", _objects),
}
"""By kind: what it is called, and whether a value is of it."""


def amiss(name: str, value: Any, parts: Parts, profile: Profile) -> str:
    """What the reader has against the value of a property that it knows, or empty."""
    kind = parts.properties[name]
    if value is None and kind.endswith("?"):
        return ""
    called, check = CHECKS[kind.rstrip("?")]
    if not check(value):
        return f"{name} has to be {called} for it"
    words = parts.words.get(name)
    for one in value if isinstance(value, list) and words else (value,):
        if words and one not in words:
            return f"it knows no {name} {one}"
    return _range(name, value, profile) if kind.startswith("versions") else ""


def _range(name: str, text: str, profile: Profile) -> str:
    if profile.versions == "any":
        return ""
    if text == "none":
        return "" if profile.none is None or name in profile.none else f'it does not take "none" for {name}'
    known = _RANGE.fullmatch(text) if profile.versions == "pattern" else _as_ints(text)
    return "" if known else f'it does not take "{text}" for {name}'


def _as_ints(text: str) -> bool:
    parts = [text[:-1]] if text.endswith("+") else text.split("-", 1)
    return all(re.fullmatch(r"\s*[0-9](?:_?[0-9]){0,9}\s*", part) for part in parts)
