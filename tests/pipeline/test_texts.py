"""Rows of texts with their uses, as workers get them, become sets again."""

from __future__ import annotations

from kiplint.pipeline.columns import batch
from kiplint.pipeline.texts import ROWS, Use, sets_in


def test_sets_are_put_together_across_batches_chunk_by_chunk() -> None:
    rows = [
        (7, "b1", b"one", ["t1", "t2"], ["B.json", "B.json"], [True, False]),
        (7, "b2", b"two", ["t1"], ["A.json"], [True]),
        (9, "b1", b"one", ["t3", "t3"], ["Z.json", "A.json"], [True, False]),
    ]
    expected = [
        ("t1", [Use("A.json", "b2", b"two", True), Use("B.json", "b1", b"one", True)]),
        ("t2", [Use("B.json", "b1", b"one", False)]),
        ("t3", [Use("A.json", "b1", b"one", False), Use("Z.json", "b1", b"one", True)]),
    ]
    for size in (1, 2, 3):
        batches = [batch(ROWS, rows[at : at + size]) for at in range(0, len(rows), size)]
        assert list(sets_in(batches)) == expected


def test_no_rows_are_no_sets() -> None:
    assert list(sets_in([])) == []
    assert list(sets_in([batch(ROWS, [])])) == []
