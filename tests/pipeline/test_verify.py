"""Every file of a lake is read against its log; what is damaged is named, and its stages are done again."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kiplint.pipeline.lake.delta import one_line
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.lake.upkeep import verify
from kiplint.pipeline.stage import STAGES, undone
from kiplint.pipeline.tables import TABLES
from pipeline.support import ask

WAYS = {
    "deleted": lambda file: file.unlink(),
    "truncated": lambda file: file.write_bytes(file.read_bytes()[:-9]),
    "emptied": lambda file: file.write_bytes(b""),
    "overwritten": lambda file: file.write_bytes(_flip_bytes(file.read_bytes())),
}
PROBLEMS = {"deleted": "is missing", "truncated": "has ", "emptied": "has 0 bytes", "overwritten": "cannot be read: "}


def _flip_bytes(data: bytes) -> bytes:
    """Four bytes of the first page, which begins behind the magic number, are others."""
    return data[:60] + bytes(byte ^ 0xFF for byte in data[60:64]) + data[64:]


@pytest.fixture
def copy(lake: Lake, tmp_path: Path) -> Lake:
    return Lake(shutil.copytree(lake.path, tmp_path / "lake"))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("table", ["findings", "revisions", "spans", "blobs", "offers"])
def test_damage_is_named(copy: Lake, table: str, way: str) -> None:
    snapshot = copy.snapshot()
    assert list(verify(copy, snapshot)) == []
    part = max(copy.parts(table, snapshot.tables[table]), key=lambda part: part.size)
    WAYS[way](copy.path / part.name)
    (damage,) = verify(copy, snapshot)
    assert (damage.table, damage.part) == (table, part.name)
    assert damage.problem.startswith(PROBLEMS[way])


def test_the_command(copy: Lake) -> None:
    assert ask("verify", str(copy.path)).code == 0
    part = copy.parts("findings", copy.snapshot().tables["findings"])[0]
    (copy.path / part.name).unlink()
    result = ask("verify", str(copy.path))
    assert (result.code, part.name in result.out, "is missing" in result.out) == (1, True, True)


def test_each_table_has_a_stage_that_makes_it_again(copy: Lake) -> None:
    snapshot = copy.snapshot()
    for name in TABLES:
        after = undone(snapshot, [name])
        assert name not in after.tables
        assert len(after.stages) < len(snapshot.stages)
    assert undone(snapshot, ["files"]).stages.keys() == snapshot.stages.keys() - {"ingest", "ingest-walking"}
    assert undone(snapshot, TABLES).stages == {}
    assert len(STAGES) == 7


def test_an_error_of_a_store_is_one_line() -> None:
    text = "Generic S3 error: 404: <?xml version='1.0'?><Error><Code>NoSuchBucket</Code>\n<Message>No such bucket.</Message></Error>"
    assert one_line(text).startswith("NoSuchBucket: No such bucket; check the name of the bucket")
