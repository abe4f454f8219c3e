"""The matrix of two sources whose tags have the same names."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from kiplint.commands.pipeline.text import grids
from kiplint.pipeline.answers.matrix import matrix, pair_matrix
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.tables import Matrix, Revisions, Trees
from pipeline.support import put
from tools import complaint

RELEASES = [("a", "1.0"), ("a", "2.0"), ("b", "1.0")]


def cell(client: tuple[str, str], broker: tuple[str, str]) -> tuple[object, ...]:
    agrees = client[0] == broker[0]
    values: dict[str, Any] = dict.fromkeys(Matrix.COLUMNS)
    values |= {"client_root": " ".join(client), "broker_root": " ".join(broker)}
    values |= {"api_key": 3, "name": "Metadata", "broker_name": "Metadata" if agrees else "Weather"}
    values |= {"status": "agreed" if agrees else "no-common-version", "deprecated": False, "instance_id": False}
    return tuple(values.values())


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Reader:
    lake = Lake(tmp_path_factory.mktemp("matrix") / "lake")
    rows: dict[Any, list[tuple[object, ...]]] = {
        Revisions: [
            (
                source,
                "tags",
                at,
                f"c{at}",
                None,
                name,
                "empty" if name == "0.9" else f"{source} {name}",
                *("A", "s", [], None, [], [], None),
            )
            for at, (source, name) in enumerate([*RELEASES, ("a", "0.9")])
        ],
        Trees: [(" ".join(release), "", "t") for release in RELEASES],
        Matrix: [cell(client, broker) for client in RELEASES for broker in RELEASES],
    }
    with lake.writing():
        parts = {kind.NAME: put(lake, kind, some) for kind, some in rows.items()}
        lake.publish(replace(lake.snapshot(), request={"across": True}), parts, "matrix")
    return Reader(lake)


def test_releases_of_one_name_are_apart(reader: Reader) -> None:
    result = matrix(reader)
    assert len(result.pairs) == 9
    assert result.releases == ("1.0", "2.0", "1.0")
    assert result.undefined == ("0.9",)
    (grid,) = grids(result)
    assert grid.rows == [
        ("a:1.0", "b:1.0", "1", "Metadata"),
        ("2.0", "b:1.0", "1", "Metadata"),
        ("b:1.0", "a:1.0 to 2.0", "1", "Metadata"),
    ]


def test_a_pair_is_named_by_its_sources(reader: Reader) -> None:
    text = "several sources have a release 1.0: say a:1.0 or b:1.0"
    assert complaint(lambda: pair_matrix(reader, "1.0", "2.0")) == text
    result = pair_matrix(reader, "a:1.0", "b:1.0")
    (grid,) = grids(result)
    assert grid.title == "a:1.0 as client, b:1.0 as broker"
    assert grid.rows[0][1] == "Metadata (the broker's is Weather)"
    assert pair_matrix(reader, "a:2.0", "2.0").client == "2.0"
    assert complaint(lambda: pair_matrix(reader, "2.1", "2.0")).startswith("there is no release 2.1 in the lake")
    assert complaint(lambda: pair_matrix(reader, "0.9", "2.0")) == "release 0.9 has no definitions"
