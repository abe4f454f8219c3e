"""Sources as they are named, and their revisions."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from benchmarks.sample import make_history

from kiplint.engine.errors import UsageError
from kiplint.pipeline.listing import Source, list_source, read_source
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


def _listed(source: str, tmp_path: Path, *patterns: str) -> list[tuple[str, str | None]]:
    line = list_source(read_source(source), patterns)
    return [(row["commit"][:7], row["release"]) for row in line.revisions.table.to_pylist()]


def test_a_branch_from_its_first_commit(history: Path, tmp_path: Path) -> None:
    text = _listed(f"a={history}#main", tmp_path)
    assert (len(text), text[0], text[-1]) == (10, ("81ee43d", None), ("6dd060a", None))
    assert _listed(f"a={history}", tmp_path) == text


def test_mail_addresses_are_read_only_on_request(history: Path) -> None:
    without, with_mail = (list_source(read_source(f"a={history}#main"), (), mail=mail) for mail in (False, True))
    assert set(without.revisions.table["mail"].to_pylist()) == {None}
    assert set(with_mail.revisions.table["mail"].to_pylist()) == {"sample@example.org"}
    assert without.digest != with_mail.digest


def test_tags_by_several_globs(history: Path, tmp_path: Path) -> None:
    def releases(globs: str) -> list[str | None]:
        return [release for _, release in _listed(f"a={history}#tags={globs}", tmp_path)]

    assert releases("1.1.*,2.*") == ["1.1.0", "2.0.0"]
    assert releases("!1.1.*") == ["1.0.0", "1.2.0", "2.0.0"]
    assert releases("1.*,!*.2.0") == ["1.0.0", "1.1.0"]
    with pytest.raises(SourceError, match=r"no tag with a version like 1\.\*,!1\.\* in "):
        releases("1.*,!1.*")


def test_tags_in_the_order_of_versions(history: Path, tmp_path: Path) -> None:
    subprocess.run(["git", "-C", history, "tag", "1.10.0-rc1", "main"], check=True)
    subprocess.run(["git", "-C", history, "tag", "nightly", "main"], check=True)
    rows = [release for _, release in _listed(f"a={history}#tags=*", tmp_path)]
    assert rows == ["1.0.0", "1.1.0", "1.2.0", "1.10.0-rc1", "2.0.0"]
    line = list_source(read_source(f"a={history}#tags"), ())
    assert line.revisions.table["release"].to_pylist() == ["1.0.0", "1.1.0", "1.2.0", "2.0.0"]
    assert line.candidates == 1
    assert [release for _, release in _listed(f"a={history}#tags=1.?.0", tmp_path)] == ["1.0.0", "1.1.0", "1.2.0"]


def test_a_bundle_is_unpacked_once(history: Path, tmp_path: Path) -> None:
    bundle = tmp_path / "sample.bundle"
    subprocess.run(["git", "-C", history, "bundle", "create", "-q", bundle, "main", "fork"], check=True)
    assert _listed(f"a={bundle}#fork", tmp_path)[-1] == ("1880670", None)
    assert _listed(f"a={bundle}#main", tmp_path)[-1] == ("6dd060a", None)
    places = {list_source(read_source(f"a={bundle}#{name}"), ()).location for name in ("main", "fork")}
    assert len(places) == 1
    assert (Path(*places) / "HEAD").is_file()


def test_a_directory_has_one_revision_that_changes_with_its_files(tmp_path: Path, repo: Path) -> None:
    folder = tmp_path / "set"
    folder.mkdir()
    file = folder / "X.json"
    file.write_bytes((repo / "fixtures/sets/broker/clients/RequestHeader.json").read_bytes())

    def key() -> str:
        (only_key,) = list_source(read_source(f"a={folder}"), ()).revisions.table["key"].to_pylist()
        return only_key

    before = key()
    assert key() == before
    file.write_text(file.read_text() + "\n")
    assert key() != before


def test_other_paths_are_other_contents(history: Path, tmp_path: Path) -> None:
    source = read_source(f"a={history}#main")
    keys = [
        list_source(source, patterns).revisions.table["key"][0].as_py() for patterns in ((), ("clients/*",), ("meta*",))
    ]
    assert len(set(keys)) == 3


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
        list_source(read_source(source.format(**places)), ())
    assert str(caught.value).startswith(expected.format(**places).partition("; did you mean")[0])


@pytest.mark.parametrize("tag", ["3.9.0-rc3", "4.0.0-RC1", "1.0-alpha", "v2.0.0-beta.2", "2.0.0rc1", "0.8.0-beta1"])
def test_candidates(tag: str) -> None:
    assert is_candidate(tag)


@pytest.mark.parametrize("tag", ["3.9.0", "v4.1.0", "confluent-8.0.0", "march-1.0", "alphabet-2.0", "7.0.0-ccs"])
def test_releases(tag: str) -> None:
    assert not is_candidate(tag)
