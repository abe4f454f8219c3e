"""What a field's `default` may be, type by type, as Kafka's generator and the Java it writes take it."""

from __future__ import annotations

import re

import msgspec

from kiplint.model.types import INTEGERS, TypeRef

INT32_MAX = 2**31 - 1

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
    """The text that Kafka's reader makes of a JSON value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def flaw_of(kind: TypeRef, text: str) -> Flaw:
    """Say what is wrong with a default that is neither left out nor null.

    Kinds: `invalid`, `unsupported` (the type takes only empty or null), `octal`, `java`.
    """
    if not text:
        return FINE
    if kind.array or kind.struct or kind.element in ("bytes", "records"):
        what = "an array" if kind.array else "a struct" if kind.struct else kind.element
        return Flaw("unsupported", f"{what} can only default to empty or null")
    if kind.element in INTEGERS:
        return _integer(kind.element, text)
    return _OTHERS.get(kind.element, _anything)(text)


def _integer(name: str, text: str) -> Flaw:
    lowest, highest = INTEGERS[name]
    if re.fullmatch(_HEX, text):
        if text[2] in "+-":
            return Flaw("java", "is no Java literal: the sign stands after 0x")
        number = int(text, 16)
    elif text == "0x":
        return Flaw("java", "has no digits after 0x")
    elif len(text) < 40 and re.fullmatch(_DECIMAL, text):
        number = int(text)
    else:
        return Flaw("invalid", f"is no {name}: write decimal digits, or 0x and hexadecimal digits")
    if not lowest <= number <= highest:
        return Flaw("invalid", f"is outside {name} ({lowest}..{highest})")
    digits = text.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0" and digits[1] != "x" and number:
        return Flaw("octal", f"is read as {number}, but Java reads a leading zero as octal")
    if name == "uint32" and number > INT32_MAX:
        return Flaw("java", "is above 2147483647, which the generated Java cannot hold as an int literal")
    return FINE


def _boolean(text: str) -> Flaw:
    return FINE if text.lower() in ("true", "false") else Flaw("invalid", "is no bool: write true or false")


def _float(text: str) -> Flaw:
    return FINE if re.fullmatch(_FLOAT, text.strip()) else Flaw("invalid", "is no float64")


def _uuid(text: str) -> Flaw:
    import base64

    try:
        # Python takes + and / too, whatever the alternatives to them.
        size = len(base64.b64decode(re.sub("[+/]", "!", text) + "=" * (-len(text) % 4), altchars=b"-_", validate=True))
    except ValueError:
        return Flaw("invalid", "is no uuid: it is not URL-safe base64")
    return FINE if size == 16 else Flaw("invalid", f"is no uuid: it decodes to {size} bytes, not 16")


def _string(text: str) -> Flaw:
    if any(char in text for char in '"\\\n\r'):
        return Flaw("java", "holds a quote, a backslash or a line end, which the generated Java does not escape")
    return FINE


def _anything(_: str) -> Flaw:
    return FINE


_OTHERS = {"bool": _boolean, "float64": _float, "uuid": _uuid, "string": _string}
