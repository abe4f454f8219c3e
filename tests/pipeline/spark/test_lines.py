"""Lines of history that cannot be read any more, or are read no more; and names of sources that are odd."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

from pyspark.sql import SparkSession

from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.run import Request, run
from kiplint.pipeline.stage import Engine
from kiplint.pipeline.tables import Problems, Revisions, Sources

from .conftest import SILENT


def lines_of(lake: Lake) -> dict[tuple[str, str], tuple[int, datetime | None]]:
    """The lines of a lake, with the number of their revisions, and since when they could not be read."""
    reader = Reader(lake)
    counts = {
        (row["source"], row["lineage"]): row["count"]
        for row in reader.duck.rows("SELECT source, lineage, count(*) AS count FROM revisions GROUP BY ALL")
    }
    rows = {(row["source"], row["lineage"]): row for row in reader.rows(Sources)}
    assert {place: row["revisions"] for place, row in rows.items()} == counts
    return {place: (row["revisions"], row["as_of"]) for place, row in rows.items()}


def test_a_line_that_is_gone_stays_as_it_was(
    history: Path, engine: Engine, spark: SparkSession, tmp_path: Path
) -> None:
    lake = Lake(tmp_path / "lake")

    def read(*sources: str) -> list[tuple[str, str]]:
        run(lake, Request(sources), engine, lambda: spark, SILENT, ("ingest",))
        return [(row["subject"], row["problem"].partition(";")[0]) for row in Reader(lake).rows(Problems)]

    bundle = tmp_path / "x.bundle"
    subprocess.run(["git", "-C", history, "bundle", "create", "-q", bundle, "fork"], check=True)
    sources = (f"a={history}#main", f"a={history}#tags", f"b/%41 é={bundle}#fork")
    assert read(*sources) == []
    everything = {("a", "main"): (10, None), ("a", "tags"): (4, None), ("b/%41 é", "fork"): (5, None)}
    assert lines_of(lake) == everything
    assert Reader(lake).rows(Revisions)[0]["time"] == datetime(2024, 1, 8, 12, tzinfo=UTC)
    since = lake.snapshot().published
    bundle.write_bytes(bundle.read_bytes()[:-30])  # its header stays, so that executors are the first to see it
    bundle.write_bytes(bundle.read_bytes().replace(b"refs/heads/fork\n", b"refs/heads/fork\n" * 2, 1))
    ((subject, problem),) = read(*sources)
    assert (subject, problem.partition(":")[0]) == ("b/%41 é", f"cannot read the bundle {bundle}")
    assert lines_of(lake) == {**everything, ("b/%41 é", "fork"): (5, since)}
    bundle.unlink()
    assert read(*sources) == [("b/%41 é", f"no such file or directory: {bundle}")]
    assert lines_of(lake)["b/%41 é", "fork"] == (5, since)
    subprocess.run(["git", "-C", history, "bundle", "create", "-q", bundle, "fork"], check=True)
    assert read(*sources) == []
    assert lines_of(lake) == everything
    before = {part for part in lake.parts("revisions", lake.snapshot().tables["revisions"]) if part.source != "a"}
    assert read(f"a={history}#main", sources[2]) == []
    assert lines_of(lake) == {("a", "main"): (10, None), ("b/%41 é", "fork"): (5, None)}
    after = {part for part in lake.parts("revisions", lake.snapshot().tables["revisions"]) if part.source != "a"}
    assert before == after
