"""Versions that a release has are released; versions that only the base has may still change."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

import kiplint
from kiplint.compat.released import find_releases
from kiplint.fixes.sets import LIKELY, breaks_between, tree_of
from tools import complaint, definition, field
from tools import kiplint as run


def write(folder: Path, valid: str, *fields: dict[str, object], **others: object) -> None:
    """A set of one RPC."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in ("Request", "Response"):
        same = {"name": f"X{kind}", "type": kind.lower(), "apiKey": 40, "validVersions": valid, **others}
        (folder / f"X{kind}.json").write_bytes(definition(*fields, flexibleVersions="0+", **same))


@pytest.fixture
def sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A release with versions 0-1; trunk with 0-2; and a head that changes version 2, or version 1."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "release", "0-1", field("A"))
    write(tmp_path / "trunk", "0-2", field("A"), field("B", "int32", "2+"))
    write(tmp_path / "new", "0-2", field("A"), field("B", "int64", "2+"))
    write(tmp_path / "old", "0-2", field("A", "int64"), field("B", "int32", "2+"))
    return tmp_path


def test_without_releases_the_base_is_released(sets: Path) -> None:
    result = kiplint.diff("trunk", "new")
    assert result.status == "findings"
    assert {(change.breaks, change.versions) for change in result.changes} == {("wire", "2")}


def test_a_version_that_no_release_has_may_change(sets: Path) -> None:
    result = kiplint.diff("trunk", "new", released=["release"])
    assert (result.status, {change.breaks for change in result.changes}) == ("ok", {"none"})
    assert {(change.rule, change.versions) for change in result.changes} == {("compat/unstable-changed", "2")}
    assert result.notes == ("released: the versions in 1 release (release)",)


def test_a_version_that_a_release_has_may_not_change(sets: Path) -> None:
    result = kiplint.diff("trunk", "old", released=["release"])
    assert result.status == "findings"
    assert {(change.breaks, change.versions) for change in result.changes if change.breaks == "wire"} == {
        ("wire", "0-1")
    }


def test_a_version_that_becomes_what_a_release_has_breaks_nothing(sets: Path) -> None:
    result = kiplint.diff("old", "trunk", released=["release"])
    assert result.status == "ok"
    assert {change.message.partition(": ")[2] for change in result.changes} == {
        "versions 0-1 are written as in a release again",
        "version 2, not released yet, is written in other bytes",
    }
    write(sets / "other", "0-1", field("A", "int64"))
    assert kiplint.diff("old", "trunk", released=["release", "other"]).status == "findings"


def test_a_version_that_releases_have_differently_breaks_the_other_release(sets: Path) -> None:
    """Whichever release is read first, and although one of them has the new bytes."""
    for releases in (["release", "old"], ["old", "release"]):
        result = kiplint.diff("old", "trunk", released=releases)
        assert {(change.rule, change.breaks, change.versions) for change in result.changes} == {
            ("compat/layout-changed", "wire", "0-2")
        }


def test_a_record_is_released_under_its_name_whatever_its_type_was(tmp_path: Path) -> None:
    sets = {
        "release": ("data", "uint16"),
        "trunk": ("coordinator-value", "uint16"),
        "new": ("coordinator-value", "int32"),
    }
    for name, (kind, epoch) in sets.items():
        (tmp_path / name).mkdir()
        key = 1 if kind != "data" else None
        value = definition(field("Epoch", epoch), name="XValue", type=kind, apiKey=key, validVersions="0")
        (tmp_path / name / "XValue.json").write_bytes(value)
    (release, trunk, new) = (tmp_path / name for name in sets)
    result = kiplint.diff(trunk, new, released=[str(release)])
    assert {(change.rule, change.breaks) for change in result.changes} == {("compat/layout-changed", "storage")}


def test_the_configuration_names_the_releases(sets: Path) -> None:
    (sets / "kiplint.toml").write_text('released = ["release"]\n')
    assert run("diff", "trunk", "new", cwd=sets).code == 0
    assert run("diff", "trunk", "new", "--isolated", cwd=sets).code == 1
    document = json.loads(run("diff", "trunk", "new", "--output-format", "json", cwd=sets).out)
    assert {change["breaks"] for change in document["changes"]} == {"none"}


def test_a_glob_names_the_tags_with_a_version(sets: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *words], cwd=sets, check=True)

    git("init", "-q", ".")
    git("add", "release")
    git("commit", "-qm", "release")
    git("tag", "1.0.0")
    git("tag", "latest")
    assert run("diff", "trunk", "new", "--released", "[0-9]*", cwd=sets).code == 0
    assert find_releases(["[0-9]*"]).names == ("1.0.0",)
    assert find_releases(["1.0.0"]).names == ("1.0.0",)
    assert complaint(lambda: find_releases(["v*"])) == "v*: no tag with a version number matches"
    assert complaint(lambda: find_releases(["none"])) == (
        "none: neither a schema set, nor a revision, nor a glob of tags"
    )


def test_an_unstable_version_of_a_release_is_not_released(sets: Path) -> None:
    write(sets / "early", "0-2", field("A"), field("B", "int32", "2+"))
    request = sets / "early" / "XRequest.json"
    request.write_text(request.read_text().replace('"validVersions"', '"latestVersionUnstable": true, "validVersions"'))
    result = kiplint.diff("trunk", "new", released=["early"])
    assert {(change.message_name, change.breaks) for change in result.changes} == {
        ("XRequest", "none"),
        ("XResponse", "none"),
    }


def test_a_base_that_is_not_a_release_is_less_exact_than_the_release_tags(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for words in (["init", "-q"], ["config", "user.email", "a@b"], ["config", "user.name", "A"]):
        subprocess.run(["git", *words], check=True, cwd=tmp_path)
    write(tmp_path / "set", "0", field("A"))
    subprocess.run("git add -A && git commit -qm one && git branch trunk", shell=True, check=True, cwd=tmp_path)
    assert kiplint.diff("trunk:", ".").notes == ()
    for tag in ("4.1.0", "confluent-8.0.0"):
        subprocess.run(["git", "tag", tag], check=True, cwd=tmp_path)
    text = (
        "released: the versions in trunk; the release tags of the repository are more exact: "
        'write released = ["[0-9]*", "confluent-*"] into the configuration'
    )
    assert kiplint.diff("trunk:", ".").notes == kiplint.rollout("trunk:", ".").notes == (text,)
    assert kiplint.diff("4.1.0:", ".").notes == kiplint.diff("set", "set").notes == ()
    assert "released: the versions in 1 release" in kiplint.diff("trunk:", ".", released=["[0-9]*"]).notes[0]


def test_a_fix_may_change_a_version_that_no_release_has(sets: Path) -> None:
    base, new, old = (
        tree_of({path.name: path.read_bytes() for path in (sets / name).iterdir()}) for name in ("trunk", "new", "old")
    )
    releases = find_releases(["release"])
    assert [(worse.path, worse.rule) for worse in breaks_between(base, new)][:1] == [
        ("XRequest.json", "compat/layout-changed")
    ]
    assert list(breaks_between(base, new, LIKELY, releases)) == []
    assert list(breaks_between(base, old, LIKELY, releases)) != []


def test_a_check_since_a_revision_takes_releases(tmp_path: Path) -> None:
    write(tmp_path / "set", "0", field("A"))
    commit = "git init -q && git add -A && git -c user.name=A -c user.email=a@b commit -qm one && git tag 4.1.0"
    subprocess.run(commit, shell=True, check=True, cwd=tmp_path)
    assert (
        "released: the versions in HEAD; the release tags" in run("check", "--changed-since", "HEAD", cwd=tmp_path).err
    )
    named = run("check", "--changed-since", "HEAD", "--released", "4*", cwd=tmp_path)
    assert (named.code, "released: the versions in 1 release (4.1.0)" in named.err) == (0, True)
    assert run("check", "--released", "4*", cwd=tmp_path).code == 2
    unknown = run("check", "--changed-since", "HEAD", "--released", "9*", cwd=tmp_path)
    assert (unknown.code, "--released 9*: no tag with a version number matches" in unknown.err) == (2, True)


def test_a_hook_takes_the_releases_of_the_configuration(sets: Path) -> None:
    """Its fix may change the bytes of a version that only the base has."""
    write(sets / "head", "0-2", field("A"), field("B", "int64", "2+", ignorable=True))
    subprocess.run("git init -q && git add -A", shell=True, check=True, cwd=sets)
    subprocess.run("git -c user.name=A -c user.email=a@b commit -qm one", shell=True, check=True, cwd=sets)
    write(sets / "head", "0-2", field("A"), field("B", "integer", "2+", ignorable=True))
    hook = ("check", "head/XRequest.json", "--as-hook", "--changed-since", "HEAD", "--diff", "--unsafe-fixes")
    assert "B was int64 and is int32 (compat/layout-changed)" in run(*hook, cwd=sets).err
    (sets / "kiplint.toml").write_text('released = ["release"]\n')
    for more in ((), ("--released", "release", "--isolated")):
        assert "would fix 1 finding" in run(*hook, *more, cwd=sets).err
