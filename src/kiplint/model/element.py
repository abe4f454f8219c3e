"""Facts, the lazily computed attributes of elements; and the reading of optional properties and of version ranges."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, Generic, TypeVar, overload

import msgspec
from msgspec import UNSET, UnsetType

from kiplint.versions import NONE, InvalidRange, VersionRange

T = TypeVar("T")


class fact(Generic[T]):  # noqa: N801
    """A lazily computed, cached attribute (a non-data descriptor without a lock)."""

    public = True
    returns = ""

    def __init__(self, function: Callable[[Any], T]) -> None:
        self.function = function
        self.name = function.__name__
        self.__doc__ = function.__doc__
        self.returns = self.returns or str(function.__annotations__["return"])

    @overload
    def __get__(self, instance: None, owner: type) -> fact[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> fact[T] | T:
        if instance is None:
            return self
        value = instance.__dict__[self.name] = self.function(instance)
        return value


class range_fact(fact[VersionRange]):  # noqa: N801
    """A fact that is a version range of the definition, from a function that parses its text."""

    returns = "VersionRange"

    def __init__(self, parse: Callable[[Any], ParsedRange]) -> None:
        super().__init__(lambda element: parse(element).value)
        self.name, self.__doc__, self.parse = parse.__name__, parse.__doc__, parse


class range_problem(fact[str]):  # noqa: N801
    """A fact for rules: what is wrong with the text of such a range, the property `key`."""

    public, returns = False, "str"

    def __init__(self, versions: range_fact, key: str) -> None:
        super().__init__(lambda element: versions.parse(element).problem)
        self.name, self.__doc__ = f"{versions.name}_problem", f"What is wrong with the text of {key}, or empty."


class rule_fact(fact[T]):  # noqa: N801
    """A fact that exists for rules only. It is not part of the public API."""

    public = False


class set_fact(fact[T]):  # noqa: N801
    """A fact that depends on other messages of the schema set, so that a single definition does not determine it."""


class set_rule_fact(set_fact[T]):  # noqa: N801
    """A fact that depends on the schema set and exists for rules only."""

    public = False


FOR_RULES: Final = "for rules"
"""Marks an annotated fact that exists for rules only: `Annotated[str, "What it means.", FOR_RULES]`."""


class Fact(msgspec.Struct, frozen=True):
    """The name of a fact, its type as written, what it means, and whether it is part of the public API."""

    name: str
    type: str
    about: str
    public: bool = True


def facts_of(kind: type) -> dict[str, Fact]:
    """The facts of one kind of element, by name, inherited ones included."""
    import inspect  # slow to import, and only needed to check rules

    facts: dict[str, Fact] = {}
    for base in reversed(kind.__mro__):
        for name, annotation in inspect.get_annotations(base).items():
            if annotated_fact := _annotated_fact(name, annotation):
                facts[name] = annotated_fact
        for name, value in vars(base).items():
            if isinstance(value, fact) and not name.startswith("_"):
                facts[name] = Fact(name, value.returns, value.__doc__ or "", value.public)
    return facts


def _annotated_fact(name: str, annotation: str) -> Fact | None:
    """The fact that an attribute `name: Annotated[TYPE, "What it means."]` declares."""
    import ast  # slow to import, and only needed to check rules

    match ast.parse(annotation, mode="eval").body:
        case ast.Subscript(ast.Name("Annotated"), ast.Tuple([type_, ast.Constant(str(about)), *marks])):
            return Fact(name, ast.unparse(type_), about, public=not marks)
    return None


VALUE = TypeVar("VALUE")


def value_or(value: VALUE | UnsetType | None, default: VALUE) -> VALUE:
    """The value, or the default where the property is left out or null."""
    return default if value is UNSET or value is None else value


class ParsedRange(msgspec.Struct, frozen=True):
    """A version range as written: its value (a stand-in when it is invalid), and what is wrong with it or empty."""

    value: VersionRange
    problem: str


@lru_cache(maxsize=65536)
def parse_range(text: str) -> ParsedRange:
    """Parse a range; an invalid one has no versions."""
    try:
        return ParsedRange(VersionRange.parse(text), "")
    except InvalidRange as error:
        return ParsedRange(NONE, str(error))


def required_range(text: str, stand_in: VersionRange) -> ParsedRange:
    """Parse a range that must be present; blank text is invalid."""
    parsed_range = parse_range(text)
    return ParsedRange(stand_in, parsed_range.problem) if parsed_range.problem else parsed_range


def optional_range(text: str | UnsetType | None, stand_in: VersionRange = NONE) -> ParsedRange:
    """Parse a range that may be left out, null or blank."""
    if text is UNSET or not text or not isinstance(text, str) or text.isspace():
        return ParsedRange(stand_in, "")
    return required_range(text, stand_in)


def to_blame(claimants: Sequence[T], age: Callable[[T], object]) -> dict[int, T]:
    """Of several elements that claim the same name, tag or key: by index of each that is wrong, the other to name. If a
    base shows their `age`, the oldest claim is valid; if all are equally old, each is wrong.
    """
    ages: list[Any] = [age(claimant) for claimant in claimants]
    first = ages.index(max(ages))
    if later := [index for index, years in enumerate(ages) if years < ages[first]]:
        return dict.fromkeys(later, claimants[first])
    return {index: claimants[0 if index else 1] for index in range(len(claimants))}


def escape(token: str) -> str:
    """One token of a JSON pointer (RFC 6901)."""
    return token.replace("~", "~0").replace("/", "~1")
