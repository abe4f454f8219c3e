"""The rules of kiplint and of the configuration's packs, by id and selector."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kiplint.codec.problems import RULES
from kiplint.compat.judge import messages_of
from kiplint.engine.config import configure
from kiplint.engine.errors import UsageError
from kiplint.engine.packs import load_pack
from kiplint.engine.rule import Rule, RuleSpec
from kiplint.engine.ruleset import check_selector, matches
from kiplint.engine.verify import verify
from kiplint.readers.outcome import readings

OF_BYTES = "codec"
"""The pack of the rules about bytes, which are code: no configuration changes them."""


def rules_of_bytes() -> list[Rule]:
    """The rules of the problems that `decode` and `probe` report in bytes, and `encode` in values."""
    return [
        Rule(
            pack=OF_BYTES,
            spec=RuleSpec(id=name.removeprefix(f"{OF_BYTES}/"), title=problem.title, why=problem.why),
            severity=problem.severity,
            source=problem.source,
            params={},
            origin="",
        )
        for name, problem in RULES.items()
    ]


def _all() -> list[Rule]:
    return [*configure().known(), *rules_of_bytes()]


def named(name: str) -> Rule:
    """The rule with that id, or the only rule whose id ends so. Raises UsageError for none or several."""
    known = _all()
    rules = [rule for rule in known if name in (rule.id, rule.spec.id)]
    if len(rules) != 1:
        if not rules:
            check_selector(name, known)
        several = [rule.id for rule in known if rule in rules or matches(name, rule.id)]
        raise UsageError(f"{name} means several rules; explain one of them: {', '.join(several)}")
    return rules[0]


def selected(selectors: Sequence[str]) -> list[Rule]:
    """The selected rules, all of them without selectors. Raises UsageError for a selector that fits no rule."""
    known = _all()
    for selector in selectors:
        check_selector(selector, known)
    return [rule for rule in known if not selectors or any(matches(selector, rule.id) for selector in selectors)]


def verify_pack(pack: str, fixtures: str) -> tuple[int, list[str]]:
    """How many rules a pack has, and what is wrong with it or with what its rules make of their examples."""
    loaded = load_pack(pack)
    return len(loaded), list(verify(loaded, Path(fixtures), messages_of, readings))
