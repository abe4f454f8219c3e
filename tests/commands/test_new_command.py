"""The scratch command of CONTRIBUTING.md: its files, and no others, make a command."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from tools import environment

ROOM = "src/kiplint/commands/tally/"
FILE = re.compile(rf'^```python title="({ROOM}\w+\.py)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of the sources with the scratch command in it."""
    files = FILE.findall((ROOT / "CONTRIBUTING.md").read_text("utf-8"))
    assert 2 <= len(files) <= 4
    shutil.copytree(ROOT / "src", tmp_path / "src")  # with what Python has compiled, which takes seconds
    (tmp_path / ROOM).mkdir()
    for path, text in files:
        (tmp_path / path).write_text(text, "utf-8")
    return tmp_path


def kiplint(sources: Path, *words: str) -> str:
    """What the copy prints."""
    command = [sys.executable, "-m", "kiplint", *words]
    surroundings = {**environment(), "PYTHONPATH": str(sources / "src")}
    return subprocess.check_output(command, cwd=ROOT / "fixtures", env=surroundings, text=True)


def test_a_command_is_a_folder(sources: Path) -> None:
    lines = kiplint(sources, "tally", "negotiate/kip-35/client").splitlines()
    assert [line.split() for line in lines] == [["4", "request"], ["4", "response"]]
    document = json.loads(kiplint(sources, "tally", "tags/gap/bad", "--output-format", "json"))
    assert document == {"version": 1, "counts": {"metadata": 1}}
    assert "Count the messages of each type." in kiplint(sources, "--help")
    assert '"title": "kiplint tally"' in kiplint(sources, "schema", "tally")
