"""Versions that a release has are released; versions that only the base has may still change."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

import kiplint
from kiplint.compat.released import Releases, releases_of
from kiplint.engine.config import configure
from tools import complaint, definition, field
from tools import kiplint as run

REMEDY = "if the clone lacks its tags, run `git fetch --tags`"


def find_releases(names: list[str]) -> Releases:
    """The releases of these names."""
    releases = releases_of(configure("."), "HEAD:", names)
    assert releases
    return releases


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


@pytest.mark.parametrize(
    ("old", "new", "releases", "expected"),
    [
        ("trunk", "new", [], {"compat/layout-changed wire 2"}),
        ("trunk", "new", ["release"], {"compat/unstable-changed none 2"}),
        ("trunk", "new", ["early"], {"compat/unstable-changed none 2"}),
        ("trunk", "old", ["release"], {"compat/layout-changed wire 0-1", "compat/unstable-changed none 2"}),
        ("old", "trunk", ["release"], {"compat/unstable-changed none 2"}),
        ("renamed", "release", [], {"compat/field-renamed source 0-1"}),
        ("renamed", "release", ["release"], set()),
        # of sets the first, of those with a version number the one with the highest
        ("old", "trunk", ["release", "old"], {"compat/layout-changed wire 2"}),
        ("old", "trunk", ["old", "release"], {"compat/layout-changed wire 0-2"}),
        ("old", "trunk", ["r-1.0", "r-1.1"], {"compat/layout-changed wire 0", "compat/unstable-changed none 2"}),
    ],
)
def test_what_is_released(sets: Path, old: str, new: str, releases: list[str], expected: set[str]) -> None:
    write(sets / "early", "0-2", field("A"), field("B", "int32", "2+"))
    request = sets / "early" / "XRequest.json"  # whose response is as unstable
    request.write_text(request.read_text().replace('"validVersions"', '"latestVersionUnstable": true, "validVersions"'))
    write(sets / "renamed", "0-1", field("Other"))
    write(sets / "r-1.0", "0-1", field("A"))
    write(sets / "r-1.1", "0", field("A", "int64"))
    result = kiplint.diff(old, new, released=releases)
    assert {f"{change.rule} {change.breaks} {change.versions}" for change in result.changes} == expected
    assert result.status == ("findings" if any(" wire " in change for change in expected) else "ok")


TAGGED: dict[str, Any] = {"tag": 0, "taggedVersions": "0+"}


@pytest.mark.parametrize(
    ("kinds", "rule", "old", "new"),
    [
        (
            [({}, field("T", "int8", default=default, **TAGGED)) for default in ("1", "2", "3")],
            "compat/default-changed", {"default": '"1"'}, {"default": '"3"'},
        ),
        (
            [({}, field("S", "[]P", fields=[field("T", "int8", default=n, **TAGGED)])) for n in ("1", "2", "3")],
            "compat/default-changed", {"default": '"1"'}, {"default": '"3"'},
        ),
        (
            [({"headerVersions": {"0+": header}}, field("A")) for header in ("1", "2", "3")],
            "kip-1313/v3-on-released", {"headerVersions": "1"}, {"headerVersions": "3"},
        ),
        ([({}, field(name)) for name in "ABC"], "compat/field-renamed", {"name": "A"}, {"name": "C"}),
    ],
)  # fmt: skip
def test_a_base_that_is_neither_release_nor_head_is_not_compared_with(
    tmp_path: Path, kinds: list[Any], rule: str, old: dict[str, str], new: dict[str, str]
) -> None:
    """Its header, its names and the defaults of its tagged fields count like its bytes."""
    for name, (properties, item) in zip(("release", "trunk", "head"), kinds, strict=True):
        write(tmp_path / name, "0", item, **properties)
    result = kiplint.diff(tmp_path / "trunk", tmp_path / "head", released=[str(tmp_path / "release")])
    changes = [change for change in result.changes if change.message_name == "XRequest"]
    assert [(change.rule, change.old, change.new) for change in changes] == [(rule, old, new)]


def test_the_api_key_of_a_release_may_be_that_of_another_message(tmp_path: Path) -> None:
    """A version of another message is not released; a message that the base lacks may be one of the release, renamed."""
    write(tmp_path / "release", "0", field("Group"))
    for file in (tmp_path / "release").iterdir():
        file.write_text(file.read_text().replace('"X', '"AlterGroups'))
    write(tmp_path / "base", "0", field("A"), field("B", "string"))
    write(tmp_path / "head", "0", field("A"), field("B", "uuid"))
    released = [str(tmp_path / "release")]
    result = kiplint.diff(tmp_path / "base", tmp_path / "head", released=released)
    assert {(change.rule, change.breaks) for change in result.changes} == {("compat/unstable-changed", "none")}
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "YRequest.json").write_bytes(definition(field("A"), name="YRequest", apiKey=9))
    (tmp_path / "renamed").mkdir()
    for file in (tmp_path / "release").iterdir():
        text = file.read_text().replace('"AlterGroups', '"AlterGroup')
        (tmp_path / "renamed" / file.name.replace("X", "AlterGroup")).write_text(text)
    result = kiplint.diff(tmp_path / "none", tmp_path / "renamed", released=released)
    assert "compat/api-key-reused" not in {change.rule for change in result.changes}


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


GIT = "git -c user.name=t -c user.email=t@t"


def shell(folder: Path, *lines: str) -> None:
    for line in lines:
        subprocess.run(line, shell=True, check=True, cwd=folder, stdout=subprocess.DEVNULL)


def commit_all(folder: Path, *tags: str) -> None:
    shell(folder, "git add -A", f"{GIT} commit -qm one --allow-empty", *(f"git tag {tag}" for tag in tags))


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository without commits, as the working directory."""
    monkeypatch.chdir(tmp_path)
    shell(tmp_path, "git init -qb trunk")
    return tmp_path


def test_a_glob_names_the_tags_with_a_version(sets: Path) -> None:
    shell(sets, "git init -qb trunk")
    (sets / ".gitignore").write_text("/new\n/old\n/trunk\n")
    commit_all(sets, "1.0.0", "latest")
    assert run("diff", "trunk", "new", "--released", "[0-9]*", cwd=sets).code == 0
    assert find_releases(["[0-9]*"]).names == find_releases(["1.0.0"]).names == ("1.0.0",)
    assert complaint(lambda: find_releases(["v*"])) == "--released v*: no tag with a version number matches"
    assert complaint(lambda: find_releases(["none"])) == (
        "--released none: not a schema set, a release, a revision or a glob of tags"
    )


def notes(folder: Path, *words: str) -> str:
    """The line about releases that a command prints, without its beginning."""
    lines = [line for line in run(*words, cwd=folder).err.splitlines() if line.startswith("released: ")]
    assert len(lines) < 2
    return "".join(lines).removeprefix("released: the versions in ")


def test_every_command_takes_the_configuration_else_the_tags_else_the_base(repository: Path) -> None:
    write(repository / "set", "0", field("A"))
    commit_all(repository)
    commit_all(repository)
    commands = (
        ("review", "--base", "HEAD~1", "set"),
        ("check", "--base", "HEAD~1", "set"),
        ("rollout", "HEAD~1:", "."),
    )
    for command in commands:
        assert notes(repository, *command) == f"HEAD~1, because there are no release tags; {REMEDY}"
    shell(repository, "git tag 4.1.0-rc1", "git tag latest")
    assert {notes(repository, *command) for command in commands} == {
        f"HEAD~1, because there are no release tags; {REMEDY}"
    }
    shell(repository, "git tag 4.1.0", "git tag v4.2.0 HEAD~1")
    assert {notes(repository, *command) for command in commands} == {"2 releases (v4.2.0, 4.1.0)"}
    for command in commands:
        if command[0] != "check":
            assert notes(repository, *command, "--released", "4*") == "2 releases (4.1.0, 4.1.0-rc1)"
    (repository / "kiplint.toml").write_text('released = ["v*"]')
    commit_all(repository)
    commit_all(repository)
    assert {notes(repository, *command) for command in commands} == {"1 release (v4.2.0)"}
    assert notes(repository, "diff", "HEAD~1:", ".") == "1 release (v4.2.0)"
    assert notes(repository, "diff", "set", "set") == "1 release (v4.2.0)"
    assert notes(repository, "diff", "set", "set", "--isolated") == ""


def test_a_head_that_is_a_revision_is_compared_with_the_releases_before_it(repository: Path) -> None:
    """Else every break of 2.0.0 would be as in a release, which is 2.0.0 itself."""
    for tag, kind in (("1.0.0", "int32"), ("1.0.1", "int32"), ("2.0.0", "int64"), ("2.1.0", "int64")):
        write(repository / "set", "0", field("A", kind))
        commit_all(repository, tag)
    for old, new, released in (
        ("1.0.0:", "2.0.0:", "2 releases (1.0.1, 1.0.0)"),
        ("1.0.1:", "HEAD~1:", "2 releases (1.0.1, 1.0.0)"),
        ("2.1.0:", "1.0.0:", "1 release (2.1.0)"),
    ):
        result = kiplint.diff(old, new, released=["*.*.*"])
        assert result.notes == (f"released: the versions in {released}",)
        assert {change.rule for change in result.changes} == {"compat/layout-changed"}
    assert kiplint.diff("1.0.0:", ".", released=["2.*"]).status == "ok"


def breaks_of(result: Any) -> set[tuple[str, str, str]]:
    changes = (change for finding in result.findings for change in getattr(finding, "changes", (finding,)))
    return {(change.rule, change.field, change.versions) for change in changes if change.breaks == "wire"}


def test_tags_of_something_else_release_nothing(repository: Path) -> None:
    """The versions of the base are released, as where there are no tags."""
    (repository / "README").write_text("A tool.\n")
    commit_all(repository, "1.0.0")
    write(repository / "set", "0", field("A"))
    commit_all(repository)
    write(repository / "set", "0", field("A", "int64"))
    assert breaks_of(kiplint.review(base="HEAD")) == {("compat/layout-changed", "A", "0")}


def test_diff_compares_with_the_old_set_whatever_the_tags_have(repository: Path) -> None:
    """A fork has a version 1 of its own; the release that comes later is the head itself."""
    for tag, versions, kind in (("1.0.0", "0", "int32"), ("vendor-1.0", "0-1", "int64"), ("2.0.0", "0-1", "string")):
        write(repository / "set", versions, field("A"), field("B", kind, "1+"))
        commit_all(repository, tag)
    for new in ("2.0.0:", "."):
        result = kiplint.diff("vendor-1.0:", new)
        assert (result.status, result.notes) == ("findings", ())
        assert {(change.breaks, change.versions) for change in result.changes} == {("wire", "1")}


def test_a_break_of_a_release_that_the_base_has_is_older(repository: Path) -> None:
    """A release branch and trunk gave version 1 another field each; trunk has both after the merge."""
    folder = repository / "set"
    one, other = field("Epoch", "int16", "1+", ignorable=True), field("Zone", "string", "1+", ignorable=True)
    write(folder, "0", field("A"))
    commit_all(repository)
    shell(repository, "git checkout -qb release")
    write(folder, "0-1", field("A"), one)
    commit_all(repository, "9.0.0")
    shell(repository, "git checkout -q trunk")
    write(folder, "0-1", field("A"), other)
    commit_all(repository)
    write(folder, "0-1", field("A"), other, one)
    assert breaks_of(kiplint.diff("9.0.0:", ".")) == {("compat/layout-changed", "Zone", "1")}
    assert breaks_of(kiplint.review(base="trunk")) == set()
    write(folder, "0-1", field("A"), other, field("Epoch", "int32", "1+", ignorable=True))
    assert breaks_of(kiplint.review(base="trunk")) == {("compat/layout-changed", "Epoch", "1")}
    write(folder, "0-1", field("A"), one)
    assert kiplint.diff("trunk:", ".", released=["9.0.0"]).changes == ()
    assert {change.breaks for change in kiplint.diff("trunk:", ".").changes} == {"wire"}


def test_a_version_that_a_release_has_and_the_base_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is new on trunk, but not free; nor is a message that only the release has."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "release", "0-1", field("A"), field("B", "int64", "1+"))
    write(tmp_path / "trunk", "0", field("A"), field("B", "string", "1+"))  # which is not valid yet
    write(tmp_path / "head", "0-1", field("A"), field("B", "string", "1+"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other/YRequest.json").write_bytes(definition(field("A"), name="YRequest", apiKey=41))
    for old in ("trunk", "other"):
        result = kiplint.diff(old, "head", released=["release"])
        wire = [(change.message_name, change.versions) for change in result.changes if change.breaks == "wire"]
        assert wire == [("XRequest", "1"), ("XResponse", "1")]


@pytest.mark.parametrize(
    ("release", "head", "expected"),
    [
        ("0-3", "0-1", "remove B"),
        ("2-3", "0-1", "remove B"),
        ("0-2", "0-2", 'give B "versions": "3+" and "ignorable": true, then run `kiplint migrate bump X`'),
        ("0-1", "0-2", 'give B "versions": "2+" and "ignorable": true'),
    ],
)
def test_the_help_of_a_backport_names_no_version_of_a_release(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, release: str, head: str, expected: str
) -> None:
    """The base, an older branch, has versions 0-1, which are as the release has them."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "release", release, field("A"))
    write(tmp_path / "base", "0-1", field("A"))
    write(tmp_path / "head", head, field("A"), field("B"))
    result = kiplint.diff("base", "head", released=["release", "base"])
    requests = [change for change in result.changes if change.message_type == "request"]
    assert [change.help for change in requests if change.versions == "0-1"] == [expected]


def test_a_version_in_no_release_is_not_judged_as_released(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its tags, nor its defaults, nor its fields; the listeners of a request that no release has neither."""
    monkeypatch.chdir(tmp_path)
    tag = {"tag": 0, "taggedVersions": "1+", "ignorable": True}
    write(tmp_path / "release", "0", field("A"))
    write(
        tmp_path / "trunk", "0-1", field("A"), field("B", "int64", "1+", default="1"), field("T", "int8", "1+", **tag)
    )
    write(tmp_path / "head", "0-1", field("A"), field("B", "int64", "1+", default="2"), field("U", "uuid", "1+", **tag))
    result = kiplint.diff("trunk", "head", released=["release"])
    assert {(change.rule, change.severity, change.breaks) for change in result.changes} == {
        ("compat/unstable-changed", "info", "none"),
        ("compat/default-changed", "info", "none"),
        ("compat/new-field", "info", "none"),
    }
    for name, listeners in (("two", ["broker", "controller"]), ("one", ["broker"])):
        write(tmp_path / name, "0", field("A"), listeners=listeners)
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "YRequest.json").write_bytes(definition(field("A"), name="YRequest", apiKey=9))
    result = kiplint.diff("two", "one", released=["none"])
    assert {(change.rule, change.severity) for change in result.changes} == {("compat/listener-removed", "info")}


def test_a_check_takes_the_releases_of_the_configuration(sets: Path) -> None:
    """Its fix may change the bytes of a version that only the base has."""
    write(sets / "release", "0-1", field("A", "string"))
    write(sets / "head", "0-2", field("A", "string"))
    shell(sets, "git init -q")
    commit_all(sets)
    write(sets / "head", "0-2", field("A", "string", nullableVersion="2+"))
    fix = ("check", "head/XRequest.json", "--base", "HEAD", "--diff", "--unsafe-fixes")
    reason = "XRequest 2, A: A can now be null, but released peers do not expect null (compat/nullability-widened)"
    assert reason in run(*fix, cwd=sets).err
    (sets / "kiplint.toml").write_text('released = ["release"]\n')
    assert "would fix 1 finding" in run(*fix, cwd=sets).err
