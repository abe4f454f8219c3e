"""Rows of texts with their uses, as workers get them, become sets again."""

from __future__ import annotations

import duckdb

from kiplint.pipeline.lake.schema import batch, table
from kiplint.pipeline.workers import MOST_BYTES, ROWS, USES_OF, Use, chunk_numbers, sets_in


def test_sets_are_put_together_across_batches_chunk_by_chunk() -> None:
    rows = [
        (7, "b1", b"one", ["t1", "t2"], ["B.json", "B.json"], [True, False]),
        (7, "b2", b"two", ["t1"], ["A.json"], [True]),
        (9, "b1", b"one", ["t3", "t3"], ["Z.json", "A.json"], [True, False]),
    ]
    seven = {
        "t1": [Use("A.json", "b2", b"two", True), Use("B.json", "b1", b"one", True)],
        "t2": [Use("B.json", "b1", b"one", False)],
    }
    nine = {"t3": [Use("A.json", "b1", b"one", False), Use("Z.json", "b1", b"one", True)]}
    for size in (1, 2, 3):
        batches = [batch(ROWS, rows[at : at + size]) for at in range(0, len(rows), size)]
        assert list(sets_in(batches)) == [(7, seven), (9, nine)]


def test_without_rows_there_are_no_sets() -> None:
    assert list(sets_in([])) == []
    assert list(sets_in([batch(ROWS, [])])) == []


def test_chunks_are_neighbours_of_one_group_up_to_a_size() -> None:
    half = MOST_BYTES // 2
    assert chunk_numbers("aaabbc", [half, half, 1, 1, 2 * MOST_BYTES, 1]) == [0, 0, 1, 2, 3, 4]


def test_uses_of_a_text_in_a_chunk_are_one_row() -> None:
    files = table(
        {"tree": "string", "name": "string", "blob": "string", "fresh": "boolean"},
        [("t1", "A.json", "b1", True), ("t2", "A.json", "b1", False), ("t3", "A.json", "b1", False)],
    )
    chunks = table({"chunk": "bigint", "tree": "string"}, [(0, "t1"), (0, "t2"), (1, "t3")])
    with duckdb.connect() as duck:
        uses = duck.register("placed", files).register("chunks", chunks).sql(USES_OF).to_arrow_table()
    assert uses.to_pylist() == [
        {"chunk": 0, "blob": "b1", "tree": ["t1", "t2"], "name": ["A.json"] * 2, "fresh": [True, False]},
        {"chunk": 1, "blob": "b1", "tree": ["t3"], "name": ["A.json"], "fresh": [False]},
    ]
