"""Real installations in tests: they need a package index."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from conftest import ROOT
from sources.support import git

PINS = ROOT / "constraints.txt"


def environment(**others: str) -> dict[str, str]:
    """The environment of an installation: exact versions, for what it builds with too, and nothing about this Python."""
    pins = {"PIP_CONSTRAINT": str(PINS), "PIP_BUILD_CONSTRAINT": str(PINS), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "GIT_", "VIRTUAL_ENV"))}
    return {**env, **pins, **others}


def need_index() -> None:
    """Skip the test where no package index can be reached."""
    if reason := _missing():
        pytest.skip(f"needs a package index to install from: {reason}")


def checkout(where: Path) -> Path:
    """A repository with the checkout as a commit of all of it would be now."""
    git(ROOT.parent, "init", "-q", "-b", "main", str(where))
    for name in git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0"):
        if name and os.path.lexists(ROOT / name):
            (where / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, where / name, follow_symlinks=False)
    git(where, "add", "-A", "-f")
    git(where, "commit", "-q", "-m", "as it is")
    return where


@cache
def _missing() -> str:
    """Why the build backend cannot be found on an index, in whatever version; empty when it can."""
    command = ["install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps", "--retries=0", "hatchling"]
    env = {name: value for name, value in environment().items() if not name.endswith("_CONSTRAINT")}
    process = subprocess.run(
        [sys.executable, "-m", "pip", *command], env=env, capture_output=True, text=True, check=False
    )
    return "" if process.returncode == 0 else (process.stderr.strip().splitlines() or ["pip fails"])[-1]
