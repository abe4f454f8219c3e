"""What the rules of users may cost: steps, counted while they run, so that the time of a run has an end.

A step is what one part of an expression takes, some tens of nanoseconds. All rules of one kind of element share what
there is for one walk over the elements: so much, and so much more for each of these. Packs that ship are not metered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from fnmatch import translate
from typing import Any, Final

MOST_STEPS: Final = 50_000_000
MORE_FOR_EACH: Final = 10_000
"""The steps of one walk, and how many more there are for each element."""

FOR_A_HIT: Final = 2_500
"""What a finding costs, which is to be placed, sorted and shown."""

_FOR_A_MATCH: Final = 10
_FOR_A_PATTERN: Final = 4_000
_LONGEST_PATTERN: Final = 1_000
_LARGEST: Final = 1 << 21
"""The most characters or items of a value: no part of a definition has more."""

_PORTION: Final = 10_000


class TooManyStepsError(Exception):
    """The rules went through more than they may; the message is the id of the rule that took most."""


class Budget:
    """The steps that are left for all rules of one walk."""

    def __init__(self) -> None:
        self.left = MOST_STEPS
        self.meters: list[Meter] = []
        self.patterns: dict[str, re.Pattern[str]] = {}

    def fill(self, elements: int) -> None:
        """Begin a walk over so many elements."""
        self.left = MOST_STEPS + MORE_FOR_EACH * elements
        for meter in self.meters:
            meter.left = meter.taken = 0
        if len(self.patterns) > _LONGEST_PATTERN:
            self.patterns.clear()

    def meter(self, rule: str) -> Meter:
        """What counts the steps of a rule."""
        self.meters.append(Meter(rule, self))
        return self.meters[-1]

    def walked(self, elements: Iterable[Any], steps: int) -> Iterator[Any]:
        """The elements of a walk, each of which takes so many steps at least."""
        for element in elements:
            self.take(steps)
            yield element

    def take(self, steps: int) -> None:
        """Take steps; raises TooManyStepsError where there are no more."""
        self.left -= steps
        if self.left < 0:
            most = max(self.meters, key=lambda one: one.taken, default=None)
            raise TooManyStepsError(most.rule if most and most.taken else "")


class Meter:
    """Counts the steps of one rule. It takes them from the budget by portions, so that counting costs little."""

    def __init__(self, rule: str, budget: Budget) -> None:
        self.rule = rule
        self.left = self.taken = 0
        self._budget = budget

    def take(self, steps: int) -> None:
        """Take steps; raises TooManyStepsError where there are no more."""
        self.left -= steps
        if self.left < 0:
            portion = _PORTION - self.left
            self.left += portion
            self.taken += portion
            self._budget.take(portion)

    def bounded(self, items: Iterable[Any], steps: int) -> Iterator[Any]:
        """The items of a comprehension, each of which takes so many steps."""
        for item in items:
            self.take(steps)
            yield item

    def sized(self, value: Any) -> Any:
        """A value that is read as a whole, or has just been made: text in one go, anything else by item."""
        if isinstance(value, str) and len(value) <= _LARGEST:
            self.take(len(value) >> 3)
            return value
        return self.items(value)

    def items(self, value: Any) -> Any:
        """A value that is gone through item by item, text by character."""
        if hasattr(value, "__len__"):
            self.take(len(value) * 4)
            if len(value) > _LARGEST:
                raise TooManyStepsError(self.rule)
        return value

    def matches(self, text: str, pattern: str) -> bool:
        """Whether a text fits a pattern, each of which is compiled once."""
        known = self._budget.patterns.get(pattern)
        if known is None:
            if len(pattern) > _LONGEST_PATTERN:
                raise ValueError(f"a pattern has at most {_LONGEST_PATTERN} characters")
            self.take(_FOR_A_PATTERN + len(pattern) * 40)
            known = self._budget.patterns[pattern] = re.compile(translate(pattern))
        self.take((len(text) >> 3) + _FOR_A_MATCH)
        return known.match(text) is not None
