"""Which rules run, how bad each is, and with which params."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from kiplint.engine.config import Config, RuleTable, make_ruleset
from kiplint.engine.rule import Rule, RuleSpec
from tools import check, complaint, definition


def rule(name: str, severity: Any = "error", on: Any = "warning", **params: Any) -> Rule:
    pack, _, word = name.partition("/")
    spec = RuleSpec(id=word, each="field", message="", why="", expect="name", severity=severity, on=on)
    return Rule(pack=pack, spec=spec, severity=severity, source="", params=params, origin="")


RULES = [
    rule("tags/gap"),
    rule("tags/order", "info"),
    rule("style/about", "warning"),
    rule("style/space", "off"),
    rule("style/case", "off", "error"),
    rule("rpc/frozen", words=["a"], least=3, on_=True, table={"a": "b"}, text="x"),
]
DEFAULT = ["tags/gap", "tags/order", "style/about", "rpc/frozen"]


def severities(
    select: list[str], ignore: list[str] | None = None, severity: Mapping[str, Any] | None = None
) -> dict[str, str]:
    """The rules that run, with their severities."""
    config = Config(select=select, ignore=ignore or [], severity=dict(severity or {}))
    return {rule.id: rule.severity for rule in make_ruleset(config, RULES).rules}


def with_params(**values: Any) -> dict[str, Any]:
    config = Config(rules={"rpc/frozen": RuleTable(values)})
    return make_ruleset(config, RULES).rules[-1].params


@pytest.mark.parametrize(
    ("select", "ignore", "expected"),
    [
        (["default"], [], DEFAULT),
        (["default"], ["tags"], ["style/about", "rpc/frozen"]),
        (["default"], ["tags/gap", "rpc/*"], ["tags/order", "style/about"]),
        (["tags/gap"], [], ["tags/gap"]),
        (["*/g*"], [], ["tags/gap"]),
        (["t*"], [], ["tags/gap", "tags/order"]),
        (["style/*"], [], ["style/about"]),
        (["style/space"], [], ["style/space"]),
        (["default", "style/space"], [], ["tags/gap", "tags/order", "style/about", "style/space", "rpc/frozen"]),
        (["all"], [], [rule.id for rule in RULES]),
        (["all"], ["style/space", "tags"], ["style/about", "style/case", "rpc/frozen"]),
        ([], [], []),
    ],
)
def test_selectors(select: list[str], ignore: list[str], expected: list[str]) -> None:
    assert list(severities(select, ignore)) == expected


def test_a_rule_that_is_off_has_a_severity_when_it_is_selected() -> None:
    assert severities(["style/space", "style/case"]) == {"style/space": "warning", "style/case": "error"}
    assert severities(["all"])["style/case"] == "error"


@pytest.mark.parametrize(
    ("severity", "expected"),
    [
        ({"tags/gap": "info"}, {"tags/gap": "info", "tags/order": "info"}),
        ({"tags": "warning"}, {"tags/gap": "warning", "tags/order": "warning"}),
        ({"tags/*": "error", "tags/order": "warning"}, {"tags/gap": "error", "tags/order": "warning"}),
        ({"tags/order": "warning", "tags": "error"}, {"tags/gap": "error", "tags/order": "error"}),
        ({"all": "info"}, {"tags/gap": "info", "tags/order": "info"}),
        ({"tags/gap": "off"}, {"tags/order": "info"}),
    ],
)
def test_severities(severity: dict[str, str], expected: dict[str, str]) -> None:
    assert severities(["tags"], severity=severity) == expected


def test_the_severity_of_a_pack_switches_no_rule_on() -> None:
    assert severities(["style"], severity={"style": "error"}) == {"style/about": "error"}
    assert severities(["style"], severity={"style/space": "error"}) == {
        "style/about": "warning",
        "style/space": "error",
    }


@pytest.mark.parametrize("place", ["select", "ignore", "severity"])
@pytest.mark.parametrize(
    ("selector", "problem"),
    [
        ("tags/gpa", "no rule matches tags/gpa; did you mean tags/gap?"),
        ("tagz", "no rule matches tagz; did you mean tags?"),
        ("gpa", "no rule matches gpa; did you mean tags/gap?"),
        ("Tags", "no rule matches Tags; did you mean tags?"),
        ("tags/", "no rule matches tags/; did you mean tags?"),
        ("zzzzz", "no rule matches zzzzz; see `kiplint rules`"),
        ("zzz*", "no rule matches zzz*; see `kiplint rules`"),
        ("", "no rule matches ; see `kiplint rules`"),
    ],
)
def test_selectors_that_mean_nothing(place: str, selector: str, problem: str) -> None:
    every: dict[str, dict[str, Any]] = {
        "select": {"select": [selector]},
        "ignore": {"select": ["default"], "ignore": [selector]},
        "severity": {"select": ["default"], "severity": {selector: "error"}},
    }
    assert complaint(lambda: severities(**every[place])) == problem


def test_a_severity_that_does_not_exist() -> None:
    error = complaint(lambda: severities(["all"], severity={"tags": "erorr"}))
    assert error == "erorr is not a severity; did you mean error?"


def test_params_are_laid_over_those_of_the_pack() -> None:
    assert with_params(least=4, words=[]) == {"words": [], "least": 4, "on_": True, "table": {"a": "b"}, "text": "x"}
    assert RULES[-1].params["least"] == 3


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"least": "4"}, "the parameter least of rpc/frozen must be of type int, not str"),
        ({"on_": 1}, "the parameter on_ of rpc/frozen must be of type bool, not int"),
        ({"words": "a"}, "the parameter words of rpc/frozen must be of type list, not str"),
        ({"table": ["a"]}, "the parameter table of rpc/frozen must be of type dict, not list"),
        ({"leest": 1}, "rpc/frozen has no parameter leest; did you mean least?"),
        ({"zzz": 1}, "rpc/frozen has no parameter zzz; it has words, least, on_, table, text"),
    ],
)
def test_params_that_do_not_fit(values: dict[str, Any], problem: str) -> None:
    assert complaint(lambda: with_params(**values)) == problem


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("rpc/frzen", "no rule matches rpc/frzen; did you mean rpc/frozen?"),
        ("rpc", "params must be set for one rule, not for rpc"),
        ("rpc/*", "params must be set for one rule, not for rpc/*"),
        ("tags/gap", "tags/gap has no parameter x; it has none"),
    ],
)
def test_params_of_no_rule(name: str, problem: str) -> None:
    config = Config(rules={name: RuleTable({"x": 1})})
    assert complaint(lambda: make_ruleset(config, RULES)) == problem


def test_params_that_a_rule_cannot_take() -> None:
    config = Config(rules={"kip-1313/frozen-rpc": RuleTable({"frozen": {"X": "0-x"}})})
    error = complaint(lambda: check(definition(), config))
    assert error.endswith(
        """kip-1313/frozen-rpc fails: is not "N", "N-M", "N+" or "none"; correct its params in the configuration: """
        "{'frozen': {'X': '0-x'}, 'headers': {'request': 1, 'response': 0}}"
    )
