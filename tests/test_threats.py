"""The page of threats names tests that are there."""

from __future__ import annotations

import re
from fnmatch import filter as matching
from pathlib import Path

import pytest

ROWS = [
    line.split("|")[1:4]
    for line in (Path(__file__).parent.parent / "docs/guide/threats.md").read_text("utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| what could")
]


def test_there_are_threats() -> None:
    assert len(ROWS) >= 18
    assert all(cell.strip() for row in ROWS for cell in row)


@pytest.mark.parametrize("proof", [row[2] for row in ROWS])
def test_what_shows_it_is_there(repo: Path, proof: str) -> None:
    names = re.findall(r"`([^`]+)`", proof)
    files = [repo / name for name in names if name.startswith("tests/")]
    assert files
    assert all(file.exists() for file in files)
    definitions = re.findall(r"^def (test_\w+)|^    def (test_\w+)", "\n".join(map(_text, files)), re.MULTILINE)
    for name in names:
        if name.startswith("test_") and not name.endswith(".py"):
            assert matching([outer or inner for outer, inner in definitions], name), name


def _text(file: Path) -> str:
    return (
        file.read_text("utf-8") if file.is_file() else "\n".join(path.read_text("utf-8") for path in file.glob("*.py"))
    )
