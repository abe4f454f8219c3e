"""Sources as they are named, the states by which they are known, and their revisions."""

from __future__ import annotations

import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from benchmarks.sample import make_history

from conftest import ROOT
from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake.schema import batch
from kiplint.pipeline.listing import LINES, Source, all_lines, line_of, list_in_arrow, read_source
from kiplint.sources.history import is_candidate
from kiplint.sources.schema_files import SourceError


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("listing") / "sample"
    make_history(place)
    return place


def test_sources(tmp_path: Path) -> None:
    assert read_source("a=b#c") == Source("a", "b", "c")
    assert read_source("a=b/c.bundle") == Source("a", "b/c.bundle", "")
    assert read_source("a=x=y#tags=3.*") == Source("a", "x=y", "tags=3.*")
    odd = tmp_path / "with#sign"
    odd.mkdir()
    assert read_source(f"a={odd}") == Source("a", str(odd), "")


@pytest.mark.parametrize("source", ["", "a", "=b", "a=", "a=#trunk"])
def test_invalid_sources(source: str) -> None:
    with pytest.raises(UsageError, match="--source takes NAME=PATH"):
        read_source(source)


def test_a_path_that_is_not_utf_8() -> None:
    with pytest.raises(UsageError, match=r"^the tables of a lake are UTF-8, and --source a=x\\udcff is not$"):
        read_source("a=x\udcff")


def revisions(source: str, *patterns: str, mail: bool = False) -> list[dict[str, Any]]:
    """The revisions of a source, and at last the row of its line."""
    line = line_of(read_source(source), patterns, mail=mail)
    batches = list_in_arrow(mail=mail)([batch(LINES, [tuple(line)])])
    return [row for rows in batches for row in rows.to_pylist()]


def _list_commits(source: str) -> list[tuple[str, str | None]]:
    return [(row["commit"][:7], row["release"]) for row in revisions(source)[:-1]]


def test_a_branch_from_its_first_commit(history: Path) -> None:
    text = _list_commits(f"a={history}#main")
    assert (len(text), text[0], text[-1]) == (10, ("81ee43d", None), ("6dd060a", None))
    assert _list_commits(f"a={history}") == text


def test_mail_addresses_are_read_only_on_request(history: Path) -> None:
    source = f"a={history}#main"
    assert [{row["mail"] for row in revisions(source, mail=mail)[:-1]} for mail in (False, True)] == [
        {None},
        {"sample@example.org"},
    ]
    assert line_of(read_source(source)).state != line_of(read_source(source), mail=True).state


def test_tags_by_several_globs(history: Path, tmp_path: Path) -> None:
    def releases(globs: str) -> list[str | None]:
        return [release for _, release in _list_commits(f"a={history}#tags={globs}")]

    assert releases("1.1.*,2.*") == ["1.1.0", "2.0.0"]
    assert releases("!1.1.*") == ["1.0.0", "1.2.0", "2.0.0"]
    assert releases("1.*,!*.2.0") == ["1.0.0", "1.1.0"]
    with pytest.raises(SourceError, match=r"no tag with a version like 1\.\*,!1\.\* in "):
        releases("1.*,!1.*")


def test_tags_in_the_order_of_versions(history: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "-C", history, "tag", "1.10.0-rc1", "main"], check=True)
    subprocess.run(["git", "-C", history, "tag", "nightly", "main"], check=True)
    rows = [release for _, release in _list_commits(f"a={history}#tags=*")]
    assert rows == ["1.0.0", "1.1.0", "1.2.0", "1.10.0-rc1", "2.0.0"]
    *releases, end = revisions(f"a={history}#tags")
    assert [row["release"] for row in releases] == ["1.0.0", "1.1.0", "1.2.0", "2.0.0"]
    assert (end["revisions"], end["candidates"]) == (4, 1)
    assert [release for _, release in _list_commits(f"a={history}#tags=1.?.0")] == ["1.0.0", "1.1.0", "1.2.0"]


def test_a_bundle_is_known_by_its_header(history: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "sample.bundle"
    subprocess.run(["git", "-C", history, "bundle", "create", "-q", bundle, "main", "fork"], check=True)
    state = line_of(read_source(f"a={bundle}#fork")).state
    assert _list_commits(f"a={bundle}#fork")[-1] == ("1880670", None)
    assert _list_commits(f"a={bundle}#main")[-1] == ("6dd060a", None)
    subprocess.run(["git", "-C", history, "bundle", "create", "-q", bundle, "main", "fork", "1.0.0"], check=True)
    assert line_of(read_source(f"a={bundle}#fork")).state != state


def test_a_directory_has_one_revision_that_changes_with_its_files(tmp_path: Path, repo: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    file = folder / "X.json"
    file.write_bytes((repo / "fixtures/sets/broker/clients/RequestHeader.json").read_bytes())
    before, end = revisions(f"a={folder}")
    assert (before["key"], end["revisions"]) == (line_of(read_source(f"a={folder}")).state, 1)
    file.write_text(file.read_text() + "\n")
    assert revisions(f"a={folder}")[0]["key"] != before["key"]


def test_other_paths_are_other_contents(history: Path) -> None:
    source = f"a={history}#main"
    choices = ((), ("clients/*",), ("meta*",))
    assert len({revisions(source, *patterns)[0]["key"] for patterns in choices}) == 3
    assert len({line_of(read_source(source), patterns).state for patterns in choices}) == 3


def git(place: Path, *words: str) -> str:
    process = subprocess.run(["git", "-C", place, *words], check=True, capture_output=True, text=True)
    return process.stdout.strip()


def test_what_changes_the_revisions_changes_the_state(tmp_path: Path) -> None:
    make_history(tmp_path / "sample")
    place = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth", "2", "--no-single-branch", f"file://{tmp_path / 'sample'}", str(place))
    states = {line_of(read_source(f"a={place}#main")).state}
    assert revisions(f"a={place}#main")[-1]["cut_off"]
    for words in (
        ("fetch", "-q", "--deepen", "1"),
        ("fetch", "-q", "--unshallow"),
        ("update-ref", "refs/heads/main", "main~1"),
    ):
        git(place, *words)
        states.add(line_of(read_source(f"a={place}#main")).state)
    (place / ".mailmap").write_text("Robin <robin@example.org> <sample@example.org>\n")
    states.add(line_of(read_source(f"a={place}#main")).state)
    assert len(states) == 5
    assert line_of(read_source(f"a={place}#main")).state in states
    assert not revisions(f"a={place}#main")[-1]["cut_off"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a={gone}#main", "no such file or directory: {gone}"),
        ("a={history}#mian", "no such branch in {history}: mian; did you mean main?"),
        ("a={history}#tags=9.*", "no tag with a version like 9.* in {history}"),
        ("a={plain}#main", "{plain} is not a git repository, and has no main"),
        ("a={history}#--all", "no such branch in {history}: --all; did you mean"),
    ],
)
def test_what_cannot_be_listed(history: Path, tmp_path: Path, source: str, expected: str) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    places = {"gone": str(tmp_path / "gone"), "history": str(history), "plain": str(plain)}
    with pytest.raises(SourceError) as caught:
        line_of(read_source(source.format(**places)))
    assert str(caught.value).startswith(expected.format(**places).partition("; did you mean")[0])


@pytest.mark.parametrize("tag", ["3.9.0-rc3", "4.0.0-RC1", "1.0-alpha", "v2.0.0-beta.2", "2.0.0rc1", "0.8.0-beta1"])
def test_candidates(tag: str) -> None:
    assert is_candidate(tag)


@pytest.mark.parametrize("tag", ["3.9.0", "v4.1.0", "confluent-8.0.0", "march-1.0", "alphabet-2.0", "7.0.0-ccs"])
def test_releases(tag: str) -> None:
    assert not is_candidate(tag)


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
def sources(places: Path, sources_uri: str) -> list[Source]:
    rows = [
        f"a={places}/sample#main",
        f"a={places}/sample#tags=1.*",
        f"b={places}/all.bundle#fork",
        f"b={places}/linked.bundle#tags",
        f"c={places}/shallow",
        f"d={ROOT}/fixtures/sets/broker",
        f"e={sources_uri}/sample.bundle#main",
        f"f={sources_uri}/set.zip",
        f"g={places}/broken#main",
        f"h={places}/unborn",
        f"i={places}/sample#mian",
        f"j={places}/all.bundle#tags=9.*",
        f"k={places}/linked.bundle#gone",
        f"l={places}/cut.bundle#main",
        f"m={places}/nowhere",
        f"n={sources_uri}/gone.jar",
        f"o={ROOT}/fixtures/sets/broker#main",
    ]
    return [read_source(text) for text in rows]


def test_lines_and_problems_of_many_kinds_of_sources(places: Path, sources: list[Source]) -> None:
    lines, problems, _ = all_lines(sources, ("clients/*",))
    assert [(line.source, line.lineage) for line in lines] == [
        *(("a", "main"), ("a", "tags=1.*"), ("b", "fork"), ("b", "tags"), ("c", "HEAD"), ("d", "")),
        *(("e", "main"), ("f", ""), ("j", "tags=9.*"), ("l", "main")),
    ]
    assert [name for name, _ in problems] == list("ghikmno")
    assert all(str(places) in output or "set" in output or "s3:" in output for _, output in problems)
    batches = list_in_arrow(mail=False)([batch(LINES, map(tuple, lines))])
    ends = [row for rows in batches for row in rows.to_pylist() if row["position"] is None]
    assert [(row["source"], row["revisions"], row["cut_off"]) for row in ends if not row["problem"]] == [
        *(("a", 10, False), ("a", 3, False), ("b", 5, False), ("b", 4, False), ("c", 2, True), ("d", 1, False)),
        *(("e", 10, False), ("f", 1, False)),
    ]
    assert [row["source"] for row in ends if row["problem"]] == ["j", "l"]


def test_errors_name_the_source_as_it_was_named(places: Path) -> None:
    def problem_of(source: str) -> str:
        with pytest.raises(SourceError) as caught:
            line_of(read_source(source))
        return str(caught.value)

    link = places / "linked.bundle"
    assert problem_of(f"a={link}#main2") == f"no such branch in {link}: main2; did you mean main?"
    assert problem_of(f"a={link}#main..fork").startswith(f"no such branch in {link}: main..fork")


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
    each = [all_lines([source], ()) for source in sources]
    assert all_lines(sources, ()) == tuple(
        [item for part in parts for item in part] for parts in zip(*each, strict=True)
    )
    assert [sum(map(len, parts)) for parts in zip(*each, strict=True)] == [40, 20, 30]


def test_a_name_that_is_given_twice(places: Path) -> None:
    sources = [read_source(f"{name}={places}/{what}") for name, what in (("x", "gone"), *[("a", "sample#main")] * 2)]
    with pytest.raises(UsageError, match="^two sources are called a and have main$"):
        all_lines(sources, ())


def test_a_commit_of_no_time(tmp_path: Path) -> None:
    git = ("git", "-C", str(tmp_path))
    subprocess.run([*git, "init", "-q", "-b", "main"], check=True)
    tree = subprocess.run([*git, "mktree"], input="", check=True, capture_output=True, text=True).stdout
    who = "Jo <jo@example.org> 99999999999999 +0000"
    text = f"tree {tree}author {who}\ncommitter {who}\n\nlate\n"
    words = ("hash-object", "-t", "commit", "-w", "--stdin")
    commit = subprocess.run([*git, *words], input=text, check=True, capture_output=True, text=True).stdout
    subprocess.run([*git, "update-ref", "refs/heads/main", commit.strip()], check=True)
    row, _ = revisions(f"a={tmp_path}#main")
    assert (row["subject"], row["time"]) == ("late", None)
