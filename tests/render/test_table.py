"""Tables and excerpts in a terminal of any width."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.render.table import table, width_of
from kiplint.render.text import excerpt

from .findings import finding

ROWS = [["Fetch", "0-17", "no version in common with the broker"], ["OffsetForLeaderEpoch", "4", ""]]


def draw(width: int | None, head: tuple[str, ...] = ("RPC", "versions", "")) -> list[str]:
    return table(head, [[(cell, "") for cell in row] for row in ROWS], color=False, width=width)


def test_a_table_without_a_width_is_as_wide_as_it_is() -> None:
    assert draw(None) == [
        "  RPC                   versions",
        "  Fetch                 0-17      no version in common with the broker",
        "  OffsetForLeaderEpoch  4",
    ]
    assert draw(70) == draw(None)
    assert draw(None, ())[0] == "  Fetch                 0-17  no version in common with the broker"


def test_a_table_folds_its_widest_column_between_words() -> None:
    assert draw(50) == [
        "  RPC                   versions",
        "  Fetch                 0-17      no version in",
        "                                  common with the",
        "                                  broker",
        "  OffsetForLeaderEpoch  4",
    ]


def test_columns_that_do_not_fit_stand_below_their_row() -> None:
    assert draw(34) == [
        "  RPC                   versions",
        "  Fetch                 0-17",
        "      no version in common with",
        "      the broker",
        "  OffsetForLeaderEpoch  4",
    ]


CELLS = st.lists(st.text("abc", min_size=1, max_size=9), max_size=6).map(" ".join)


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=4), st.integers(24, 60))
def test_no_word_is_ever_broken(rows: list[tuple[str, str, str]], width: int) -> None:
    lines = table((), [[(cell, "") for cell in row] for row in rows], color=False, width=width)
    assert max(map(len, lines)) <= width
    words = sorted(word for row in rows for cell in row for word in cell.split())
    assert sorted(word for line in lines for word in line.split()) == words


def test_only_a_terminal_has_a_width(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setenv("COLUMNS", "72")
    assert (width_of(io.StringIO()), width_of(Terminal())) == (None, 72)


@pytest.mark.parametrize("width", [40, 60, 80, 100, 146])
@pytest.mark.parametrize("start", [0, 5, 60, 118, 190])
def test_an_excerpt_is_cut_around_its_place(width: int, start: int) -> None:
    line = "".join(chr(33 + n % 90) for n in range(200))
    rows = excerpt(finding(message="m", span=(1, start + 1, 1, start + 9)), line.encode(), False, width).splitlines()
    source, marks = rows[3], rows[4]
    assert len(source) <= width
    at, length = marks.index("^"), marks.count("^")
    assert source[at : at + length] == line[start : start + 8]
    assert length == 8
