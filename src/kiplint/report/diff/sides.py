"""The layouts of one version before and after, side by side, with what differs marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from kiplint.model.layout import layout, lines
from kiplint.model.message import Message
from kiplint.model.unfolding import unfolded

MOST_FIELDS = 1_500
"""How many fields a message may have that is laid side by side."""
AROUND = 2
"""How many equal rows stand before and after what differs."""

Row = tuple[int, str, str, str]
"""A field as it travels: depth, name, encoding, and the bytes that it takes."""


class Pair(NamedTuple):
    """Two rows beside each other: `same`, `renamed`, `changed`, `gone`, `new`, or so many `hidden` ones."""

    look: str
    was: Row | None = None
    now: Row | None = None
    hidden: int = 0


def sides(old: Message, new: Message, version: int, new_version: int) -> list[Pair]:
    """The layouts of a version in both sets; empty for messages that are too large, or hold themselves."""
    if max(unfolded(old, MOST_FIELDS)[0], unfolded(new, MOST_FIELDS)[0]) > MOST_FIELDS or old.cycles or new.cycles:
        return []
    was, now = (list(lines(layout(one, at))) for one, at in ((old, version), (new, new_version)))
    return list(_folded(list(_aligned(was, now))))


def _aligned(was: Sequence[Row], now: Sequence[Row]) -> Iterator[Pair]:
    for what, low, high, start, stop in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if what == "equal":
            yield from (Pair("same", one, one) for one in was[low:high])
            continue
        for at in range(max(high - low, stop - start)):
            left = was[low + at] if low + at < high else None
            right = now[start + at] if start + at < stop else None
            yield Pair(_look(left, right), left, right)


def _look(was: Row | None, now: Row | None) -> str:
    if was is None or now is None:
        return "new" if now else "gone"
    return "renamed" if (was[0], *was[2:]) == (now[0], *now[2:]) else "changed"


def _folded(pairs: list[Pair]) -> Iterator[Pair]:
    """The pairs without long runs of equal ones, of which only the ends are kept."""
    different = [at for at, one in enumerate(pairs) if one.look != "same"]
    kept = {near for at in different for near in range(at - AROUND, at + AROUND + 1)}
    hidden = 0
    for at, one in enumerate(pairs):
        if at in kept:
            if hidden:
                yield Pair("hidden", hidden=hidden)
            hidden = 0
            yield one
        else:
            hidden += 1
    if hidden:
        yield Pair("hidden", hidden=hidden)
