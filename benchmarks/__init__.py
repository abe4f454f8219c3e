"""Measurements beside peers, and of growth, on whole processes. Timing never fails a build."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

REPOSITORY: Final = Path(__file__).resolve().parent.parent
CORPUS: Final = Path(os.environ.get("KIPLINT_CORPUS") or REPOSITORY.parent / "shared" / "corpus")
"""Where the real schemas and histories are."""


class CommandError(Exception):
    """A command under test cannot be run, or fails."""


def environment() -> dict[str, str]:
    """The environment of every measured process: nothing of a CI's or a shell's own settings."""
    variables = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**variables, "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}


def empty_scratch(*names: str) -> Path:
    """A new, empty directory below `build/benchmarks`, in place of what was there."""
    path = REPOSITORY.joinpath("build", "benchmarks", *names)
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path
