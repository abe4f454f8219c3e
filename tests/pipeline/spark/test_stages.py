"""A small lake: what its tables hold of a merge, of a fork, and of releases of several sources."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest
from benchmarks.sample import WHO
from pyspark.sql import SparkSession

from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.lake.lake import Lake
from kiplint.pipeline.run import Request, run
from kiplint.pipeline.stage import Engine
from kiplint.pipeline.tables import Matrix

from .conftest import SILENT


def definition(name: str, key: int, kind: str = "int32", about: str = "A number.") -> str:
    field = {"name": "Number", "type": kind, "versions": "0+", **({"about": about} if about else {})}
    half = "request" if name.endswith("Request") else "response"
    rows = {"apiKey": key, "type": half, "name": name, "validVersions": "0"}
    return json.dumps({**rows, "flexibleVersions": "none", "fields": [field]})


def commit(
    mark: int, subject: str, files: dict[str, str], *parents: int, branch: str = "main", deletions: Iterable[str] = ()
) -> list[str]:
    who = f"Ann <ann@example.org> {1_700_000_000 + mark} +0000"
    lines = [f"commit refs/heads/{branch}", f"mark :{mark}", f"author {who}", f"committer {who}"]
    lines += [f"data {len(subject)}", subject]
    lines += [f"{word} :{parent}" for word, parent in zip(("from", "merge"), parents, strict=False)]
    lines += [f"D {path}" for path in deletions]
    for path, text in files.items():
        lines += [f"M 644 inline {path}", f"data {len(text)}", text]
    return [*lines, ""]


def pair(name: str, key: int, kind: str = "int32") -> dict[str, str]:
    return {f"m/{name}{half}.json": definition(f"{name}{half}", key, kind) for half in ("Request", "Response")}


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """On `main` a merge that brings a mistake; on `fork` another type, and another message for upstream's API key."""
    place = tmp_path_factory.mktemp("stages") / "repository"
    stream = [
        *commit(1, "Begin", {**pair("Weather", 1), **pair("Tide", 2)}),
        *commit(2, "Forget what it is", {"m/WeatherRequest.json": definition("WeatherRequest", 1, about="")}, 1),
        *commit(3, "Nothing of a set", {"readme": "x"}, 1),
        *commit(4, "Merge #7", {"m/WeatherRequest.json": definition("WeatherRequest", 1, about="")}, 3, 2),
        *commit(
            5,
            "Begin the fork",
            {**pair("Weather", 1, "int64"), **pair("Moon", 2, "string")},
            1,
            branch="fork",
            deletions=pair("Tide", 2),
        ),
        "reset refs/tags/1.0",
        "from :1",
        "",
        "done",
        "",
    ]
    subprocess.run(["git", "init", "--quiet", "--bare", place], check=True)
    words = ["git", "-C", str(place), "fast-import", "--quiet"]
    subprocess.run(words, input="\n".join(stream).encode(), env={**WHO, "PATH": "/usr/bin:/bin"}, check=True)
    return place


@pytest.fixture(scope="module")
def reader(repository: Path, spark: SparkSession, engine: Engine) -> Reader:
    lake = Lake(repository.parent / "lake")
    lines = [f"{name}={repository}#{ref}" for name, ref in (("up", "main"), ("up", "tags"), ("fork", "fork"))]
    request = Request((*lines, f"other={repository}#tags", f"plain={repository}#main"), across=True)
    run(lake, request, engine, lambda: spark, SILENT)
    return Reader(lake)


def test_the_commit_behind_a_merge(reader: Reader, repository: Path) -> None:
    rows = reader.duck.rows(
        "SELECT * FROM spans WHERE rule = 'style/about-missing' AND source = 'up' AND lineage = 'main'"
    )
    words = ["git", "-C", str(repository), "rev-parse", "main", "main^2"]
    merge, inner = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
    spans = [(row["introduced_commit"], row["inner_commit"], row["inner_author"], row["inner_subject"]) for row in rows]
    assert spans == [(merge, inner, "Ann", "Forget what it is")]


def test_spans_of_a_source_without_releases(reader: Reader) -> None:
    columns = "first_release, before_first_release, backports"
    rows = reader.duck.rows(f"SELECT {columns} FROM spans WHERE rule = 'style/about-missing' AND source = 'plain'")
    assert rows == [{"first_release": None, "before_first_release": False, "backports": []}]


def test_what_a_fork_collides_on(reader: Reader) -> None:
    names = ("message_name", "status", "api_key", "upstream_name", "upstream_lineage", "upstream_release", "difference")
    rows = reader.duck.rows("SELECT * FROM drift WHERE source = 'fork' AND type = 'request'")
    assert {tuple(row[name] for name in names) for row in rows} == {
        ("WeatherRequest", "collision", 1, "WeatherRequest", "main", "1.0", "the bytes differ"),
        ("MoonRequest", "collision", 2, "TideRequest", "main", "1.0", "API key 2 is upstream's TideRequest"),
    }
    assert {(row["message_name"], row["field"], row["layout"], row["upstream_layout"]) for row in rows} == {
        ("WeatherRequest", "Number", "Number int64", "Number int32"),
        ("MoonRequest", "Number", "Number string", "Number int32"),
    }


def test_releases_across_sources(reader: Reader) -> None:
    pairs = {(row["client_source"], row["broker_source"]) for row in reader.duck.rows("SELECT * FROM release_matrix")}
    assert pairs == {("up", "up"), ("up", "other"), ("other", "up"), ("other", "other")}
    assert len({(row["client_root"], row["broker_root"]) for row in reader.rows(Matrix)}) == 1  # the same content
