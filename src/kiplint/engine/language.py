"""The words of the rule language: the kinds of elements, and their facts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from kiplint.engine.rule import OWN
from kiplint.model.element import Fact, facts_of
from kiplint.model.fields import Container, Field, Struct
from kiplint.model.headers import HeaderRange
from kiplint.model.load import ProblemElement
from kiplint.model.message import Message
from kiplint.model.notes import Note
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.model.spec import FieldSpec, MessageSpec, StructSpec
from kiplint.versions import VersionRange

KINDS: dict[str, type] = {
    "problem": ProblemElement,
    "message": Message,
    "struct": Struct,
    "field": Field,
    "header_range": HeaderRange,
    "note": Note,
    "rpc": Rpc,
    "set": SchemaSet,
}
CLASSES: dict[str, type] = {kind.__name__: kind for kind in KINDS.values()} | {"Container": Container}
_SPECS = {
    "Message": (MessageSpec,),
    "Field": (FieldSpec,),
    "Struct": (FieldSpec, StructSpec),
    "Container": (MessageSpec, FieldSpec, StructSpec),
}
_FIXERS_OF = {
    "": "instead suggestion",
    "problem": "json5 trailing-comma byte-order-mark block-comment unused-ignore closing-bracket coerced-value "
    "misspelt-property",
    "field": "default-null default-octal written-type flag",
    "message": "header-map frozen header-zero next-api-key flexible-versions",
    "header_range": "header-start header-overlap header-order header-gap",
    "rpc": "lagging-half",
    "note": "version-before",
}
FIXERS: Mapping[str, str] = {name: kind for kind, names in _FIXERS_OF.items() for name in names.split()}
"""The fixers that a rule may name, and the kind of element that each is for; the first two are for all."""

RANGE_FACTS = {
    "lowest": Fact("lowest", "int", "The lowest version, -1 when the range is empty."),
    "highest": Fact("highest", "int", "The highest version, -1 when the range is empty."),
    "open": Fact("open", "bool", VersionRange.open.__doc__ or ""),
    "parts": Fact("parts", "tuple[VersionRange, ...]", VersionRange.parts.__doc__ or ""),
}


_NAMES = {"VersionRange": "version range"}

NARROWER: dict[str, dict[str, type]] = {}
"""By kind: the classes of those elements that a rule means when it has no `when` but its own id."""


def register(kind: str, elements: type, narrower: Mapping[str, type] | None = None) -> None:
    """Let rules be about a further kind of element, which a package above the engine brings.

    `narrower` gives the class of the elements that have a name of the kind: a rule that is about its own id, as those
    about changes are, may use the facts of that class, and is refused when there is no such name.
    """
    KINDS[kind] = elements
    NARROWER[kind] = dict(narrower or {})
    CLASSES.update({element_class.__name__: element_class for element_class in (elements, *NARROWER[kind].values())})


def words_of(kind: str, when: str) -> str:
    """The class whose facts a rule may use: the class of its kind, or a narrower class if the rule is only about that.

    It is about those whose name its `when` begins with: `name == 'new-tag'`, then nothing more or an `and`.
    """
    about = re.match(rf"{OWN[kind]} == '([a-z0-9-]+)'(?= and |$)", when) if kind in OWN else None
    return (NARROWER.get(kind, {}).get(about[1], KINDS[kind]) if about else KINDS[kind]).__name__


@cache
def properties(class_name: str) -> tuple[str, ...]:
    """The JSON properties of a class of elements, for rules to point to; none where there are none of its own."""
    specs = _SPECS.get(class_name, ())
    return tuple(dict.fromkeys(name for spec in specs for name in spec.__struct_encode_fields__))


@cache
def facts(class_name: str) -> dict[str, Fact]:
    """The facts of a class of elements, by name; for `VersionRange` its members."""
    if class_name == "VersionRange":
        return RANGE_FACTS
    return facts_of(CLASSES[class_name]) if class_name in CLASSES else {}


def kind_name(class_name: str) -> str:
    """The name of a class of elements in error messages: its kind, if it has one."""
    names = _NAMES | {element_class.__name__: kind.replace("_", " ") for kind, element_class in KINDS.items()}
    return names.get(class_name, class_name)
