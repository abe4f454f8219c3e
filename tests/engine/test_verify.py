"""Packs run against their examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kiplint.engine.packs import shipped, shipped_rules
from kiplint.engine.rule import Rule, RuleSpec
from kiplint.engine.verify import verify
from tools import definition, field

GOOD, BAD = definition(field("A")), definition(field("A", "uuid"))


def rule(name: str = "no-uuid", severity: Any = "error") -> Rule:
    spec = RuleSpec(id=name, each="field", when="type == 'uuid'", message="{name} is a uuid", why="", severity=severity)
    return Rule(pack="house", spec=spec, severity=spec.severity, source="", params={}, origin="")


def examples(folder: Path, good: bytes | None = GOOD, bad: bytes | None = BAD) -> None:
    for kind, data in (("good", good), ("bad", bad)):
        (folder / kind).mkdir(parents=True)
        if data is not None:
            (folder / kind / "XRequest.json").write_bytes(data)


@pytest.mark.parametrize("place", ["house/no-uuid", "no-uuid"])
@pytest.mark.parametrize("severity", ["error", "off"])
def test_a_rule_that_holds(tmp_path: Path, place: str, severity: str) -> None:
    examples(tmp_path / place)
    assert list(verify([rule(severity=severity)], tmp_path)) == []


@pytest.mark.parametrize(
    ("good", "bad", "problem"),
    [
        (GOOD, GOOD, "house/no-uuid: the bad example passes: it finds nothing"),
        (BAD, BAD, "house/no-uuid: the good example fails: A is a uuid"),
        (None, BAD, "house/no-uuid: no good example in {0}/house/no-uuid/good"),
        (GOOD, None, "house/no-uuid: no bad example in {0}/house/no-uuid/bad"),
    ],
)
def test_a_rule_that_does_not(tmp_path: Path, good: bytes | None, bad: bytes | None, problem: str) -> None:
    examples(tmp_path / "house/no-uuid", good, bad)
    assert list(verify([rule()], tmp_path)) == [problem.format(tmp_path)]


def test_a_rule_without_examples(tmp_path: Path) -> None:
    assert list(verify([rule()], tmp_path)) == [f"house/no-uuid: no examples in {tmp_path}/house/no-uuid"]


def test_every_rule_is_looked_at(tmp_path: Path) -> None:
    examples(tmp_path / "one", BAD, GOOD)
    assert len(list(verify([rule("one"), rule("two")], tmp_path))) == 3


def test_shipped_rules_hold_against_theirs() -> None:
    rules = [
        shipped_rule
        for shipped_rule in shipped_rules()
        if shipped_rule.spec.each != "change" and shipped_rule.pack in ("tags", "structs", "kip-1313")
    ]
    assert len(rules) > 20
    assert list(verify(rules, Path(shipped("fixtures")))) == []
