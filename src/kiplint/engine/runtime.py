"""The runtime of compiled rules: functions of the language, their time-out, and the text of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from time import thread_time
from typing import Any, Final

import msgspec

from kiplint.limits import RULE_SECONDS, RULE_TEXT
from kiplint.versions import VersionRange


def _quoted(text: str) -> str:
    return msgspec.json.encode(text.encode(errors="replace").decode()).decode()


def _joined(items: Iterable[object]) -> str:
    texts: list[str] = []
    length = 0
    for item in items:
        texts.append(str(item))
        length += len(texts[-1])
        if length > RULE_TEXT:
            raise ValueError(f"a text has at most {RULE_TEXT.figure}")
    return ", ".join(texts)


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


FOR_EACH_ELEMENT: Final = 0.001
"""The seconds that a walk may take for each element, beside those of `RULE_SECONDS`."""
_LONGEST_PATTERN: Final = 1_000


class RuleLimitError(Exception):
    """A rule takes too long, or makes too much text; `rule` is its id, empty for all rules of a walk together."""

    def __init__(self, rule: str, reason: str) -> None:
        super().__init__(reason)
        self.rule = rule


class Watch:
    """The CPU time and the text that is left to the rules of a walk. Their loops ask for the time at each item."""

    def __init__(self) -> None:
        self.start(0)

    def start(self, elements: int) -> None:
        """Begin a walk over so many elements."""
        self._deadline = thread_time() + RULE_SECONDS + FOR_EACH_ELEMENT * elements
        self._characters = 0

    def walked(self, elements: Iterable[Any]) -> Iterator[Any]:
        """The elements of a walk. Each may make as much text as the one before."""
        for element in self.timed(elements, ""):
            self._characters = 0
            yield element

    def timed(self, items: Iterable[Any], rule: str) -> Iterator[Any]:
        """The items of a loop; raises RuleLimitError at the deadline."""
        for item in items:
            self.check(rule)
            yield item

    def check(self, rule: str) -> None:
        """Raise RuleLimitError after the deadline."""
        if thread_time() > self._deadline:
            raise RuleLimitError(rule, "takes too long for a set of this size")

    def text(self, value: str, rule: str) -> str:
        """A text that a rule makes; raises RuleLimitError where those of one element are too long together."""
        self._characters += len(value)
        if self._characters > RULE_TEXT:
            raise RuleLimitError(rule, "makes too much text")
        return value

    def matches(self, text: str, pattern: str, rule: str) -> bool:
        """Whether a text matches a glob. What follows a `*` is tried at each character, so that this takes time."""
        self.check(rule)
        if len(pattern) > _LONGEST_PATTERN:
            raise ValueError(f"a pattern has at most {_LONGEST_PATTERN} characters")
        return fnmatchcase(text, pattern)


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
    text = _joined(value) if type(value) in (list, tuple, set, frozenset, dict) else str(value)
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
