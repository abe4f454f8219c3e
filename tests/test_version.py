"""The version: written once, the same wherever the source is built from."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from conftest import ROOT
from kiplint import __version__
from tools import environment

HEADING = re.compile(r"^## \[?(\d+\.\d+\.\d+)", re.MULTILINE)


def version(where: Path) -> str:
    """The version that a build of this directory would have."""
    command = [sys.executable, "-m", "hatchling", "metadata", "version"]
    env = {name: value for name, value in environment().items() if name != "PYTHONPATH"}
    process = subprocess.run(command, cwd=where, env=env, capture_output=True, text=True, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout.strip()


def test_the_changelog_has_a_section_for_it() -> None:
    assert HEADING.findall((ROOT / "CHANGELOG.md").read_text("utf-8"))[0] == __version__


def test_a_source_distribution_has_it(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "sdist", "--directory", tmp_path / "made"],
        cwd=ROOT, check=True, capture_output=True,
    )  # fmt: skip
    shutil.unpack_archive(tmp_path / "made" / f"kiplint-{__version__}.tar.gz", tmp_path, filter="data")
    assert version(tmp_path / f"kiplint-{__version__}") == __version__
