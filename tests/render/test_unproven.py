"""A diff says of how many breaks it has not looked for a proof to the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kiplint import diff
from kiplint.compat import classify
from tools import definition, field

from .findings import format_report


def outcome(folder: Path) -> tuple[list[object], object, str]:
    """What JSON and the last line of text say of two sets: of ten fields the last one may be null."""
    others = [field(f"F{at}") for at in range(9)]
    for side, nullable in (("old", "none"), ("new", "0+")):
        (folder / side).mkdir()
        last = field("Last", "string", nullableVersions=nullable)
        (folder / side / "XRequest.json").write_bytes(definition(*others, last))
    result = diff(folder / "old", folder / "new")
    document = json.loads(format_report("json", result))
    lines = format_report("text", result).splitlines()
    return [change.get("unproven") for change in document["changes"]], document["summary"].get("unproven"), lines[-1]


def test_a_break_with_its_proof(tmp_path: Path) -> None:
    assert outcome(tmp_path) == ([None], None, "new against old: 1 change breaks wire.")


def test_a_message_with_too_many_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(classify, "MOST_PROVEN", 5)
    summary = "new against old: 1 change breaks wire; 1 break without proof: too many fields to try."
    assert outcome(tmp_path) == ([True], 1, summary)
