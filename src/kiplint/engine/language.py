"""The words of the rule language: the kinds of elements, their facts, and the functions."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from fnmatch import fnmatchcase
from functools import cache, cached_property
from typing import Any, NamedTuple

import msgspec

from kiplint.model.fields import Container, Field, Struct
from kiplint.model.headers import HeaderRange
from kiplint.model.load import ProblemElement
from kiplint.model.message import Message
from kiplint.model.notes import Note
from kiplint.model.schemas import Rpc, SchemaSet
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
"""The class of each kind of element."""
RANGE_FACTS = ("lowest", "highest", "open", "parts")
"""The facts of a version range."""
NAMED_KINDS: dict[str, Collection[str]] = {}
"""By kind whose rules are each about their own id: these ids."""


def register(kind: str, elements: type, names: Collection[str]) -> None:
    """Let rules be about a further kind of element, which a package above the engine brings.

    `names` are the names of the elements: a rule without `when` is about those with its id, and is
    refused when there is no such name.
    """
    KINDS[kind] = elements
    NAMED_KINDS[kind] = tuple(names)
    facts.cache_clear()
    all_facts.cache_clear()


@cache
def facts(kind: str) -> frozenset[str]:
    """The names of the facts of a kind of element: its public attributes, without methods."""
    return facts_of(KINDS[kind])


@cache
def all_facts() -> frozenset[str]:
    """The names of the facts of all kinds of elements, and of version ranges."""
    return frozenset(RANGE_FACTS).union(facts_of(Container), *map(facts, KINDS))


@cache
def facts_of(element_class: type) -> frozenset[str]:
    """The names of the facts of a class: what it annotates, and its cached properties."""
    names: set[str] = set()
    for base in element_class.__mro__:
        names.update(getattr(base, "__annotations__", ()))
        names.update(name for name, value in vars(base).items() if isinstance(value, cached_property))
    return frozenset(name for name in names if not name.startswith("_"))


class Function(NamedTuple):
    """A function of the language: what it calls, the number of its arguments, what it returns, and what that is."""

    call: Callable[..., Any]
    arguments: int
    returns: str
    about: str


def _quote(text: str) -> str:
    return msgspec.json.encode(text.encode(errors="replace").decode()).decode()


def join(items: Iterable[object]) -> str:
    """The items as text, with commas between them."""
    return ", ".join(map(str, items))


FUNCTIONS: dict[str, Function] = {
    "len": Function(len, 1, "`int`", "How many items or characters there are."),
    "any": Function(any, 1, "`bool`", "Whether some item is true."),
    "all": Function(all, 1, "`bool`", "Whether every item is true."),
    "min": Function(min, 1, "an item", "The smallest item."),
    "max": Function(max, 1, "an item", "The largest item."),
    "sorted": Function(sorted, 1, "the items", "The items in order."),
    "join": Function(join, 1, "`str`", "The items as text, with commas between them."),
    "lower": Function(str.lower, 1, "`str`", "The text in lower case."),
    "upper": Function(str.upper, 1, "`str`", "The text in upper case."),
    "quoted": Function(_quote, 1, "`str`", "The text as a JSON string, in double quotes."),
    "startswith": Function(str.startswith, 2, "`bool`", "Whether the text begins with another."),
    "endswith": Function(str.endswith, 2, "`bool`", "Whether the text ends with another."),
    "matches": Function(fnmatchcase, 2, "`bool`", "Whether the text fits a pattern with `*`, `?` and `[...]`."),
    "version_range": Function(VersionRange.parse, 1, "`VersionRange`", 'The range that a text such as "3+" means.'),
}


LONGEST_SHOWN = 500


def as_text(value: Any) -> str:
    """A value as text of at most 500 characters; the items of a collection are separated by commas."""
    # A parameter that is a list of words is a dict.
    text = join(value) if type(value) in (list, tuple, set, frozenset, dict) else str(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def word(value: Any, singular: str, plural: str) -> str:
    """`singular` for a singular value, else `plural`: the hole `{value:singular|plural}`.

    Singular are the number 1, a range of a single version (`3`, but not `3+`, `0-1` or `none`), and a list, set or
    mapping with a single item. None is plural.
    """
    if isinstance(value, VersionRange):
        single = bool(value) and value.lowest == value.highest
    else:
        single = value == 1 if isinstance(value, int) or value is None else len(value) == 1
    return singular if single else plural
