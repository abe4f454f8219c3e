"""A second run processes only what is new, and its lake is equal to that of one run over everything."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from benchmarks.sample import make_history
from pyspark.sql import SparkSession

from kiplint.engine.config import Config
from kiplint.engine.errors import UsageError
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.delta import rows_in
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.run import NAMES, Done, Request, check_stages, run
from kiplint.pipeline.stage import Engine
from kiplint.pipeline.tables import TABLES, Blobs, Problems, Revisions

from .conftest import SILENT, make_watcher, never

SHORT = ("ingest", "lint", "describe", "compare")
"""The stages whose rows belong to contents."""


def _content(lake: Lake) -> dict[str, list[str]]:
    reader = Reader(lake)
    tables = [kind for kind in TABLES.values() if kind.NAME in reader.snapshot.tables]
    return {kind.NAME: sorted(map(str, reader.rows(kind))) for kind in tables}


def test_a_run_with_nothing_new_does_not_even_start_spark(lake: Lake, engine: Engine, sources: tuple[str, ...]) -> None:
    stages: list[Done] = []
    before = lake.snapshot()
    assert run(lake, Request(sources), engine, never, make_watcher(stages)) == before
    assert [(stage.stage, stage.seconds) for stage in stages] == [(name, None) for name in NAMES]


def test_new_commits_cost_only_what_they_bring(lake: Lake, engine: Engine, spark: SparkSession, tmp_path: Path) -> None:
    """The lake of all commits, made in two runs: at first without the last three, and without the release of one."""
    request, catch_up = held_back(tmp_path / "sample")
    new_lake = Lake(tmp_path / "lake")
    run(new_lake, request, engine, lambda: spark, SILENT, SHORT)
    first = new_lake.parts("blobs", new_lake.snapshot().tables["blobs"])
    catch_up()
    run(new_lake, request, engine, lambda: spark, SILENT, SHORT)
    again = new_lake.parts("blobs", new_lake.snapshot().tables["blobs"])
    assert set(first) < set(again)
    assert rows_in(set(again) - set(first)) == 4  # two of the header, and the two of DeleteGroups
    text, whole = _content(new_lake), _content(lake)
    assert {name for name, rows in text.items() if rows != whole[name]} == {"sources"}  # they lie elsewhere


def test_other_rules_are_linted_anew_and_nothing_else(
    lake: Lake, spark: SparkSession, sources: tuple[str, ...], tmp_path: Path
) -> None:
    strict = Config()
    strict.severity = {"style/about-missing": "error", "versions/field-above-valid": "warning"}
    stages: list[Done] = []
    copy = Lake(shutil.copytree(lake.path, tmp_path / "lake"))
    other = Engine.of(make_ruleset(strict, load_rules(strict, "")))
    run(copy, Request(sources), other, lambda: spark, make_watcher(stages), [name for name in NAMES if name != "spans"])
    assert [stage.stage for stage in stages if stage.seconds is not None] == ["lint"]
    before, after = _content(lake), _content(copy)
    assert {name for name, rows in after.items() if rows != before[name]} == {"findings"}


def test_a_new_source_leaves_the_spans_of_others(
    lake: Lake, engine: Engine, spark: SparkSession, sources: tuple[str, ...], history: Path, tmp_path: Path
) -> None:
    copy = Lake(shutil.copytree(lake.path, tmp_path / "lake"))
    run(copy, Request((*sources, f"other={history}#tags")), engine, lambda: spark, SILENT, ("ingest", "spans"))
    before, after = _content(lake), _content(copy)
    new_spans = [row for row in after["spans"] if row not in before["spans"]]
    assert {row.partition(", 'lineage'")[0] for row in new_spans} == {"{'source': 'other'"}
    for table in ("spans", "revisions"):
        parts = {*copy.parts(table, copy.snapshot().tables[table])}
        assert {part.source for part in parts - {*lake.parts(table, lake.snapshot().tables[table])}} == {"other"}
        assert {part.source for part in parts} == {"sample", "fork", "other"}


@pytest.fixture(scope="module")
def damaged_repository(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A repository in which a blob is missing, and its id."""
    repository = tmp_path_factory.mktemp("damaged") / "sample"
    make_history(repository)
    blob = _git(repository, "rev-parse", "main:clients/RequestHeader.json").strip()
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    return repository, blob


def test_what_cannot_be_read_is_a_problem_and_no_dead_job(
    damaged_repository: tuple[Path, str], engine: Engine, spark: SparkSession, tmp_path: Path
) -> None:
    repository, blob = damaged_repository
    lake = Lake(tmp_path / "lake")
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / "Deep.json").write_text('{"apiKey":1,"type":"request","validVersions":"0","x":' + "[" * 50_000)
    (hostile / "Huge.json").write_text(
        '{"apiKey":' + "9" * 400 + ',"type":"request","name":"\\ud800","validVersions":"0"}'
    )
    (hostile / "Empty.json").write_bytes(b"")
    sources = (f"sample={repository}#main", f"gone={tmp_path / 'gone'}#main", f"hostile={hostile}")
    run(lake, Request(sources), engine, lambda: spark, SILENT, SHORT[:3])
    reader = Reader(lake)
    problems = {(row["stage"], row["subject"]) for row in reader.rows(Problems)}
    assert problems == {("sources", "gone"), ("ingest", blob)}
    assert {row["source"]: row["position"] for row in reader.rows(Revisions)} == {"sample": 9, "hostile": 0}
    assert sorted(row["kind"] for row in reader.rows(Blobs) if row["kind"] != "definition") == ["broken", "unreadable"]


def test_names_of_stages_are_checked() -> None:
    assert check_stages(["lint,ingest"]) == ("ingest", "lint")
    with pytest.raises(UsageError, match="there is no stage lnt; did you mean lint\\?"):
        check_stages(["lnt"])


def test_sources_with_one_name_and_line_are_refused(engine: Engine, history: Path, tmp_path: Path) -> None:
    twice = Request((f"a={history}#main", f"a={history}#main"))
    with pytest.raises(UsageError, match="two sources are called a and have main"):
        run(Lake(tmp_path / "lake"), twice, engine, never, SILENT)


def test_a_stage_needs_those_before_it(engine: Engine, sources: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="stage lint needs the table files: run the stages before it first"):
        run(Lake(tmp_path / "lake"), Request(sources), engine, never, SILENT, ("lint",))


def held_back(repository: Path) -> tuple[Request, Callable[[], None]]:
    """The sample without its last three commits and the releases of two, and what brings these."""
    commits = make_history(repository)
    _git(repository, "update-ref", "refs/heads/main", commits[-4])
    _git(repository, "tag", "--delete", "1.2.0", "2.0.0")

    def catch_up() -> None:
        for name, commit in (("heads/main", commits[-1]), ("tags/1.2.0", commits[-2]), ("tags/2.0.0", commits[-1])):
            _git(repository, "update-ref", f"refs/{name}", commit)

    return Request((f"sample={repository}#main", f"sample={repository}#tags", f"fork={repository}#fork")), catch_up


def _git(repository: Path, *words: str) -> str:
    command: list[Any] = ["git", "-C", repository, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
