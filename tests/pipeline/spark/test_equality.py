"""The lake has no second opinion: what it says of a revision is what `check`, `diff` and `negotiate` say, row for row."""

from __future__ import annotations

import os
import random
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import pytest

from examples import seed
from kiplint.compat.negotiation.negotiate import negotiate
from kiplint.compat.tree import load
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.stage import Engine
from kiplint.pipeline.tables import Revisions

from .revisions import CHANGE, FINDING, changes_of, findings_of, rows_of
from .thinned import BLOBS, RELEASES, REVISIONS, TAGS, WHOLE

SAMPLE = int(os.environ.get("KIPLINT_EQUALITY_SAMPLE", "12"))
"""How many are drawn of each line; `make equality` draws other ones in each run."""

PAIRS = 2 * SAMPLE
SEED = seed(other=WHOLE)


T = TypeVar("T")


@pytest.fixture(scope="module")
def reader(kafka: Lake) -> Reader:
    return Reader(kafka)


@pytest.fixture(scope="module")
def lines_and_chance(reader: Reader) -> tuple[list[list[dict[str, Any]]], random.Random]:
    """The revisions of each line, and where the drawing of samples stands."""
    print(f"seed {SEED}")  # shown by pytest when a test fails
    lines: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in sorted(reader.rows(Revisions), key=lambda row: (row["lineage"], row["position"])):
        if row["source"] == "kafka":
            lines[row["lineage"]].append(row)
    return [lines["trunk"], lines[TAGS]], random.Random(SEED)


def test_every_revision_is_there_once(lines_and_chance: tuple[list[list[dict[str, Any]]], random.Random]) -> None:
    assert [len(line) for line in lines_and_chance[0]] == [REVISIONS, RELEASES]
    assert all([row["position"] for row in line] == list(range(len(line))) for line in lines_and_chance[0])


def test_every_distinct_blob_is_there_once(reader: Reader) -> None:
    rows = reader.duck.rows("SELECT count(*), count(DISTINCT blob), count(DISTINCT sha256(data)) FROM blobs")
    assert [tuple(row.values()) for row in rows] == [(BLOBS, BLOBS, BLOBS)]


def test_findings_are_those_of_check(
    reader: Reader, bundle: str, engine: Engine, lines_and_chance: tuple[list[list[dict[str, Any]]], random.Random]
) -> None:
    (trunk, tags), chance = lines_and_chance
    rows = [*_sample(chance, trunk), *_sample(chance, tags)]
    result = _by_commit(reader, "set_findings", rows)
    for row in rows:
        text = rows_of(result[row["lineage"], row["commit"]], FINDING)
        assert text == findings_of(row["commit"], bundle, engine.rules.whole), f"seed {SEED}: {row['commit']}"


def test_changes_are_those_of_diff(
    reader: Reader, bundle: str, engine: Engine, lines_and_chance: tuple[list[list[dict[str, Any]]], random.Random]
) -> None:
    (trunk, tags), chance = lines_and_chance
    pairs = [*_sample(chance, list(pairwise(trunk))), *_sample(chance, list(pairwise(tags)))]
    result = _by_commit(reader, "set_changes", [new for _, new in pairs])
    for old, new in pairs:
        rows = rows_of(result[new["lineage"], new["commit"]], CHANGE)
        text = changes_of(old["commit"], new["commit"], bundle, engine.rules.whole)
        assert rows == text, f"seed {SEED}: {old['commit']} {new['commit']}"


def test_the_matrix_is_that_of_negotiate(
    reader: Reader, bundle: str, lines_and_chance: tuple[list[list[dict[str, Any]]], random.Random]
) -> None:
    (_, tags), chance = lines_and_chance
    commits = {row["release"]: row["commit"] for row in tags}
    load_release = cache(lambda release: load(f"{commits[release]}:", bundle).main)
    cells: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in reader.duck.rows("SELECT * FROM release_matrix"):
        cells[row["client"], row["broker"]].append(row)
    assert len(cells) == RELEASES**2
    for client, broker in chance.sample(sorted(cells), min(PAIRS, len(cells))):
        text = negotiate((client, load_release(client)), [(broker, load_release(broker))]).rpcs
        rows = sorted(_cell(row) for row in cells[client, broker])
        assert rows == sorted(_row(row) for row in text), f"seed {SEED}: {client} {broker}"


def _sample(chance: random.Random, rows: list[T]) -> list[T]:
    return chance.sample(rows, min(SAMPLE, len(rows)))


def _by_commit(
    reader: Reader, view: str, rows: Iterable[dict[str, Any]]
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    result = defaultdict(list)
    expected = sorted({row["commit"] for row in rows})
    for row in reader.duck.rows(f"SELECT * FROM {view} WHERE commit IN (SELECT unnest($1))", [expected]):
        result[row["lineage"], row["commit"]].append(row)
    return result


def _cell(row: dict[str, Any]) -> tuple[Any, ...]:
    alone = row["status"] in ("client-only", "broker-only", "not-offered")
    usable = None if alone else "none" if row["lowest"] is None else _range(row["lowest"], row["highest"])
    rows = (row["chosen"], row["request_header"], row["response_header"], row["instance_id"], row["deprecated"])
    return _sortable(row["api_key"], row["name"], row["status"], usable, *rows)


def _row(row: Any) -> tuple[Any, ...]:
    rows = (row.chosen, row.request_header, row.response_header, row.instance_id, row.deprecated)
    return _sortable(row.api_key, row.name, row.status, row.usable, *rows)


def _sortable(*values: object) -> tuple[str, ...]:
    return tuple(map(str, values))


def _range(lowest: int, highest: int) -> str:
    return str(lowest) if lowest == highest else f"{lowest}-{highest}"
