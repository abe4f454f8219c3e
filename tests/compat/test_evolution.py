"""Mutations of real definitions whose effect on the bytes of released versions is known, each as a diff."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import jsonpatch
import pytest

from kiplint.compat.change import ChangeFinding
from kiplint.compat.tree import make_tree
from kiplint.engine.config import Config
from kiplint.text.decode import blank_comments
from tools import changes_between, rules_of
from verdicts import TRUNK

REORDERING = "field-order-changed"
"""The policy of cases whose bytes are equal while two fields of one type trade places: a break for kiplint."""

DROPPED = {"evo-0764", "evo-0765"}
"""No byte of a version that both sides have differs. But records of the dropped versions lie on disk and can be read no
more: a break of storage (version-dropped).
"""

DOWNGRADE = {"evo-0211", "evo-0252", "evo-0293", "evo-0296"}
"""Records of a version that is new cannot be read after a downgrade: a break of storage (new-record-version)."""

WHOLE = {"compat/new-record-version", "compat/api-key-changed", "compat/type-changed", "compat/version-dropped"}


class Case(NamedTuple):
    """A case and what kiplint makes of it."""

    row: dict[str, Any]
    changes: list[ChangeFinding]

    @property
    def breaks(self) -> bool:
        """Whether kiplint calls it a break of the bytes."""
        return any(change.breaks in ("wire", "storage") for change in self.changes)

    @property
    def is_breaking(self) -> bool:
        """Whether it is one."""
        return self.row["truth"] == "breaking" or REORDERING in (self.row.get("policy") or [])

    @property
    def label(self) -> str:
        row, rules = self.row, sorted({change.rule for change in self.changes})
        return f"{row['id']} {row['base']} {row['family']} {row['sub']} is {row['truth']}: {row['truth_why']}; {rules}"


@pytest.fixture(scope="module")
def cases(verdicts: Path, corpus: Path) -> list[Case]:
    rows = map(json.loads, (verdicts / "evolution.jsonl").read_text(encoding="utf-8").splitlines())
    rules = rules_of(Config())
    result = []
    for row in rows:
        if row.get("child_invalid"):
            continue
        document = json.loads(blank_comments((corpus / TRUNK / row["base"]).read_bytes()))
        parent = jsonpatch.apply_patch(document, row.get("parent_patch") or [])
        child = jsonpatch.apply_patch(parent, row["patch"] or [])
        name = Path(row["base"]).name
        old, new = (make_tree("", [("", [(name, json.dumps(document).encode())])]) for document in (parent, child))
        assert not old.unparsable + new.unparsable, row["id"]
        result.append(Case(row, changes_between(rules, old, new)))
    return result


def test_breaks_of_bytes_are_breaks_and_others_are_not(cases: list[Case]) -> None:
    assert len(cases) > 300
    wrong = [case for case in cases if case.breaks != case.is_breaking]
    assert [case.label for case in wrong if case.row["id"] not in DROPPED | DOWNGRADE] == []
    assert {case.row["id"] for case in wrong} == DROPPED | DOWNGRADE


def test_every_break_is_proved_by_two_layouts(cases: list[Case]) -> None:
    """But for those of the message as a whole, which leave the layouts of its versions alone."""
    grave = [change for case in cases for change in case.changes if change.breaks in ("wire", "storage")]
    changes = [change for change in grave if change.rule not in WHOLE]
    assert len(changes) > 100
    assert [change for change in changes if change.old["layout"] == change.new["layout"]] == []


def test_nullability_has_its_own_kind(cases: list[Case]) -> None:
    alone = [case for case in cases if case.row.get("nullability_only") and case.breaks]
    assert alone
    for case in alone:
        rules = {change.rule for change in case.changes if change.breaks in ("wire", "storage")}
        assert rules <= {"compat/nullability-narrowed", "compat/nullability-widened"}, case.label
