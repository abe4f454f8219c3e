"""The words of the rule language: the kinds of elements, and their facts."""

from __future__ import annotations

from functools import cache

from kiplint.model.container import Container
from kiplint.model.fact import Fact, facts_of
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


def register(kind: str, elements: type) -> None:
    """Let rules be about a further kind of element, which a package above the engine brings."""
    KINDS[kind] = elements
    CLASSES[elements.__name__] = elements


@cache
def facts(class_name: str) -> dict[str, Fact]:
    """The facts of a class of elements, by name; those of a version range for `VersionRange`."""
    if class_name == "VersionRange":
        return {name: Fact(name, kind, getattr(VersionRange, name).__doc__ or "") for name, kind in RANGE_FACTS.items()}
    return facts_of(CLASSES[class_name]) if class_name in CLASSES else {}
