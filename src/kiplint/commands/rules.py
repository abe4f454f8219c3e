"""`kiplint rules`: the rules of kiplint and of the configuration's packs, by id and selector."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from kiplint.cli.process import CLEAN
from kiplint.commands.review.result import CONFIGURATION_CHANGED
from kiplint.engine.config import configure
from kiplint.engine.errors import UsageError
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import check_selector, matches
from kiplint.render.table import table, width_of

EPILOG = """\b
Example:
  kiplint rules kip-1313"""


def command(
    selectors: Annotated[
        list[str] | None,
        typer.Argument(metavar="RULES", help="Only these: rules, packs or globs."),
    ] = None,
) -> int:
    """List the rules."""
    rows = [
        [(rule.id, ""), ("-" if rule.severity == "off" else rule.severity, ""), (rule.title, "")]
        for rule in rules_of(selectors or ())
    ]
    for line in table((), rows, False, width_of(sys.stdout), indent=""):
        print(line)
    return CLEAN


PACKS_OF_CODE = {
    "review": "What a pull request changes beside its definitions",
}
"""The packs of rules that are code, with their titles. No configuration changes them."""


def rules_of_code() -> list[Rule]:
    """The rules that `review` alone reports."""
    return [CONFIGURATION_CHANGED]


def _all() -> list[Rule]:
    return [*configure().all_rules(), *rules_of_code()]


def rule_of(name: str) -> Rule:
    """The rule with that id, or the only rule whose id ends so. Raises UsageError for none or several."""
    every = _all()
    rules = [rule for rule in every if name in (rule.id, rule.spec.id)]
    if len(rules) != 1:
        if not rules:
            check_selector(name, every)
        several = [rule.id for rule in every if rule in rules or matches(name, rule.id)]
        raise UsageError(f"{name} means several rules; explain one of them: {', '.join(several)}")
    return rules[0]


def rules_of(selectors: Sequence[str]) -> list[Rule]:
    """The selected rules, all of them without selectors. Raises UsageError for a selector that fits no rule."""
    every = _all()
    for selector in selectors:
        check_selector(selector, every)
    return [rule for rule in every if not selectors or any(matches(selector, rule.id) for selector in selectors)]
