"""Edits of the bytes of files: what is not edited stays as it is, byte for byte."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from itertools import chain, islice, takewhile
from typing import Annotated

import msgspec
from msgspec import Meta


class Edit(msgspec.Struct, frozen=True, order=True):
    """The bytes of a file from `start` up to `end` give way to `text`, as UTF-8."""

    path: str
    start: Annotated[int, Meta(ge=0, description="In bytes of the file as it is.")]
    end: Annotated[int, Meta(ge=0, description="Exclusive; the same as `start` for an insertion.")]
    text: str


class Overlap(ValueError):  # noqa: N818
    """Two edits overlap; the message has their offsets."""


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes with all edits made. Insertions at one place come in the order in which they are given; a replacement
    that is there twice is made once.

    Raises Overlap when an edit begins inside another, ValueError when one reaches beyond the bytes.
    """
    parts: list[bytes] = []
    position = 0
    last: Edit | None = None
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end)):
        if not 0 <= edit.start <= edit.end <= len(data):
            raise ValueError(f"an edit of bytes {edit.start} to {edit.end}, where there are {len(data)}")
        if edit == last and edit.end > edit.start:
            continue
        if last is not None and edit.start < last.end:
            raise Overlap(
                f"an edit of bytes {edit.start} to {edit.end} overlaps one of bytes {last.start} to {last.end}"
            )
        parts += (data[position : edit.start], edit.text.encode())
        position, last = edit.end, edit
    parts.append(data[position:])
    return b"".join(parts)


def collide(edit: Edit, other: Edit) -> bool:
    """Whether two edits that know nothing of each other can not both be made: they share bytes, or a place to insert.

    Two equal replacements count as one edit; two equal insertions collide, because both texts may be intended.
    """
    first, second = sorted((edit, other))
    if second.start < first.end:
        return first != second
    return first.start == second.start


class Edits:
    """Edits of one file that can all be made, in their order."""

    def __init__(self) -> None:
        self._edits: list[Edit] = []

    def collides(self, edit: Edit) -> bool:
        """Whether an edit collides with any of them."""
        at = bisect_left(self._edits, Edit(edit.path, edit.start, -1, ""))
        following = takewhile(lambda other: other.start < max(edit.end, edit.start + 1), islice(self._edits, at, None))
        return any(collide(edit, other) for other in chain(self._edits[max(at - 1, 0) : at], following))

    def add(self, edit: Edit) -> None:
        """Add an edit, once."""
        at = bisect_left(self._edits, edit)
        if self._edits[at : at + 1] != [edit]:
            self._edits.insert(at, edit)
