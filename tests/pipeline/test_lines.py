"""Lines of history that cannot be read any more, that are cut off, and very many of them."""

from __future__ import annotations

import os
import random
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from benchmarks.sample import make_history
from msgspec.structs import replace
from pyspark.sql import SparkSession

from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.delta import write_table
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.lake.schema import table
from kiplint.pipeline.listing import list_all, read_source
from kiplint.pipeline.stage import Context, Engine, Work
from kiplint.pipeline.stages import ingest
from kiplint.pipeline.stages.spans import TOUCHED
from kiplint.pipeline.tables import Roots, Sets, Sources, Trees

NO_SPARK = cast(SparkSession, None)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("lines") / "sample"
    make_history(place)
    return place


def listed(lake: Lake, *sources: str) -> list[tuple[str, str]]:
    """Read lines into a lake as far as that needs no session; what is wrong with sources."""
    lines, problems, lost = list_all([read_source(source) for source in sources], ())
    context = Context(Engine(b""), tuple(lines), tuple(problems), (), "", tuple(lost))
    with lake.writing():
        work = Work(NO_SPARK, lake, lake.snapshot())
        keys = {key for line in lines for key in line.revisions.table["key"].to_pylist()}
        known = {row["key"] for row in work.query("SELECT key FROM roots").to_pylist()}
        work.put(Roots, sorted((key, f"root of {key}") for key in keys - known), more=True)
        ingest.put_lines(work, context)
        lake.publish(work.snapshot, work.written, "ingest")
    return problems


def revisions_of(lake: Lake) -> dict[tuple[str, str], tuple[int, datetime | None]]:
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
    assert revisions_of(lake) == {("a", "main"): (10, None), ("a", "tags"): (4, None), ("b", "fork"): (5, None)}
    since = lake.snapshot().published
    subprocess.run(["git", "-C", history, "branch", "-q", "-m", "fork", "renamed"], check=True)
    ((subject, output),) = listed(lake, *sources)
    assert (subject, output.partition(";")[0]) == ("b", f"no such branch in {history}: fork")
    assert revisions_of(lake) == {("a", "main"): (10, None), ("a", "tags"): (4, None), ("b", "fork"): (5, since)}
    listed(lake, *sources)
    assert revisions_of(lake)["b", "fork"] == (5, since)
    subprocess.run(["git", "-C", history, "branch", "-q", "-m", "renamed", "fork"], check=True)
    assert listed(lake, *sources) == []
    assert revisions_of(lake)["b", "fork"] == (5, None)
    listed(lake, f"a={history}#main")
    assert set(revisions_of(lake)) == {("a", "main")}


@pytest.mark.parametrize(
    ("changed", "chosen"),
    [
        ([], []),
        ([("a", "main", None)], [("a", "main"), ("a", "tags")]),
        ([("a", "tags", "1.0")], [("a", "fork"), ("a", "main"), ("a", "tags")]),
        ([("b", "", None)], [("b", "")]),
    ],
)
def test_the_lines_whose_spans_are_made_again(
    tmp_path: Path, changed: list[tuple[str, str, str | None]], chosen: list[tuple[str, str]]
) -> None:
    def revision(position: int, source: str, lineage: str, release: str | None) -> tuple[object, ...]:
        nothing = [None] * (len(Sets.COLUMNS) - 7)
        return source, lineage, position, f"c{position}", None, release, f"r{position}", *nothing

    known = [("a", "main", None), ("a", "fork", None), ("a", "tags", "0.9"), ("b", "", None)]
    old = [revision(0, *line) for line in known]
    new = [*old, *(revision(1, *line) for line in changed)]
    lake = Lake(tmp_path / "lake")
    tables = {name: table(Sets.COLUMNS, rows) for name, rows in (("sets", new), ("old_sets", old))}
    with lake.writing():
        work = Work(NO_SPARK, lake, lake.snapshot())
        work.put(Sets, tables.pop("sets"))
        assert [tuple(row.values()) for row in work.query(TOUCHED, **tables).to_pylist()] == chosen


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


def test_the_base_of_a_fork_is_what_git_says(tmp_path: Path) -> None:
    """Forks that leave upstream anywhere and merge it now and then, against `git merge-base`."""
    chance = random.Random(1)
    place, names = str(tmp_path / "repository"), [f"fork{number}" for number in range(20)]
    stream, marks = [], 0

    def commit(line: str, before: int, merged: int = 0) -> int:
        nonlocal marks
        marks += 1
        links = f"from :{before}\n" * bool(before) + f"merge :{merged}\n" * bool(merged)
        head = f"commit refs/heads/{line}\nmark :{marks}\ncommitter M <m@example.com> {1700000000 + marks} +0000\n"
        stream.append(f"{head}data 1\nx\n{links}M 100644 inline {line}.json\ndata {len(str(marks))}\n{marks}\n")
        return marks

    main = [commit("main", 0)]
    main += [commit("main", main[0] + step) for step in range(30)]
    for name in names:
        base = chance.randrange(20)
        last = main[base]
        for _ in range(chance.randrange(1, 9)):
            merged = chance.randrange(base, len(main)) if chance.random() < 0.4 else 0
            base = merged or base
            last = commit(name, last, main[merged] if merged else 0)
    subprocess.run(["git", "init", "-q", "-b", "main", place], check=True)
    subprocess.run(["git", "-C", place, "fast-import", "--quiet"], input="".join(stream).encode(), check=True)

    lake = Lake(tmp_path / "lake")
    sources = ["up=" + place + "#main", *(f"{name}={place}#{name}" for name in names)]
    assert listed(lake, *sources) == []
    trees = sorted({(row["root"], "", row["root"]) for row in Reader(lake).rows(Sets)})
    with lake.writing():
        parts = write_table(table(Trees.COLUMNS, trees), lake.storage, lake.stage("trees"))
        lake.publish(replace(lake.snapshot(), request={"sources": sources}), {"trees": parts}, "ingest")
    bases = {row["source"]: row["base_commit"] for row in Reader(lake).duck.rows("SELECT * FROM behind_upstream")}
    merge_base = ["git", "-C", place, "merge-base", "main"]
    assert bases == {
        name: subprocess.run([*merge_base, name], check=True, capture_output=True, text=True).stdout.strip()
        for name in names
    }
    assert len({*bases.values()}) > 5
