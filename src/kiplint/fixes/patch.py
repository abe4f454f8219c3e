"""Unified diffs of texts that differ in a few lines here and there, in time linear in their length."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import itemgetter
from typing import Final

_Opcode = tuple[str, int, int, int, int]
"""A part of both texts, as in difflib: `equal`, `replace`, `delete` or `insert`, and the ranges of their lines."""
_MOST_LINES: Final = 500
"""The most lines of each text that difflib compares at once, as its time is quadratic."""
_NO_NEWLINE: Final = "\\ No newline at end of file\n"


class _LineMatcher(SequenceMatcher[str]):
    """Finds the lines that changed. Its base class puts them into groups with the lines around them."""

    def __init__(self, old: Sequence[str], new: Sequence[str]) -> None:
        super().__init__()
        self._opcodes = list(_merge(_opcodes(old, new)))

    def get_opcodes(self) -> list[_Opcode]:  # type: ignore[override]
        """The parts of both texts in order."""
        return self._opcodes


def unified_diff(old: Sequence[str], new: Sequence[str], name: str) -> Iterator[str]:
    """The lines of a unified diff of two versions of a file, given as lines with their line feeds."""
    groups = list(_LineMatcher(old, new).get_grouped_opcodes()) if old != new else []
    if groups:
        yield f"--- a/{name}\n"
        yield f"+++ b/{name}\n"
    for group in groups:
        (_, old_start, _, new_start, _), (_, _, old_end, _, new_end) = group[0], group[-1]
        yield f"@@ -{_range(old_start, old_end)} +{_range(new_start, new_end)} @@\n"
        for tag, old_start, old_end, new_start, new_end in group:
            if tag == "equal":
                yield from _marked(" ", old[old_start:old_end])
            else:
                yield from _marked("-", old[old_start:old_end])
                yield from _marked("+", new[new_start:new_end])


def _range(start: int, end: int) -> str:
    """A range of lines, as diff writes it: 1-based start and length; an empty range follows the line that it names."""
    length = end - start
    return str(start + 1) if length == 1 else f"{start + 1 if length else start},{length}"


def _marked(mark: str, lines: Sequence[str]) -> Iterator[str]:
    for line in lines:
        yield mark + line if line.endswith("\n") else f"{mark}{line}\n{_NO_NEWLINE}"


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[_Opcode]:
    """The parts of both texts in order; parts of one kind may follow each other."""
    is_long = max(len(old), len(new)) > _MOST_LINES
    old_start = new_start = 0
    for old_end, new_end in (*(_unique_lines(old, new) if is_long else ()), (len(old), len(new))):
        while old_start < old_end or new_start < new_end:
            old_part, new_part = (
                lines[start : min(start + _MOST_LINES, end)]
                for lines, start, end in ((old, old_start, old_end), (new, new_start, new_end))
            )
            for tag, i1, i2, j1, j2 in SequenceMatcher(None, old_part, new_part).get_opcodes():
                yield tag, old_start + i1, old_start + i2, new_start + j1, new_start + j2
            old_start, new_start = old_start + len(old_part), new_start + len(new_part)
        if old_end < len(old):
            old_start, new_start = old_end + 1, new_end + 1
            yield "equal", old_end, old_start, new_end, new_start


def _unique_lines(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where both texts have a line that each of them has once, as far as these lines have the same order in both."""
    old_counts, new_counts = Counter(old), Counter(new)
    new_indexes = {line: index for index, line in enumerate(new)}
    last_index = -1
    for index, line in enumerate(old):
        if old_counts[line] == new_counts[line] == 1 and new_indexes[line] > last_index:
            last_index = new_indexes[line]
            yield index, last_index


def _merge(opcodes: Iterable[_Opcode]) -> Iterator[_Opcode]:
    """The parts, in which none follows one of its kind."""
    for tag, group in groupby(opcodes, key=itemgetter(0)):
        (_, old_start, _, new_start, _), *_ = parts = list(group)
        _, _, old_end, _, new_end = parts[-1]
        yield tag, old_start, old_end, new_start, new_end
