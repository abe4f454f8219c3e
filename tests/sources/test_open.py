"""What a SET argument stands for, and sets on disk."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from shutil import make_archive
from types import SimpleNamespace

import pytest

from kiplint.sources.disk import STDIN, show_path
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import MAX_BYTES_READ, OpenedSets
from sources.support import GOOD, OTHER, TREE, error, git, make_repository, paths, sets, write


def test_directory(tmp_path: Path) -> None:
    write(tmp_path / "kafka", TREE)
    first, second = sets("kafka")
    assert (first.directory, first.relative) == ("kafka/clients/message", "clients/message")
    assert (second.directory, second.relative) == ("kafka/metadata", "metadata")
    assert paths("kafka/clients") == [f"kafka/clients/message/{name}.json" for name in ("ARequest", "AResponse")]


def test_trees_of_all_kinds_hold_the_same(kafka: Path, tmp_path: Path) -> None:
    make_archive(str(tmp_path / "kafka"), "zip", kafka)
    names = (".", "HEAD:", str(tmp_path / "kafka.zip"))
    disk, git, archive = (
        [(item.relative, [file.data for file in item.files]) for item in sets(name)] for name in names
    )
    assert disk == git == archive


def test_files_with_their_siblings(tmp_path: Path) -> None:
    write(tmp_path, {"a/A.json": GOOD, "a/B.json": GOOD, "a/o.json": OTHER, "b/C.json": GOOD})
    first, second = sets("a/B.json", "b/C.json")
    assert [(file.path, file.is_reported) for file in first.files] == [("a/A.json", False), ("a/B.json", True)]
    assert (first.single_file, second.single_file) == (False, True)


def test_what_several_names_stand_for_counts_once(tmp_path: Path) -> None:
    write(tmp_path, {"a/A.json": GOOD, "a/B.json": GOOD, "a/b/C.json": GOOD})
    assert paths("a", "a/b", "./a", "a/A.json") == ["a/A.json", "a/B.json", "a/b/C.json"]
    assert paths("a/b", "a/A.json") == ["a/b/C.json", "a/A.json"]


def test_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is a file of the working directory."""
    write(tmp_path, {"A.json": OTHER, "B.json": GOOD})
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(GOOD)))
    (open_set,) = sets(STDIN)
    assert [(file.path, file.is_reported) for file in open_set.files] == [("<stdin>", True), ("B.json", False)]


def test_errors(tmp_path: Path) -> None:
    write(tmp_path, {"empty/o.json": OTHER, "o.json": OTHER})
    (tmp_path / "dangling.json").symlink_to("nowhere")
    (tmp_path / "link.json").symlink_to("o.json")
    assert error("empty") == "nothing to check: no message definition in empty"
    assert error("zzz") == "no such file or directory: zzz"
    note = "o.json is JSON, but not a message definition (it has no validVersions)"
    assert open_sets(["o.json"], lambda path: True) == OpenedSets((), (note,))
    assert error("dangling.json") == "cannot read dangling.json: it is a symbolic link"
    assert error("link.json") == "cannot read link.json: it is a symbolic link"


# Inside of a checkout, outside of one, and beside a lake


LAKE = {
    "lake/blobs/_delta_log/0.json": b'{"commitInfo": {}}\n{"validVersions": 1}\n',
    "lake/KIPLINT-LAKE": b"",
}


@pytest.mark.parametrize("ignored", [b"build/\n", b"build/\nlake/\n"])
def test_a_checkout_has_what_git_has_or_would_add(kafka: Path, ignored: bytes) -> None:
    write(kafka, {".gitignore": ignored, "build/A.json": GOOD, "new/B.json": GOOD, **LAKE})
    (kafka / "metadata/TopicRecord.json").unlink()
    messages = ["clients/message/ARequest.json", "clients/message/AResponse.json"]
    assert paths(".") == [*messages, "new/B.json"]
    assert paths("clients") == messages
    assert paths("build") == ["build/A.json"]  # which was named
    assert error("metadata") == "nothing to check: no message definition in metadata"


def test_repositories_in_a_checkout_are_none_of_its_own(kafka: Path) -> None:
    make_repository(kafka / "vendor/nested", {"C.json": GOOD})
    git(kafka, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./vendor/nested", "module")
    assert [path for path in paths(".") if path.endswith("C.json")] == []
    assert paths("module") == ["module/C.json"]
    assert paths("vendor") == ["vendor/nested/C.json"]  # where git has nothing else


def test_variables_of_a_hook_do_not_count(kafka: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(kafka, {".gitignore": b"build/\n", "build/A.json": GOOD})
    for variable in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.setenv(variable, str(kafka / "nowhere"))
    assert len(paths(".")) == 3


def test_a_checkout_that_git_does_not_read_is_walked(kafka: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(kafka, {".gitignore": b"build/\n", "build/A.json": GOOD, **LAKE})
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)  # that of the tests trusts everybody
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    for reason in (
        "git cannot read the repository .: detected dubious ownership",
        "revisions and bundles are read with",
    ):
        opened = open_sets(["."], lambda path: True)
        assert [len(schemas.files) for schemas in opened.sets] == [1, 2, 1]
        (note,) = opened.notes
        assert note.startswith(f"files that git ignores are read too: {reason}")
        monkeypatch.setenv("PATH", "")


@pytest.mark.usefixtures("elsewhere")
def test_comments_do_not_hide_a_definition_however_long(tmp_path: Path) -> None:
    long = b"// x {\n" * 200_000 + GOOD
    files = {"schemas/A.json": long, "schemas/B.json": GOOD, "schemas/other.json": b"[1]\n" * 400_000}
    make_repository(tmp_path / "tree", files)
    make_archive(str(tmp_path / "x"), "zip", tmp_path / "tree")
    places = [str(tmp_path / "tree"), str(tmp_path / "x.zip"), "HEAD:"]
    for (result,) in (sets(place, repository=str(tmp_path / "tree")) for place in places):
        assert [os.path.basename(file.path) for file in result.files] == ["A.json", "B.json"]
        assert all(len(file.data) <= MAX_BYTES_READ for file in result.files)


def test_a_path_beside_the_working_directory_is_shown_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "set").mkdir()
    monkeypatch.chdir(tmp_path / "set")
    beside = str(tmp_path / "set-2" / "X.json")
    assert [show_path(str(tmp_path / "set" / "X.json")), show_path(beside)] == ["X.json", beside]


def test_links_in_folders_that_are_not_searched_are_not_told(tmp_path: Path) -> None:
    make_repository(tmp_path / "linked", {"set/A.json": GOOD, ".hidden/A.json": GOOD, "node_modules/A.json": GOOD})
    for folder in ("set", ".hidden", "node_modules"):
        (tmp_path / "linked" / folder / "L.json").symlink_to("A.json")
    (result,) = sets("linked")
    assert result.links == ("linked/set/L.json",)
