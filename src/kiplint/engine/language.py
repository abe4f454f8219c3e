"""The words of the rule language: kinds of elements, their facts, and the functions an expression may call."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from kiplint.model.container import Container
from kiplint.model.fact import facts_of
from kiplint.model.field import Field
from kiplint.model.header import HeaderRange
from kiplint.model.message import Message
from kiplint.model.problem import Problem
from kiplint.model.rpc import Rpc
from kiplint.model.schemas import SchemaSet
from kiplint.model.struct import Struct
from kiplint.versions import VersionRange

KINDS: dict[str, type] = {
    "problem": Problem,
    "message": Message,
    "struct": Struct,
    "field": Field,
    "header_range": HeaderRange,
    "rpc": Rpc,
    "set": SchemaSet,
}
CLASSES: dict[str, type] = {kind.__name__: kind for kind in KINDS.values()} | {"Container": Container}
RANGE_FACTS = {"lowest": "int", "highest": "int", "open": "bool", "parts": "tuple[VersionRange, ...]"}


@dataclass(frozen=True, slots=True)
class Fact:
    """What a rule may know of an element: its name, the type it has, and what it means."""

    name: str
    type: str
    about: str


@cache
def facts(class_name: str) -> dict[str, Fact]:
    """The facts of a class of elements, by name; those of a version range for `VersionRange`."""
    if class_name == "VersionRange":
        return {
            name: Fact(name, kind, inspect.getdoc(getattr(VersionRange, name)) or "")
            for name, kind in RANGE_FACTS.items()
        }
    found = facts_of(CLASSES[class_name]) if class_name in CLASSES else {}
    return {
        name: Fact(name, str(one.function.__annotations__["return"]), one.__doc__ or "")
        for name, one in found.items()
        if not name.startswith("_")
    }


def _joined(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))


@dataclass(frozen=True, slots=True)
class Function:
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
    "startswith": Function(str.startswith, "bool", (2, 2), "Whether the text begins with another."),
    "endswith": Function(str.endswith, "bool", (2, 2), "Whether the text ends with another."),
    "matches": Function(fnmatchcase, "bool", (2, 2), "Whether the text fits a pattern with `*`, `?` and `[...]`."),
    "version_range": Function(VersionRange.parse, "VersionRange", (1, 1), 'The range that a text such as "3+" means.'),
}
