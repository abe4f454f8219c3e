"""Who gets one of a few places: no rule a third before every other one had two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Item = TypeVar("Item")

EACH = 2
"""How many of a rule come before those of others."""


def fair(items: Iterable[Item], rule_of: Callable[[Item], str], room: int) -> Sequence[Item]:
    """As many of the items as there is room for; all in their order when they fit."""
    waiting = list(items)
    if len(waiting) <= room:
        return waiting
    had: Counter[str] = Counter()
    first: list[Item] = []
    rest: list[Item] = []
    for one in waiting:
        rule = rule_of(one)
        had[rule] += 1
        (first if had[rule] <= EACH else rest).append(one)
    return [*first, *rest][:room]
