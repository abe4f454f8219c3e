"""The version, which is written once, and the wheel, installed without extras into an empty environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from kiplint import __version__

HEADING = re.compile(r"^## \[?(\d+\.\d+\.\d+)", re.MULTILINE)
PINS = str(ROOT / "constraints.txt")


def install_environment() -> dict[str, str]:
    """The environment of an installation: the exact versions, and nothing about this Python."""
    env = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "VIRTUAL_ENV", "PIP_BUILD_CON"))
    }
    return {**env, "PIP_CONSTRAINT": PINS, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}


def run_python(*words: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run this Python with words; a package index is needed only by pip."""
    return subprocess.run(
        [sys.executable, *words], cwd=cwd, env=install_environment(), capture_output=True, text=True, check=False
    )


def test_the_wheel_runs_in_an_empty_environment(tmp_path: Path) -> None:
    index = run_python(
        "-m", "pip", "download", "--quiet", "--no-deps", "--retries=0", "--dest", tmp_path / "index", "typer"
    )
    if index.returncode:
        pytest.skip(f"needs a package index: {index.stderr.strip().splitlines()[-1]}")
    build = run_python(
        "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, "."
    )
    assert build.returncode == 0, build.stderr
    [wheel] = tmp_path.glob("kiplint-*.whl")
    result = run_python("scripts/try_out.py", tmp_path)
    assert (result.returncode, result.stdout) == (0, f"{wheel.name}: {__version__}\n"), result.stderr


def test_the_changelog_has_a_section_for_the_version() -> None:
    assert HEADING.findall((ROOT / "CHANGELOG.md").read_text("utf-8"))[0] == __version__


def test_a_source_distribution_has_the_version(tmp_path: Path) -> None:
    build = run_python("-m", "hatchling", "build", "--target", "sdist", "--directory", tmp_path / "made")
    assert build.returncode == 0, build.stderr
    shutil.unpack_archive(tmp_path / "made" / f"kiplint-{__version__}.tar.gz", tmp_path, filter="data")
    version = run_python("-m", "hatchling", "metadata", "version", cwd=tmp_path / f"kiplint-{__version__}")
    assert version.stdout.strip() == __version__
