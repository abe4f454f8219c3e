"""Decoded bytes as rows of a table, for people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import msgspec

from kiplint.codec.wire import ValueSpan
from kiplint.model.error_codes import error_of
from kiplint.text.words import in_bytes

MOST_BYTES, MOST_TEXT = 16, 60
"""The number of bytes of a value that are shown, and of characters."""


class ValueRow(NamedTuple):
    """A value: its offset, its first bytes, its field with its depth, its encoding, and the value.

    `wrong` is the place of the first wrong byte among the bytes; None where there is none.
    """

    offset: int
    data: bytes
    is_cut: bool
    depth: int
    field: str
    type: str
    value: str
    wrong: int | None


def value_rows(data: bytes, spans: Sequence[ValueSpan], problems: Sequence[int], most: int) -> list[ValueRow]:
    """The values in the order of their bytes, at most so many; `problems` are the offsets of wrong bytes.

    With problems, the bytes after the last value are a row of their own.
    """
    end = max((span.offset + span.length for span in spans), default=0)
    unread = [ValueSpan(end, len(data) - end, 0, "", "not read", None)] if problems and end < len(data) else []
    rows = []
    for span in islice((span for span in (*spans, *unread) if span.length), most):
        chunk = data[span.offset : span.offset + span.length]
        wrong = next(
            (place - span.offset for place in sorted(problems) if 0 <= place - span.offset < span.length), None
        )
        name = span.path.rpartition(".")[2]
        is_cut = len(chunk) > MOST_BYTES
        rows.append(ValueRow(span.offset, chunk[:MOST_BYTES], is_cut, span.depth, name, span.type, _value(span), wrong))
    return rows


def is_error_field(name: str) -> bool:
    """Whether an int16 field of that name is an error code."""
    return name.endswith(("errorCode", "ErrorCode"))


def _value(span: ValueSpan) -> str:
    if span.type in ("not read", "tag section") or span.type.startswith("tag "):
        return "" if span.value is None else in_bytes(span.value) if span.type != "tag section" else str(span.value)
    if "array" in span.type.split() and span.value is not None:
        return f"{span.value} elements" if span.value != 1 else "1 element"
    if span.type == "int16" and is_error_field(span.path):
        return str(error_of(span.value))
    return _short(span.value)


def _short(value: Any) -> str:
    if value == {}:
        return ""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 3] + "..."
