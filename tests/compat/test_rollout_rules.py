"""How a rollout heeds the configuration of the rules that it goes by."""

from __future__ import annotations

from typing import Any

import pytest

from kiplint.compat.rollout import RolloutRow, rollout, rollout_rules
from kiplint.engine.config import Config, RuleTable
from kiplint.engine.packs import shipped_rules
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.model.schemas import SchemaSet
from tools import rpc


def row_of(*, name: str = "X", valid: str = "0-5", response: str = "", **config: Any) -> RolloutRow:
    """The row of an RPC, still without header 3, under a configuration."""
    settings = Config(**config)
    rules = rollout_rules(3, settings, make_ruleset(settings, load_rules(settings, "")).all_rules)
    head = (rpc(name, 19, valid)[0], rpc(name, 19, response or valid)[1])
    (row,) = rollout(SchemaSet(head), None, 3, rules)
    return row


def params(rule: str, **values: Any) -> dict[str, RuleTable]:
    return {rule: RuleTable(params=values)}


def test_the_rules_are_there() -> None:
    every = {rule.id for rule in shipped_rules() if rule.spec.rollout}
    assert {rule.id for rule in rollout_rules(3).rules} == every
    assert {rule.id for rule in rollout_rules(3, Config(ignore=["rpc"])).rules} == {
        name for name in every if not name.startswith("rpc/")
    }


@pytest.mark.parametrize(
    ("config", "status", "rule", "severity"),
    [
        ({}, "missing", "kip-1313/v3-missing", "error"),
        ({"severity": {"kip-1313/v3-missing": "warning"}}, "missing", "kip-1313/v3-missing", "warning"),
        ({"severity": {"kip-1313/v3-missing": "off"}}, "done", "", "error"),
        ({"ignore": ["kip-1313/v3-missing"]}, "done", "", "error"),
        ({"rules": params("kip-1313/v3-missing", exempt=["X"])}, "exempt", "", "error"),
        ({"valid": "0-2", "rules": params("kip-1313/frozen-rpc", frozen={"X": "0-2"})}, "exempt", "", "error"),
        ({"rules": params("kip-1313/frozen-rpc", frozen={"X": "0-4"})}, "wrong", "kip-1313/frozen-rpc", "error"),
    ],
)
def test_configuration_reaches_the_status(config: dict[str, Any], status: str, rule: str, severity: str) -> None:
    row = row_of(**config)
    assert (row.status, row.rule, row.severity) == (status, rule, severity)


def test_halves_that_differ() -> None:
    assert row_of(response="0-4").rule == "rpc/versions-differ"
    assert row_of(response="1-5").message == "XRequest has versions 0-5, XResponse has 1-5; change the two together"
    assert row_of(response="0-4", severity={"rpc/versions-differ": "warning"}).severity == "warning"
    assert row_of(response="0-4", ignore=["rpc/versions-differ"]).status == "missing"


def test_another_rpc_may_be_frozen_in_its_place() -> None:
    frozen = params("kip-1313/frozen-rpc", frozen={"X": "0-2"})
    assert row_of(name="SaslHandshake", valid="0-1").status == "exempt"
    assert row_of(name="SaslHandshake", valid="0-2").rule == "kip-1313/frozen-rpc"
    assert row_of(name="SaslHandshake", valid="0-2", rules=frozen).status == "exempt"  # v3-missing still leaves it out
