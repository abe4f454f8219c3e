"""Many sources: the same lines whoever lists them, in the order in which they were named."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.sample import make_history

from conftest import ROOT
from kiplint.engine.errors import UsageError
from kiplint.pipeline.listing import Source, list_all, list_source, read_source
from kiplint.sources.schema_files import SourceError

PATTERNS = ("clients/*",)


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A history as a repository, a bundle and a shallow clone, a schema set in a directory, and what is broken."""
    place = tmp_path_factory.mktemp("many")
    make_history(place / "sample")
    git = ("git", "-C", str(place))
    subprocess.run([*git[:2], place / "sample", "bundle", "create", "-q", place / "all.bundle", "--all"], check=True)
    subprocess.run([*git, "clone", "-q", "--depth", "2", f"file://{place / 'sample'}", "shallow"], check=True)
    subprocess.run([*git, "init", "-q", "unborn"], check=True)
    (place / "linked.bundle").symlink_to("all.bundle")
    (place / "cut.bundle").write_bytes((place / "all.bundle").read_bytes()[:-30])
    (place / "broken" / "objects").mkdir(parents=True)
    (place / "broken" / "HEAD").write_text("rubbish")
    return place


@pytest.fixture
def sources(places: Path, stored: str) -> list[Source]:
    rows = [
        f"a={places}/sample#main",
        f"a={places}/sample#tags=1.*",
        f"b={places}/all.bundle#fork",
        f"b={places}/linked.bundle#tags",
        f"c={places}/shallow",
        f"d={ROOT}/fixtures/sets/broker",
        f"e={stored}/sample.bundle#main",
        f"f={stored}/set.zip",
        f"g={places}/broken#main",
        f"h={places}/unborn",
        f"i={places}/sample#mian",
        f"j={places}/all.bundle#tags=9.*",
        f"k={places}/linked.bundle#gone",
        f"l={places}/cut.bundle#main",
        f"m={places}/nowhere",
        f"n={stored}/gone.jar",
        f"o={ROOT}/fixtures/sets/broker#main",
    ]
    return [read_source(text) for text in rows]


def test_lines_and_problems_of_many_kinds_of_sources(places: Path, sources: list[Source]) -> None:
    lines, problems, _ = list_all(sources, PATTERNS)
    assert [(line.source, len(line.revisions), line.shallow) for line in lines] == [
        ("a", 10, False),
        ("a", 3, False),
        ("b", 5, False),
        ("b", 4, False),
        ("c", 2, True),
        ("d", 1, False),
        ("e", 10, False),
        ("f", 1, False),
    ]
    assert [name for name, _ in problems] == list("ghijklmno")
    assert all(str(places) in output or "set" in output or "s3:" in output for _, output in problems)


def test_errors_name_the_source_as_it_was_named(places: Path) -> None:
    def problem_of(source: str) -> str:
        with pytest.raises(SourceError) as caught:
            list_source(read_source(source), ())
        return str(caught.value)

    linked = places / "linked.bundle"
    assert problem_of(f"a={linked}#tags=9.*") == f"no tag with a version like 9.* in {linked}"
    assert problem_of(f"a={linked}#main2") == f"no such branch in {linked}: main2; did you mean main?"
    assert problem_of(f"a={linked}#main..fork").startswith(f"no such branch in {linked}: main..fork")


@pytest.fixture
def few_files() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    open_now = len(os.listdir("/proc/self/fd"))
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(256, open_now + 200), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


@pytest.mark.usefixtures("few_files")
def test_in_the_order_of_names(places: Path) -> None:
    """They share repositories and bundles, and end at other times than they begin."""
    what = ("sample#main", "nowhere", "all.bundle#fork", "sample#tags", "linked.bundle#tags", "sample#gone")
    sources = [read_source(f"s{at}={places}/{what[at % len(what)]}") for at in range(60)]
    each = [list_all([source], ()) for source in sources]
    assert list_all(sources, ()) == tuple(
        [item for part in parts for item in part] for parts in zip(*each, strict=True)
    )
    assert [sum(map(len, parts)) for parts in zip(*each, strict=True)] == [40, 20, 30]


def test_a_name_that_is_given_twice(places: Path) -> None:
    sources = [read_source(f"{name}={places}/{what}") for name, what in (("x", "gone"), *[("a", "sample#main")] * 2)]
    with pytest.raises(UsageError, match="^two sources are called a and have main$"):
        list_all(sources, ())


def test_a_commit_of_no_time(tmp_path: Path) -> None:
    git = ("git", "-C", str(tmp_path))
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    tree = subprocess.run([*git, "mktree"], input="", check=True, capture_output=True, text=True).stdout
    who = "Jo <jo@example.org> 99999999999999 +0000"
    given = f"tree {tree}author {who}\ncommitter {who}\n\nlate\n"
    words = ("hash-object", "-t", "commit", "-w", "--stdin")
    made = subprocess.run([*git, *words], input=given, check=True, capture_output=True, text=True).stdout
    subprocess.run([*git, "update-ref", "refs/heads/main", made.strip()], check=True)
    (row,) = list_source(read_source(f"a={tmp_path}#main"), ()).revisions.table.to_pylist()
    assert (row["subject"], row["time"]) == ("late", None)
