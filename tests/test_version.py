"""The version: the tag, wherever the source is built from."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import packages
from conftest import ROOT
from sources.support import git
from tools import environment


def version(where: Path) -> str:
    """What a build of this directory would be called."""
    command = [sys.executable, "-m", "hatchling", "metadata", "version"]
    env = {name: value for name, value in environment().items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout as a commit, without a tag."""
    return packages.checkout(tmp_path_factory.mktemp("version") / "original")


@pytest.fixture
def clone(original: Path, tmp_path: Path) -> Path:
    """A clone of it."""
    git(tmp_path, "clone", "-q", str(original), "clone")
    return tmp_path / "clone"


def commit(clone: Path) -> None:
    git(clone, "commit", "-q", "--allow-empty", "-m", "more")


def test_it_is_the_tag(clone: Path) -> None:
    git(clone, "tag", "not-a-release")
    git(clone, "tag", "v1.2.3")
    assert version(clone) == "1.2.3"
    git(clone, "tag", "later-note")
    commit(clone)
    head = git(clone, "rev-parse", "--short", "HEAD")
    assert version(clone) == f"1.2.4.dev1+g{head}"


def test_an_archive_knows_its_tag(clone: Path, tmp_path: Path) -> None:
    """What the action and `pip install` of an address get: no repository."""
    git(clone, "tag", "v1.2.3")
    git(clone, "archive", "--prefix=there/", "--output", str(tmp_path / "archive.tar"), "HEAD")
    shutil.unpack_archive(tmp_path / "archive.tar", tmp_path / "unpacked", filter="data")
    assert version(tmp_path / "unpacked" / "there") == "1.2.3"


def test_a_clone_without_tags_knows_its_commit(clone: Path) -> None:
    head = git(clone, "rev-parse", "--short", "HEAD")
    assert version(clone).startswith("0.0.1.dev")
    assert "unknown" in version(clone)
    assert head in version(clone)


def test_a_source_distribution_keeps_its_version(clone: Path, tmp_path: Path) -> None:
    git(clone, "tag", "v1.2.3")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", tmp_path / "made"],
        cwd=clone, check=True, capture_output=True,
    )  # fmt: skip
    shutil.unpack_archive(tmp_path / "made" / "kiplint-1.2.3.tar.gz", tmp_path / "unpacked", filter="data")
    assert version(tmp_path / "unpacked" / "kiplint-1.2.3") == "1.2.3"


def test_a_copy_out_of_nowhere_says_so(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("_version.py", "__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    assert version(tmp_path) == "0.0.0+unknown"
    program = "import kiplint; print(kiplint.__version__)"
    env = environment() | {"PYTHONPATH": str(tmp_path / "src")}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=env, capture_output=True, text=True, check=True
    )
    assert done.stdout == "0.0.0+unknown\n"
