"""The rules there are, for those who ask about them."""

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
"""What the rules about bytes have in place of a pack: they are no data, and no configuration changes them."""


def rules_of_bytes() -> list[Rule]:
    """What `decode` and `probe` find in bytes, and `encode` in values, as rules to be told of."""
    return [
        Rule(
            pack=OF_BYTES,
            spec=RuleSpec(id=name.removeprefix(f"{OF_BYTES}/"), title=one.title, why=one.why),
            severity=one.severity,
            source=one.source,
            params={},
            origin="",
        )
        for name, one in RULES.items()
    ]


def _all() -> list[Rule]:
    return [*configure().known(), *rules_of_bytes()]


def named(name: str) -> Rule:
    """The rule with that id, or the only one whose id ends so. Raises UsageError where there is none, or several."""
    known = _all()
    found = [rule for rule in known if name in (rule.id, rule.spec.id)]
    if len(found) != 1:
        if not found:
            check_selector(name, known)
        several = [rule.id for rule in known if rule in found or matches(name, rule.id)]
        raise UsageError(f"{name} means several rules; explain one of them: {', '.join(several)}")
    return found[0]


def selected(selectors: Sequence[str]) -> list[Rule]:
    """The rules that selectors mean, all of them when there are none. Raises UsageError for one that means none."""
    known = _all()
    for selector in selectors:
        check_selector(selector, known)
    return [rule for rule in known if not selectors or any(matches(one, rule.id) for one in selectors)]


def verify_pack(pack: str, fixtures: str) -> tuple[int, list[str]]:
    """How many rules a pack has, and what is wrong with it or with what its rules make of their examples."""
    loaded = load_pack(pack)
    return len(loaded), list(verify(loaded, Path(fixtures), messages_of, readings))
