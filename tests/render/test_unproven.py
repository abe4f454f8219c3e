"""A diff says of how many breaks it has not looked for a proof to the end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kiplint import diff
from kiplint.codec.values import minimal
from kiplint.commands.diff.run import DiffResult
from kiplint.compat import judge, witness
from tools import definition, field

from .findings import format_report


def diff_sets(folder: Path, *, nullable: bool) -> DiffResult:
    """Two sets: of ten fields the last one may be null, or is of another type."""
    others = [field(f"F{at}") for at in range(9)]
    last = {"old": field("Last", "string"), "new": field("Last", "string", nullableVersions="0+")}
    if not nullable:
        last["new"] = field("Last", "int64")
    for side in ("old", "new"):
        (folder / side).mkdir()
        (folder / side / "XRequest.json").write_bytes(definition(*others, last[side]))
    return diff(folder / "old", folder / "new")


def outcome(result: DiffResult) -> tuple[list[object], object, str]:
    document = json.loads(format_report("json", result))
    lines = [line for line in format_report("text", result).splitlines() if line]
    return [change.get("unproven") for change in document["changes"]], document["summary"].get("unproven"), lines[-1]


def test_a_break_with_its_proof(tmp_path: Path) -> None:
    changes, summary, line = outcome(diff_sets(tmp_path, nullable=True))
    assert (changes, summary) == ([None], None)
    assert line == "new against old: 1 change breaks wire."


SUMMARY = "new against old: 1 change breaks wire; 1 break without proof: too many fields to try."


def test_a_message_with_too_many_fields(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "MOST_PROVEN", 5)
    result = diff_sets(tmp_path, nullable=True)
    assert outcome(result) == ([True], 1, SUMMARY)
    assert SUMMARY in format_report("markdown", result)


def test_an_example_that_was_not_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness, "MOST_FIELDS_TRIED", 10)
    monkeypatch.setattr(witness, "rich", minimal)
    assert outcome(diff_sets(tmp_path, nullable=True)) == ([True], 1, SUMMARY)


def test_a_break_that_any_example_proves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(witness, "MOST_FIELDS_TRIED", 10)
    assert outcome(diff_sets(tmp_path, nullable=False))[1] is None
