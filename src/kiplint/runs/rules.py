"""The rules there are, for those who ask about them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kiplint.compat.changes.examples import messages_of
from kiplint.engine.errors import UsageError
from kiplint.engine.packs import load_pack
from kiplint.engine.rule import Rule
from kiplint.engine.selection import check_selector, matches
from kiplint.engine.verify import verify
from kiplint.readers.reading import readings
from kiplint.runs.configuration import configure


def named(name: str) -> Rule:
    """The rule with that id, or the only one whose id ends so. Raises UsageError where there is none, or several."""
    known = configure().known()
    found = [rule for rule in known if name in (rule.id, rule.spec.id)]
    if len(found) != 1:
        if not found:
            check_selector(name, known)
        several = [rule.id for rule in known if rule in found or matches(name, rule.id)]
        raise UsageError(f"{name} means several rules; explain one of them: {', '.join(several)}")
    return found[0]


def selected(selectors: Sequence[str]) -> list[Rule]:
    """The rules that selectors mean, all of them when there are none. Raises UsageError for one that means none."""
    known = configure().known()
    for selector in selectors:
        check_selector(selector, known)
    return [rule for rule in known if not selectors or any(matches(one, rule.id) for one in selectors)]


def verify_pack(pack: str, fixtures: str) -> tuple[int, list[str]]:
    """How many rules a pack has, and what is wrong with it or with what its rules make of their examples."""
    loaded = load_pack(pack)
    return len(loaded), list(verify(loaded, Path(fixtures), messages_of, readings))
