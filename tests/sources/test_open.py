"""What a SET argument stands for, and sets on disk."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from zipfile import ZipFile

import pytest

from kiplint.sources.disk import STDIN
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import LARGEST_ENTRY
from sources.support import GOOD, OTHER, TREE, error, everything, git, make_repository, paths, sets, write


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_directory(tmp_path: Path) -> None:
    write(tmp_path / "kafka", TREE)
    assert [(schemas.directory, schemas.relative) for schemas in sets("kafka")] == [
        ("kafka/clients/message", "clients/message"),
        ("kafka/metadata", "metadata"),
    ]
    assert paths("kafka/clients") == [
        "kafka/clients/message/ARequest.json",
        "kafka/clients/message/AResponse.json",
    ]


def test_trees_of_all_kinds_hold_the_same(kafka: Path, tmp_path: Path) -> None:
    import shutil

    shutil.make_archive(str(tmp_path / "kafka"), "zip", kafka)
    on_disk = [(schemas.relative, [file.data for file in schemas.files]) for schemas in sets(".")]
    for name in ("HEAD:", str(tmp_path / "kafka.zip")):
        assert [(schemas.relative, [file.data for file in schemas.files]) for schemas in sets(name)] == on_disk


def test_files_with_their_siblings(tmp_path: Path) -> None:
    write(tmp_path, {"a/A.json": GOOD, "a/B.json": GOOD, "a/o.json": OTHER, "b/C.json": GOOD})
    first, second = sets("a/B.json", "b/C.json")
    assert [(file.path, file.is_reported) for file in first.files] == [("a/A.json", False), ("a/B.json", True)]
    assert (first.single_file, second.single_file) == (False, True)


def test_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is a file of the working directory."""
    write(tmp_path, {"A.json": OTHER, "B.json": GOOD})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(GOOD)))
    (open_set,) = open_sets([STDIN], everything)
    assert [(file.path, file.data, file.is_reported) for file in open_set.files] == [
        ("<stdin>", GOOD, True),
        ("B.json", GOOD, False),
    ]


def test_errors(tmp_path: Path) -> None:
    write(tmp_path, {"empty/o.json": OTHER, "o.json": OTHER})
    (tmp_path / "dangling.json").symlink_to("nowhere")
    (tmp_path / "link.json").symlink_to("o.json")
    assert error("empty") == "nothing to check: no message definition in empty"
    assert error("zzz") == "no such file or directory: zzz"
    assert error("o.json") == "o.json is JSON, but not a message definition (it has no validVersions)"
    assert error("dangling.json") == "cannot read dangling.json: No such file or directory"
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


@pytest.mark.parametrize("variable", ["GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"])
def test_variables_of_a_hook_do_not_count(kafka: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    write(kafka, {".gitignore": b"build/\n", "build/A.json": GOOD})
    monkeypatch.setenv(variable, str(kafka / "nowhere"))
    assert len(paths(".")) == 3


@pytest.mark.parametrize("reason", ["no git", "another owner"])
def test_a_checkout_that_git_does_not_read_is_walked(kafka: Path, monkeypatch: pytest.MonkeyPatch, reason: str) -> None:
    write(kafka, {".gitignore": b"build/\n", "build/A.json": GOOD})
    if reason == "no git":
        monkeypatch.setenv("PATH", str(kafka / "clients"))
    else:
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)  # that of the tests trusts everybody
        monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    assert "build/A.json" in paths(".")


@pytest.mark.usefixtures("elsewhere")
def test_comments_do_not_hide_a_definition(tmp_path: Path) -> None:
    """However long, and wherever the file is: in a directory, an archive, or a revision."""
    long = b"// x\n" * 300_000 + GOOD
    files = {"schemas/A.json": long, "schemas/B.json": GOOD, "schemas/other.json": b"[1]\n" * 400_000}
    write(tmp_path / "tree", files)
    with ZipFile(tmp_path / "x.zip", "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    make_repository(tmp_path / "repository", files)
    places = [str(tmp_path / name) for name in ("tree/schemas", "x.zip")]
    for name, repository in [*((place, None) for place in places), ("HEAD:", str(tmp_path / "repository"))]:
        (result,) = sets(name, repository=repository)
        assert [os.path.basename(file.path) for file in result.files] == ["A.json", "B.json"]
        assert all(len(file.data) < LARGEST_ENTRY + 100 for file in result.files)
