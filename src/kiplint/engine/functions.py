"""The functions that an expression of a rule may call."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from kiplint.versions import VersionRange


def _quoted(text: str) -> str:
    return msgspec.json.encode(text.encode(errors="replace").decode()).decode()


def _joined(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))


class Function(msgspec.Struct, frozen=True):
    """A function of the language; `returns` is its type, or `element` for that of the argument's items."""

    call: Callable[..., Any]
    returns: str
    arguments: tuple[int, int]
    about: str


FUNCTIONS: dict[str, Function] = {
    "len": Function(len, "int", (1, 1), "How many items or characters there are."),
    "any": Function(any, "bool", (1, 1), "Whether some item is true."),
    "all": Function(all, "bool", (1, 1), "Whether every item is true."),
    "min": Function(min, "element", (1, 1), "The smallest item."),
    "max": Function(max, "element", (1, 1), "The largest item."),
    "sorted": Function(sorted, "tuple", (1, 1), "The items in order."),
    "join": Function(_joined, "str", (1, 1), "The items as text, with commas between them."),
    "lower": Function(str.lower, "str", (1, 1), "The text in lower case."),
    "upper": Function(str.upper, "str", (1, 1), "The text in upper case."),
    "quoted": Function(_quoted, "str", (1, 1), "The text in double quotes, as JSON has it."),
    "startswith": Function(str.startswith, "bool", (2, 2), "Whether the text begins with another."),
    "endswith": Function(str.endswith, "bool", (2, 2), "Whether the text ends with another."),
    "matches": Function(fnmatchcase, "bool", (2, 2), "Whether the text fits a pattern with `*`, `?` and `[...]`."),
    "version_range": Function(VersionRange.parse, "VersionRange", (1, 1), 'The range that a text such as "3+" means.'),
}
