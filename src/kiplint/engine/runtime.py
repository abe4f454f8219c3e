"""The runtime of compiled rules: functions of the language, step budgets, and the text of messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase, translate
from typing import Any, Final

import msgspec

from kiplint.limits import STEPS, Counter
from kiplint.versions import VersionRange


def _quoted(text: str) -> str:
    return msgspec.json.encode(text.encode(errors="replace").decode()).decode()


def _joined(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))


class Function(msgspec.Struct, frozen=True):
    """A function of the language; `returns` is its type, or `element` for the type of the argument's items."""

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
    "quoted": Function(_quoted, "str", (1, 1), "The text as a JSON string, in double quotes."),
    "startswith": Function(str.startswith, "bool", (2, 2), "Whether the text begins with another."),
    "endswith": Function(str.endswith, "bool", (2, 2), "Whether the text ends with another."),
    "matches": Function(fnmatchcase, "bool", (2, 2), "Whether the text fits a pattern with `*`, `?` and `[...]`."),
    "version_range": Function(VersionRange.parse, "VersionRange", (1, 1), 'The range that a text such as "3+" means.'),
}


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
    """The rules took more steps than allowed; the message is the id of the rule that took most."""


class StepBudget(Counter):
    """The remaining steps for all rules of one walk."""

    def __init__(self) -> None:
        super().__init__(STEPS)
        self.meters: list[Meter] = []
        self.patterns: dict[str, tuple[re.Pattern[str], int]] = {}

    def fill(self, elements: int) -> None:
        """Begin a walk over so many elements."""
        self.left = STEPS + MORE_FOR_EACH * elements
        for meter in self.meters:
            meter.left = meter.taken = 0
        if len(self.patterns) > _LONGEST_PATTERN:
            self.patterns.clear()

    def meter(self, rule: str) -> Meter:
        """The meter of a rule."""
        self.meters.append(Meter(rule, self))
        return self.meters[-1]

    def walked(self, elements: Iterable[Any], steps: int) -> Iterator[Any]:
        """The elements of a walk, each of which takes so many steps at least."""
        for element in elements:
            self.take(steps)
            yield element

    def take(self, count: int) -> bool:
        """Take steps; raises TooManyStepsError when the budget is used up."""
        if not super().take(count):
            most = max(self.meters, key=lambda meter: meter.taken, default=None)
            raise TooManyStepsError(most.rule if most and most.taken else "")
        return True


class Meter:
    """Counts the steps of one rule. It takes them from the budget in portions, which keeps counting cheap."""

    def __init__(self, rule: str, budget: StepBudget) -> None:
        self.rule = rule
        self.left = self.taken = 0
        self._budget = budget

    def take(self, steps: int) -> None:
        """Take steps; raises TooManyStepsError when the budget is used up."""
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
        """Count the steps to read or make a value, and return it."""
        if isinstance(value, str) and len(value) <= _LARGEST:
            self.take(len(value) >> 3)
            return value
        return self.items(value)

    def items(self, value: Any) -> Any:
        """Count the steps to iterate over a value, and return it."""
        if hasattr(value, "__len__"):
            self.take(len(value) * 4)
            if len(value) > _LARGEST:
                raise TooManyStepsError(self.rule)
        return value

    def matches(self, text: str, pattern: str) -> bool:
        """Whether a text matches a glob; each glob is compiled once."""
        known = self._budget.patterns.get(pattern)
        if known is None:
            if len(pattern) > _LONGEST_PATTERN:
                raise ValueError(f"a pattern has at most {_LONGEST_PATTERN} characters")
            self.take(_FOR_A_PATTERN + len(pattern) * 40)
            parts = _CLASS.sub("?", pattern).split("*")
            most = max(map(len, parts[1:]), default=1)
            known = self._budget.patterns[pattern] = re.compile(translate(pattern)), max(most, 1)
        regex, most = known
        # What follows a `*` is tried at every character of the text, and can fail at its own last one.
        self.take(len(text) * most // 8 + _FOR_A_MATCH)
        return regex.match(text) is not None


_CLASS: Final = re.compile(r"\[!?\]?[^]]*\]")
"""A class of characters in a glob, such as `[a-z]`, which fits one character."""


LONGEST_SHOWN = 500


class Description(msgspec.Struct, frozen=True):
    """The message of a violation, the element and property it is about, and the correct text.

    `severity` is empty for the rule's own severity.
    """

    message: str
    element: Any
    at: str = ""
    instead: str = ""
    severity: str = ""


def shown(value: Any) -> str:
    """A value as text of at most 500 characters; the items of a collection are separated by commas."""
    # A parameter that is a list of words is a dict.
    text = ", ".join(map(str, value)) if type(value) in (list, tuple, set, frozenset, dict) else str(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


def word(value: Any, singular: str, many: str) -> str:
    """`singular` for a singular value, else `many`: the hole `{value:singular|many}`.

    Singular are the number 1, a range of a single version (`3`, but not `3+`, `0-1` or `none`), and a list, set or
    mapping with a single item. None is plural.
    """
    if isinstance(value, VersionRange):
        single = bool(value) and value.lowest == value.highest
    else:
        single = value == 1 if isinstance(value, int) or value is None else len(value) == 1
    return singular if single else many
