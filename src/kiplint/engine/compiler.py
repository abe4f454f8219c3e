"""Many rules, few functions: all rules of one kind of element become one loop over its elements.

The compiled code is kept in the user's cache directory, as Python keeps its own: translating a hundred rules takes
longer than running them over a hundred files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any, cast

import msgspec

from kiplint.engine.code_cache import cached_code
from kiplint.engine.functions import FUNCTIONS
from kiplint.engine.rule import Level, Rule

Hit = tuple[int, Any]
MOST_STEPS = 10_000_000
LONGEST_SHOWN = 500


class TooManyStepsError(Exception):
    """A comprehension of a rule went through more items than a definition can sensibly have."""


class Compiled(msgspec.Struct, frozen=True):
    """The rules of one kind of element as functions; rules are told by their number in `rules`."""

    rules: tuple[Rule, ...]
    names: dict[str, Any]

    def walk(self, elements: Iterable[Any], hit: Callable[[Hit], None]) -> None:
        """Call `hit((number, element))` for each rule that an element breaks."""
        self.names["walk"](elements, hit)

    def message(self, number: int, element: Any) -> str:
        """The rule's message, its holes filled with facts of the element."""
        return str(self.names[f"message_{number}"](element))

    def place(self, number: int, element: Any) -> tuple[Any, str]:
        """The element that the rule points to, and the property of it that is wanted."""
        return cast("tuple[Any, str]", self.names[f"place_{number}"](element))

    def severity(self, number: int, element: Any) -> Level:
        """The rule's severity for the element: the first of its softer levels that holds, else its own."""
        rule = self.rules[number]
        if rule.severity == rule.spec.severity and rule.spec.levels:
            return cast("Level", self.names[f"severity_{number}"](element) or rule.severity)
        return rule.severity


def compile_rules(kind: str, rules: list[Rule]) -> Compiled:
    """The rules of a kind, compiled. Raises ExpressionError when one leaves the language."""

    def translate() -> CodeType:
        from kiplint.engine.translate import module_of

        return compile(module_of(kind, rules), f"<{kind} rules>", "exec")

    names = _namespace(rules)
    exec(cached_code((kind, *map(_key, rules)), translate), names)
    return Compiled(tuple(rules), names)


def bounded(items: Iterable[Any]) -> Iterator[Any]:
    """The items, but not without end."""
    for count, item in enumerate(items):
        if count >= MOST_STEPS:
            raise TooManyStepsError
        yield item


def shown(value: Any) -> str:
    """A value as messages show it: lists with commas, the rest as text, and nothing without end."""
    # A version range is a tuple too, but has a notation of its own; a parameter that lists words is a dict.
    text = ", ".join(map(str, value)) if type(value) in (list, tuple, set, frozenset, dict) else str(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def _namespace(rules: list[Rule]) -> dict[str, Any]:
    """The globals of compiled rules: functions and params, and no builtins at all."""
    functions = {f"f_{name}": function.call for name, function in FUNCTIONS.items()}
    params = {f"p{n}_{name}": _param(value) for n, rule in enumerate(rules) for name, value in rule.params.items()}
    return {"__builtins__": {}, "bounded": bounded, "shown": shown, **functions, **params}


def _param(value: Any) -> Any:
    """A parameter as expressions see it: a list of words as the keys of a dict, which keep their order."""
    return dict.fromkeys(value) if isinstance(value, list) and all(isinstance(one, str) for one in value) else value


def _key(rule: Rule) -> tuple[object, ...]:
    spec = rule.spec
    levels = tuple((level.when, level.severity) for level in spec.levels)
    return (rule.id, spec.when, spec.expect, spec.message, spec.at, levels, tuple(rule.params))
