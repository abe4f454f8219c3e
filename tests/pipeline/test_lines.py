"""Lines of history that cannot be read any more, that are cut off, and very many of them."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from benchmarks.sample import make_history
from pyspark.sql import SparkSession

from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.listing import list_all, read_source
from kiplint.pipeline.stage import Context, Engine, Work
from kiplint.pipeline.stages import ingest
from kiplint.pipeline.tables import Roots, Sets, Sources

NO_SPARK = cast(SparkSession, None)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lines") / "sample"
    make_history(place)
    return place


def listed(lake: Lake, *sources: str) -> list[tuple[str, str]]:
    """Read lines into a lake as far as that needs no session; what is wrong with sources."""
    lines, problems, lost = list_all([read_source(one) for one in sources], ())
    context = Context(Engine(b""), tuple(lines), tuple(problems), (), "", tuple(lost))
    with lake.writing():
        work = Work(NO_SPARK, lake, lake.snapshot())
        keys = {key for line in lines for key in line.revisions.table["key"].to_pylist()}
        known = {row["key"] for row in lake.read(work.parts(Roots), Roots.COLUMNS).to_pylist()}
        work.put(Roots, sorted((key, f"root of {key}") for key in keys - known), more=True)
        ingest.put_lines(work, context)
        lake.publish(work.snapshot, work.written, "ingest")
    return problems


def told(lake: Lake) -> dict[tuple[str, str], tuple[int, datetime | None]]:
    reader = Reader(lake)
    counts: dict[Any, int] = {}
    for row in reader.rows(Sets):
        counts[row["source"], row["lineage"]] = counts.get((row["source"], row["lineage"]), 0) + 1
    return {
        (row["source"], row["lineage"]): (counts[row["source"], row["lineage"]], row["as_of"])
        for row in reader.rows(Sources)
    }


def test_a_line_that_is_gone_stays_as_it_was(history: Path, tmp_path: Path) -> None:
    lake = Lake(tmp_path / "lake")
    sources = (f"a={history}#main", f"a={history}#tags", f"b={history}#fork")
    assert listed(lake, *sources) == []
    assert told(lake) == {("a", "main"): (10, None), ("a", "tags"): (4, None), ("b", "fork"): (5, None)}
    since = lake.snapshot().published
    subprocess.run(["git", "-C", history, "branch", "-q", "-m", "fork", "renamed"], check=True)
    ((subject, said),) = listed(lake, *sources)
    assert (subject, said.partition(";")[0]) == ("b", f"no such branch in {history}: fork")
    assert told(lake) == {("a", "main"): (10, None), ("a", "tags"): (4, None), ("b", "fork"): (5, since)}
    listed(lake, *sources)
    assert told(lake)["b", "fork"] == (5, since)
    subprocess.run(["git", "-C", history, "branch", "-q", "-m", "renamed", "fork"], check=True)
    assert listed(lake, *sources) == []
    assert told(lake)["b", "fork"] == (5, None)
    listed(lake, f"a={history}#main")
    assert set(told(lake)) == {("a", "main")}


def test_a_shallow_clone_is_known_as_one(history: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth", "2", f"file://{history}", clone], check=True)
    lines, _, _ = list_all([read_source(f"a={clone}#main"), read_source(f"b={history}#main")], ())
    assert [(line.source, len(line.revisions), line.shallow) for line in lines] == [
        ("a", 2, True),
        ("b", 10, False),
    ]


def test_sources_hold_no_processes(history: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    lines, _, _ = list_all([read_source(f"s{number}={history}#main") for number in range(40)], ())
    assert len(lines) == 40
    assert len(os.listdir("/proc/self/fd")) < before + 40


def test_the_time_of_a_lake_is_utc(tmp_path: Path, history: Path) -> None:
    lake = Lake(tmp_path / "lake")
    listed(lake, f"a={history}#main")
    assert Reader(lake).rows(Sets)[0]["time"] == datetime(2024, 1, 8, 12, tzinfo=UTC)
