"""Definitions that were made to be slow: each comes to an end in bounded memory, where growing squares would not.

`make bench-hostile` measures how long they take and how they grow.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.hostile.inputs import INPUTS, Hostile

from tools import environment

MOST_SECONDS = 120
"""Of the processor: no measure of speed, only the end of what would not end by itself."""

MOST_BYTES = 1 << 30


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))


@pytest.mark.parametrize("one", INPUTS, ids=lambda one: one.name.replace(" ", "-"))
def test_comes_to_an_end(one: Hostile, tmp_path: Path) -> None:
    words = one.write(tmp_path, one.size)
    done = subprocess.run(
        [sys.executable, "-m", "kiplint", *words],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        preexec_fn=_limit,
        check=False,
    )
    assert done.returncode in (0, 1), done.stderr or f"ended by signal {-done.returncode}"
    assert done.stderr == b"" or re.fullmatch(rb".* (compared|checked), no (changes|findings)\n", done.stderr)
