"""The version: written once, the same wherever the source is built from."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import packages
from conftest import ROOT
from kiplint import __version__
from sources.support import git
from tools import environment, kiplint

HEADING = re.compile(r"^## \[?(\d+\.\d+\.\d+)", re.MULTILINE)


def version(where: Path) -> str:
    """The version that a build of this directory would have."""
    command = [sys.executable, "-m", "hatchling", "metadata", "version"]
    env = {name: value for name, value in environment().items() if name != "PYTHONPATH"}
    done = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_command_shows_it(tmp_path: Path) -> None:
    assert kiplint("--version", cwd=tmp_path) == (0, f"kiplint {__version__}\n", "")


def test_the_changelog_has_a_section_for_it() -> None:
    assert HEADING.findall((ROOT / "CHANGELOG.md").read_text("utf-8"))[0] == __version__


def test_neither_git_nor_a_tag_changes_it(tmp_path: Path) -> None:
    """A checkout, a tagged one, and an archive without a repository, as `pip install` of an address gets."""
    clone = packages.checkout(tmp_path / "clone")
    assert version(clone) == __version__
    git(clone, "tag", "v9.8.7")
    assert version(clone) == __version__
    git(clone, "archive", "--prefix=there/", "--output", str(tmp_path / "archive.tar"), "HEAD")
    shutil.unpack_archive(tmp_path / "archive.tar", tmp_path, filter="data")
    assert version(tmp_path / "there") == __version__


def test_a_source_distribution_has_it(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", tmp_path / "made"],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    shutil.unpack_archive(tmp_path / "made" / f"kiplint-{__version__}.tar.gz", tmp_path, filter="data")
    assert version(tmp_path / f"kiplint-{__version__}") == __version__
