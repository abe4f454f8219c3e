"""Edits on the bytes of a file: what is not edited stays as it is, byte for byte."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class Edit(msgspec.Struct, frozen=True, order=True):
    """The bytes from `start` up to `end` give way to `text`, as UTF-8; an insertion when both are equal."""

    start: int
    end: int
    text: str


class Overlap(ValueError):  # noqa: N818
    """Two edits want the same bytes; the message says which."""


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes with all edits made. Insertions at one place come in the order in which they are given; a replacement
    that is there twice is made once.

    Raises Overlap when an edit begins inside another, ValueError when one reaches beyond the bytes.
    """
    parts: list[bytes] = []
    done = 0
    last: Edit | None = None
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if not 0 <= edit.start <= edit.end <= len(data):
            raise ValueError(f"an edit of bytes {edit.start} to {edit.end}, where there are {len(data)}")
        if edit == last and edit.end > edit.start:
            continue
        if last is not None and edit.start < last.end:
            raise Overlap(
                f"an edit of bytes {edit.start} to {edit.end} overlaps one of bytes {last.start} to {last.end}"
            )
        parts += (data[done : edit.start], edit.text.encode())
        done, last = edit.end, edit
    parts.append(data[done:])
    return b"".join(parts)


def collide(one: Edit, other: Edit) -> bool:
    """Whether two edits that know nothing of each other can not both be made: they share bytes, or a place to insert.

    Two that are equal are one edit, unless they insert: then nobody knows whether the text is wanted twice.
    """
    first, second = sorted((one, other))
    if second.start < first.end:
        return first != second
    return first.start == second.start
