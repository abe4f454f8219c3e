"""Sources in an object store, as the machine that reads them has them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark import TaskContext

from kiplint.pipeline.fetching import FILES, GIT, on_this_machine, state_of
from kiplint.pipeline.lake.storage import Storage
from kiplint.pipeline.listing import line_of, read_source
from kiplint.sources.schema_files import SourceError
from pipeline.test_listing import revisions
from tools import complaint


def test_a_bundle_and_an_archive_are_listed_as_on_a_disk(sources_uri: str, history: Path) -> None:
    line = line_of(read_source(f"a={sources_uri}/sample.bundle#tags"))
    assert (line.kind, line.path, line.lineage) == (GIT, f"{sources_uri}/sample.bundle", "tags")
    there, here = (revisions(f"a={place}#tags") for place in (f"{sources_uri}/sample.bundle", history))
    assert [row["key"] for row in there] == [row["key"] for row in here]
    archive = line_of(read_source(f"a={sources_uri}/set.zip"))
    assert (archive.kind, archive.path) == (FILES, f"{sources_uri}/set.zip")
    assert [row["key"] for row in revisions(f"a={sources_uri}/set.zip")] == [archive.state, None]


def test_another_object_has_another_key(sources_uri: str) -> None:
    store = Storage(sources_uri)
    store.write("other.zip", store.read("set.zip", 1 << 20))
    before, state = on_this_machine(f"{sources_uri}/other.zip"), state_of(f"{sources_uri}/other.zip")
    assert on_this_machine(f"{sources_uri}/other.zip") == before
    store.write("other.zip", b"shorter")
    assert state_of(f"{sources_uri}/other.zip") != state
    assert Path(on_this_machine(f"{sources_uri}/other.zip")).read_bytes() == b"shorter"


def test_an_executor_keeps_it_in_the_scratch_space_of_spark(
    sources_uri: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TaskContext, "_taskContext", TaskContext())
    monkeypatch.setenv("SPARK_LOCAL_DIRS", f"{tmp_path},/elsewhere")
    place = on_this_machine(f"{sources_uri}/sample.bundle")
    assert Path(place).is_relative_to(tmp_path)
    assert (Path(place) / "HEAD").is_file()
    assert sum(name.startswith("kiplint-") and "." not in name for name in os.listdir(tmp_path)) == 1


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("gone.bundle", "no such object: {place}; in an object store a source is a bundle or an archive"),
        ("plain.txt", "neither a git bundle nor an archive: {place}"),
    ],
)
def test_what_cannot_be_fetched(sources_uri: str, place: str, expected: str) -> None:
    Storage(sources_uri).write("plain.txt", b"{}")
    assert problem_of(f"a={sources_uri}/{place}") == expected.format(place=f"{sources_uri}/{place}")


@pytest.mark.usefixtures("bucket")
def test_a_store_that_does_not_answer_is_a_problem() -> None:
    assert problem_of("a=s3://nowhere/a.bundle").startswith(
        ("cannot read s3://nowhere", "no such object: s3://nowhere")
    )


def problem_of(source: str) -> str:
    try:
        return str(revisions(source)[-1]["problem"])
    except SourceError as error:
        return str(error)


@pytest.mark.parametrize("text", ["a=s3://bucket", "a=s3://bucket/", "a=s3a://bucket/..", "a=s3://#main"])
def test_what_names_no_object(text: str) -> None:
    assert "names no b" in complaint(lambda: read_source(text))


@pytest.mark.parametrize(
    "text", ["s3://A:SECRET@b/x.jar", "s3://b/x.jar?sig=SECRET", "https://A:SECRET@host/x.git", "s3:///?SECRET"]
)
def test_no_secret_is_shown(text: str) -> None:
    assert "SECRET" not in complaint(lambda: read_source(f"a={text}"))


def test_a_file_as_a_uri(history: Path) -> None:
    assert line_of(read_source(f"a={history.as_uri()}#main")) == line_of(read_source(f"a={history}#main"))
