"""Field types: primitives, their sizes and their integer ranges, and the notation `[]T`."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from kiplint.model.spec import ENTITY_TYPES
from kiplint.text.words import nearest

WIDTHS = {"bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "float64": 8, "uuid": 16}
SIZED = ("string", "bytes", "records")
PRIMITIVES = frozenset({*WIDTHS, *SIZED})

INTEGERS = {
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}

_STRUCT_NAME = r"[A-Z][A-Za-z0-9_]*"


class TypeRef(msgspec.Struct, frozen=True):
    """A parsed type: the element's name, whether it is an array, and what the element is."""

    element: str
    array: bool
    primitive: bool
    struct: bool

    @property
    def nullable(self) -> bool:
        """Whether a value of the type can be null on the wire (KIP-482, KIP-893)."""
        return self.array or self.struct or self.element in SIZED


@lru_cache(maxsize=65536)
def parse_type(text: str) -> TypeRef:
    """Parse a type; a type that Kafka does not know is neither primitive nor struct."""
    text = text.strip()
    array = text.startswith("[]")
    element = text[2:].strip() if array else text
    primitive = element in PRIMITIVES
    return TypeRef(element, array, primitive, not primitive and re.fullmatch(_STRUCT_NAME, element) is not None)


def respelt(text: str) -> str:
    """The Kafka type for a type in the notation of another language (`string[]`, `List<string>`), or empty."""
    match = re.fullmatch(_FOREIGN_ARRAY, text.strip())
    if not match or text.strip().lower() in _ALIASES:
        return ""
    inner = next(group for group in match.groups() if group)
    element = parse_type(inner)
    name = inner if element.primitive else nearest_primitive(inner) or (inner if element.struct else "")
    return f"[]{name}" if name and not element.array else ""


@lru_cache(maxsize=4096)
def nearest_primitive(text: str) -> str:
    """The primitive that a misspelt type name probably means, or empty."""
    primitive = _ALIASES.get(text.lower()) or nearest(text.lower(), PRIMITIVES, 0.75, numbered=False)
    return primitive if text not in PRIMITIVES else ""


_FOREIGN_ARRAY = r"(\w+)\s*\[\s*\]|\[\s*(\w+)\s*\]|(?i:array|list)(?:\s*[<(\[]|\s+of\s)\s*(\w+)\s*[>)\]]?"
_ALIASES = {
    "boolean": "bool",
    "byte": "int8",
    "short": "int16",
    "int": "int32",
    "integer": "int32",
    "long": "int64",
    "float": "float64",
    "double": "float64",
    "text": "string",
    "byte[]": "bytes",
}


_DECIMAL = r"[+-]?[0-9]+"
_HEX = r"0x[+-]?[0-9a-fA-F]+"
_FLOAT = (
    r"[+-]?(?:NaN|Infinity|(?:[0-9]++\.?+[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+[fFdD]?+"
    r"|0[xX](?:[0-9a-fA-F]++\.?+[0-9a-fA-F]*+|\.[0-9a-fA-F]++)[pP][+-]?[0-9]++[fFdD]?+)"
)


class Flaw(msgspec.Struct, frozen=True):
    """What is wrong with a default: a word for the kind of mistake, and a sentence fragment."""

    kind: str
    detail: str


FINE = Flaw("", "")


def as_text(value: str | int | float | bool) -> str:
    """The text that Kafka's reader converts a JSON value to."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def flaw_of(kind: TypeRef, text: str) -> Flaw:
    """The flaw of a default that is neither left out nor null.

    Kinds: `invalid`, `unsupported` (the type takes only empty or null), `octal`, `java`.
    """
    if not text:
        return FINE
    if kind.array or kind.struct or kind.element in ("bytes", "records"):
        what = "an array" if kind.array else "a struct" if kind.struct else kind.element
        return Flaw("unsupported", f"{what} can only default to empty or null")
    if kind.element in INTEGERS:
        return _integer(kind.element, text)
    return _OTHERS[kind.element](text) if kind.element in _OTHERS else FINE


def _integer(name: str, text: str) -> Flaw:
    lowest, highest = INTEGERS[name]
    if re.fullmatch(_HEX, text):
        if text[2] in "+-":
            return Flaw("java", "is not a Java literal: the sign stands after 0x")
        number = int(text, 16)
    elif text == "0x":
        return Flaw("java", "has no digits after 0x")
    elif len(text) < 40 and re.fullmatch(_DECIMAL, text):
        number = int(text)
    else:
        article = "a" if name.startswith("u") else "an"
        return Flaw("invalid", f"is not {article} {name}: write decimal digits, or 0x and hexadecimal digits")
    if not lowest <= number <= highest:
        return Flaw("invalid", f"is outside {name} ({lowest}..{highest})")
    digits = text.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0" and digits[1] != "x" and number:
        if set(digits) & set("89"):
            return Flaw("java", "has a leading zero, so Java reads it as octal, which has no digits 8 and 9")
        return Flaw("octal", f"is read as {number}, but Java reads a leading zero as octal")
    if name == "uint32" and number >= 2**31:
        if digits[1] == "x":
            return Flaw("java", f"is {number - 2**32} in Java, which reads it as an int")
        return Flaw("java", "is above 2147483647, too large for an int in Java, so the generated code does not compile")
    return FINE


def _boolean(text: str) -> Flaw:
    return FINE if text.lower() in ("true", "false") else Flaw("invalid", "is not a bool: write true or false")


def _float(text: str) -> Flaw:
    text = text.strip()
    if not re.fullmatch(_FLOAT, text):
        return Flaw("invalid", "is not a float64")
    if "x" in text.lower() or "n" in text:  # NaN and Infinity
        return FINE
    number = float(text.rstrip("fFdD"))
    if math.isinf(number):
        return Flaw("java", "is too large for a double in Java, so the generated code does not compile")
    if not number and re.match("[^eE]*[1-9]", text):
        return Flaw("java", "is too small for a double in Java, so the generated code does not compile")
    return FINE


def _uuid(text: str) -> Flaw:
    try:
        # Python takes + and / too, whatever the alternatives to them.
        size = len(base64.b64decode(re.sub("[+/]", "!", text) + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
    except ValueError:
        return Flaw("invalid", "is not a uuid: it is not URL-safe base64")
    return FINE if size == 16 else Flaw("invalid", f"is not a uuid: it decodes to {size} bytes, not 16")


def _string(text: str) -> Flaw:
    if any(char in text for char in '"\\\n\r'):
        return Flaw("java", "holds a quote, a backslash or a line end, which the generated Java does not escape")
    return FINE


_OTHERS = {"bool": _boolean, "float64": _float, "uuid": _uuid, "string": _string}


_TRUE = ("true", "True", "TRUE")
_FALSE = ("false", "False", "FALSE", "")

WORDS = {
    "type": ("request", "response", "header", "metadata", "data", "coordinator-key", "coordinator-value"),
    "entityType": ENTITY_TYPES,
}
"""The values that properties with a fixed choice may have."""

NO_VALUE: Any = object()
"""What `coerced` returns for a value that Kafka's reader refuses."""


def coerce(path: Sequence[str | int], value: Any) -> Any:
    """The value that Kafka's reader reads from a value of the wrong JSON type for the property at `path`, or None.

    `NO_VALUE` when it takes it for an error.
    """
    kind = kind_at(path)
    if path and isinstance(path[-1], int):
        return str(value) if kind == "strings" and isinstance(value, (int, float)) else NO_VALUE
    return _COERCIONS[kind](value) if kind in _COERCIONS else NO_VALUE


def kind_at(path: Sequence[str | int]) -> str:
    """What kind of value the property at `path` has: bool, int, enum, list, strings, map, default or string."""
    name = next((token for token in reversed(path) if isinstance(token, str)), "")
    return "enum" if list(path) == ["type"] else _KINDS.get(name, "string")


def _to_bool(value: Any) -> Any:
    if isinstance(value, str):
        text = value.strip()
        return True if text in _TRUE else False if text in _FALSE else NO_VALUE
    return bool(value) if value is None or isinstance(value, int) else NO_VALUE


def _to_int(value: Any) -> Any:
    if isinstance(value, float) and abs(value) < 2**31:
        return int(value)
    if isinstance(value, str):
        text = value.strip()
        if not text:
            return None
        digits = text.lstrip("+-")
        return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 6 else NO_VALUE
    return NO_VALUE


def _to_string(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**40 else NO_VALUE
    return repr(value) if isinstance(value, float) else NO_VALUE


def _to_enum(value: Any) -> Any:
    if isinstance(value, str) and value != value.strip() and value.strip() in {*WORDS["type"], *WORDS["entityType"]}:
        return value.strip()
    return NO_VALUE


_COERCIONS: dict[str, Callable[[Any], Any]] = {
    "bool": _to_bool,
    "int": _to_int,
    "string": _to_string,
    "enum": _to_enum,
    "list": lambda value: [value] if isinstance(value, dict) else NO_VALUE,
    "strings": lambda value: [value] if isinstance(value, str) else NO_VALUE,
}
_KINDS = {
    **dict.fromkeys(("ignorable", "mapKey", "zeroCopy", "latestVersionUnstable"), "bool"),
    **dict.fromkeys(("apiKey", "tag"), "int"),
    "entityType": "enum",
    "listeners": "strings",
    "fields": "list",
    "commonStructs": "list",
    "headerVersions": "map",
    "default": "default",
}
