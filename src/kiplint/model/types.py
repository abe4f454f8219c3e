"""Field types: primitives, their sizes and their integer ranges, and the notation `[]T`."""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from kiplint.text.suggest import nearest

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
    """Read a type; one that Kafka does not know is neither primitive nor struct."""
    trimmed = text.strip()
    array = trimmed.startswith("[]")
    element = trimmed[2:].strip() if array else trimmed
    primitive = element in PRIMITIVES
    return TypeRef(element, array, primitive, not primitive and re.fullmatch(_STRUCT_NAME, element) is not None)


def respelt(text: str) -> str:
    """The type that one in the notation of another language means (`string[]`, `List<string>`), or empty."""
    found = re.fullmatch(_FOREIGN_ARRAY, text.strip())
    if not found or text.strip().lower() in _ALIASES:
        return ""
    inner = next(one for one in found.groups() if one)
    element = parse_type(inner)
    name = inner if element.primitive else nearest_primitive(inner) or (inner if element.struct else "")
    return f"[]{name}" if name and not element.array else ""


def nearest_primitive(text: str) -> str:
    """The primitive that a misspelt type name probably means, or empty."""
    known = _ALIASES.get(text.lower()) or nearest(text.lower(), sorted(PRIMITIVES), 0.75, numbered=False)
    return known if text not in PRIMITIVES else ""


_FOREIGN_ARRAY = (
    r"(?!\[\])(?:(\w+)\s*\[\s*\]|\[\s*(\w+)\s*\]|(?i:array|list|vector|vec|seq|set|slice|collection)\s*[<(\[{]\s*(\w+)\s*[>)\]}]|"
    r"(?i:array|list)\s+of\s+(\w+)|repeated\s+(\w+)|\*(\w+))"
)
_ALIASES = {
    **dict.fromkeys(("boolean",), "bool"),
    **dict.fromkeys(("byte", "tinyint"), "int8"),
    **dict.fromkeys(("short", "int24"), "int16"),
    **dict.fromkeys(("int", "integer"), "int32"),
    **dict.fromkeys(("long", "timestamp"), "int64"),
    **dict.fromkeys(("float", "double", "float32"), "float64"),
    **dict.fromkeys(("str", "text", "nullable_string", "compact_string"), "string"),
    **dict.fromkeys(("byte[]", "blob"), "bytes"),
    **dict.fromkeys(("record",), "records"),
}
