"""Whether two readers of the same bytes understand the same, value by value."""

from __future__ import annotations

import re
from collections import deque
from typing import Any, NamedTuple

from kiplint.codec.shape import UNKNOWN_TAGS, key_of
from kiplint.codec.span import Decoded, Span
from kiplint.model.layout import Body

UNKNOWN = "unknown tagged field"


class Reading(NamedTuple):
    """What one side makes of the bytes, and the layout that it reads them by."""

    body: Body
    decoded: Decoded


class Difference(NamedTuple):
    """Where two readings part: what each has there, None where it has nothing."""

    offset: int
    one: Span | None
    other: Span | None


def first_difference(one: Reading, other: Reading, *, on_disk: bool) -> Difference | None:
    """The first value that the two readings, both without problems, do not share.

    Names may differ as long as neither side has the other's name at another place: that is a rename. Tags that only
    one side knows are passed over, unless it is known there under another tag or as a plain field.
    """
    left, right = deque(_values(one)), deque(_values(other))
    while left and right:
        if left[0].type == UNKNOWN or right[0].type == UNKNOWN:
            lost = _pass_over(left, right, one, other)
            if lost:
                return lost
            continue
        first, second = left.popleft(), right.popleft()
        if _is_other(first, second, on_disk=on_disk) or _has_moved(first.path, second.path, one.body, other.body):
            return Difference(first.offset, first, second)
    if left or right:
        rest = (left or right)[0]
        return Difference(rest.offset, rest if left else None, rest if right else None)
    return None


def _values(reading: Reading) -> list[Span]:
    return [span for span in reading.decoded.spans if span.length]


def _is_other(one: Span, other: Span, *, on_disk: bool) -> bool:
    if (one.offset, one.length) != (other.offset, other.length):
        return True
    kinds = {_kind(one), _kind(other)}
    if kinds == {"bytes", "records"} and not on_disk:
        kinds = {"bytes"}
    return len(kinds) > 1 or (_plain(one.value) != _plain(other.value))


def _kind(span: Span) -> str:
    """The encoding without what the bytes say themselves: compact or not, nullable or not, elements by their own."""
    words = [word for word in span.type.split() if word not in ("compact", "nullable")]
    if words[:2] == ["array", "of"]:
        return "array"
    return "struct" if words[0][:1].isupper() else " ".join(words)


def _plain(value: Any) -> Any:
    return None if value == {} else value


def _pass_over(left: deque[Span], right: deque[Span], one: Reading, other: Reading) -> Difference | None:
    """Take away a tag that one side does not know; gives what the other loses by that."""
    if left[0].type == UNKNOWN and right[0].type == UNKNOWN:
        left.popleft()
        right.popleft()
        return None
    unknown, known = (left, right) if left[0].type == UNKNOWN else (right, left)
    blind = one if unknown is left else other
    hidden = unknown.popleft()
    seen = known[0]
    while known and known[0].offset < hidden.offset + hidden.length:
        known.popleft()
    names = _names(seen.path)
    inside = _keys(blind.body, _names(hidden.path)[:-1])
    depth = len(_names(hidden.path)) - 1
    if depth < len(names) and names[depth] in inside:
        pair = (hidden, seen) if unknown is left else (seen, hidden)
        return Difference(hidden.offset, *pair)
    return None


def _has_moved(one: str, other: str, left: Body, right: Body) -> bool:
    """Whether a place belongs to fields that both sides know, but not to the same one."""
    names, others = _names(one), _names(other)
    for depth, (name, twin) in enumerate(zip(names, others, strict=False)):
        if UNKNOWN_TAGS in (name, twin) or name == twin:
            continue
        if name in _keys(right, others[:depth]) or twin in _keys(left, names[:depth]):
            return True
    return False


def _names(path: str) -> list[str]:
    return re.sub(r"\[\d+\]", "", path).split(".") if path else []


def _keys(body: Body | None, names: list[str]) -> set[str]:
    """The names of the fields beside each other at a place."""
    for name in names:
        slots = (*body.slots, *(body.tags or ())) if body else ()
        body = next((slot.body for slot in slots if key_of(slot) == name), None)
    return {key_of(slot) for slot in (*body.slots, *(body.tags or ()))} if body else set()
