"""Versions side by side: a cell for each, or for a whole range where there would be too many."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from kiplint.versions import VersionRange, boundaries

MOST_CELLS = 48
"""How many versions of one row are told one by one; Kafka's longest RPC has some twenty."""


class Cell(NamedTuple):
    """One version, or a range of versions that are alike: what stands in it, how it looks, and what it means."""

    text: str
    look: str
    title: str


class Strip(NamedTuple):
    """A row of cells, and the same in words."""

    cells: tuple[Cell, ...]
    label: str


def strip(
    ranges: Iterable[VersionRange],
    within: VersionRange,
    tell: Callable[[int], tuple[str, str]],
    *,
    from_zero: bool = True,
) -> Strip:
    """The versions `within`, on which the `ranges` decide how they look; `tell` says look and meaning of one.

    With `from_zero` empty cells stand for the versions before the lowest, so that rows stand below one another.
    """
    pieces = list(boundaries(ranges, within))
    single = sum(one.highest - one.lowest + 1 for one in pieces) <= MOST_CELLS
    cells: list[Cell] = []
    words: list[str] = []
    if from_zero and within and within.lowest <= MOST_CELLS // 2:
        cells += [Cell(str(version), "gap", "") for version in range(within.lowest)]
    for one in pieces:
        look, meaning = tell(one.lowest)
        words.append(f"{one} {meaning}".strip())
        texts = [str(version) for version in range(one.lowest, one.highest + 1)] if single else [str(one)]
        cells += [Cell(text, look, f"version {text}: {meaning}" if meaning else "") for text in texts]
    return Strip(tuple(cells), "versions " + "; ".join(words) if words else "no versions")
