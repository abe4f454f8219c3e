"""Field types: primitives, their sizes and their integer ranges, the notation `[]T`, and the defaults of a type."""

from __future__ import annotations

import base64
import math
import re
from functools import lru_cache

import msgspec

from kiplint.text.words import nearest

WIDTHS = {"bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "int64": 8, "float64": 8, "uuid": 16}
"""The primitives of a fixed size, and their bytes."""
LENGTH_PREFIXED = ("string", "bytes", "records")
"""The primitives that are written after their length."""
PRIMITIVES = frozenset({*WIDTHS, *LENGTH_PREFIXED})

ID_TYPES = ("int16", "int32", "int64")
"""The primitives of ids, epochs and offsets."""
ID_WORDS = ("Id", "Epoch", "Offset", "Leader", "Replica")
"""The words that end the name of an integer for which 0 is the first, and -1 means none."""

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
        return self.array or self.struct or self.element in LENGTH_PREFIXED


@lru_cache(maxsize=65536)
def parse_type(text: str) -> TypeRef:
    """Parse a type; an unknown type is neither a primitive nor a struct."""
    text = text.strip()
    array = text.startswith("[]")
    element = text[2:].strip() if array else text
    primitive = element in PRIMITIVES
    return TypeRef(element, array, primitive, not primitive and re.fullmatch(_STRUCT_NAME, element) is not None)


def array_notation(text: str) -> str:
    """The Kafka type for an array in the notation of another language: `[]string` for `List<text>`; otherwise empty."""
    match = re.fullmatch(_FOREIGN_ARRAY, text.strip())
    if not match or text.strip().lower() in _ALIASES:  # `byte[]` is bytes
        return ""
    element = match[1] or match[2] or match[3]  # a group for each notation
    if element not in PRIMITIVES:
        element_struct = element if parse_type(element).struct else ""
        element = nearest_primitive(element) or element_struct
    return f"[]{element}" if element else ""


@lru_cache(maxsize=4096)
def nearest_primitive(text: str) -> str:
    """The primitive that a misspelled type name probably stands for, or empty."""
    if text in PRIMITIVES:
        return ""
    # Not `numbered`: types with other numbers, as int32 for int33, are close too.
    return _ALIASES.get(text.lower()) or nearest(text.lower(), PRIMITIVES, 0.75, numbered=False)


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
    """What is wrong with a default: a word for the kind of mistake, and how a sentence about the default goes on."""

    kind: str
    detail: str


NO_FLAW = Flaw("", "")


def flaw_of(kind: TypeRef, text: str) -> Flaw:
    """The flaw of a default that is not null, as text; an empty text has none.

    Kafka's generator rejects the kinds `invalid` and `unsupported` (the type takes only empty or null). It takes
    `octal`, which Java reads as another number, and `java`, with which Java does not compile or has another value.
    """
    if not text:
        return NO_FLAW
    if kind.array:
        return Flaw("unsupported", "an array can only default to empty or null")
    if kind.struct:
        return Flaw("unsupported", "a struct can only default to empty or null")
    if kind.element in ("bytes", "records"):
        return Flaw("unsupported", f"{kind.element} can only default to empty or null")
    if kind.element in INTEGERS:
        return _integer_flaw(kind.element, text)
    find_flaw = _FLAW_OF_PRIMITIVE.get(kind.element)
    return find_flaw(text) if find_flaw else NO_FLAW


def _integer_flaw(name: str, text: str) -> Flaw:
    """The flaw of a default of the integer type `name`, such as `int32`."""
    if text == "0x":
        return Flaw("java", "has no digits after 0x")
    is_hex = re.fullmatch(_HEX, text) is not None
    if is_hex and text[2] in "+-":
        return Flaw("java", "is not a Java literal: the sign comes after 0x")
    is_decimal = len(text) < 40 and re.fullmatch(_DECIMAL, text)  # int() takes long for very many digits
    if not is_hex and not is_decimal:
        article = "a" if name.startswith("u") else "an"
        return Flaw("invalid", f"is not {article} {name}: write decimal digits, or 0x and hexadecimal digits")

    number = int(text, 16 if is_hex else 10)
    lowest, highest = INTEGERS[name]
    if not lowest <= number <= highest:
        return Flaw("invalid", f"is outside {name} ({lowest}..{highest})")

    digits = text.lstrip("+-")
    if is_decimal and digits[0] == "0" and number:
        if set(digits) & set("89"):
            return Flaw("java", "has a leading zero, so Java reads it as octal, which has no digits 8 and 9")
        return Flaw("octal", f"is read as {number}, but Java reads a leading zero as octal")
    if name == "uint32" and number > INTEGERS["int32"][1]:
        if is_hex:
            return Flaw("java", f"is {number - 2**32} in Java, which reads it as an int")
        return Flaw("java", "is above 2147483647, too large for an int in Java, so the generated code does not compile")
    return NO_FLAW


def _bool_flaw(text: str) -> Flaw:
    return NO_FLAW if text.lower() in ("true", "false") else Flaw("invalid", "is not a bool: write true or false")


def _float64_flaw(text: str) -> Flaw:
    text = text.strip()
    if not re.fullmatch(_FLOAT, text):
        return Flaw("invalid", "is not a float64")
    if re.search("[xX]|NaN|Infinity", text):
        return NO_FLAW
    number = float(text.rstrip("fFdD"))
    if math.isinf(number):
        return Flaw("java", "is too large for a double in Java, so the generated code does not compile")
    has_digit_above_0 = re.match("[^eE]*[1-9]", text)
    if number == 0 and has_digit_above_0:
        return Flaw("java", "is too small for a double in Java, so the generated code does not compile")
    return NO_FLAW


def _uuid_flaw(text: str) -> Flaw:
    # With `altchars`, Python takes - and _, but + and / as well.
    strict_text = re.sub("[+/]", "!", text)
    padding = "=" * (-len(text) % 4)
    try:
        size = len(base64.b64decode(strict_text + padding, altchars=b"-_", validate=True))
    except ValueError:
        return Flaw("invalid", "is not a uuid: it is not URL-safe base64")
    return NO_FLAW if size == 16 else Flaw("invalid", f"is not a uuid: it decodes to {size} bytes, not 16")


def _string_flaw(text: str) -> Flaw:
    if any(char in text for char in '"\\\n\r'):
        return Flaw("java", "contains a quote, a backslash or a line break, which the generated Java does not escape")
    return NO_FLAW


_FLAW_OF_PRIMITIVE = {"bool": _bool_flaw, "float64": _float64_flaw, "uuid": _uuid_flaw, "string": _string_flaw}
