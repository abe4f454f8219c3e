"""What `kiplint rules` prints."""

from __future__ import annotations

from pathlib import Path

from kiplint.cli.checking import CheckOptions, load_config
from kiplint.cli.process import CLEAN, FINDINGS
from kiplint.compat.changes.examples import messages_of
from kiplint.engine.packs import load_pack
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import load_rules
from kiplint.engine.selection import check_selector, matches
from kiplint.engine.verify import verify


def print_table(selectors: list[str]) -> int:
    """List the rules that selectors mean, all of them when there are none."""
    known = load_rules(*load_config(CheckOptions(sets=["."])))
    for selector in selectors:
        check_selector(selector, known)
    shown = [rule for rule in known if not selectors or any(matches(one, rule.id) for one in selectors)]
    width = max((len(rule.id) for rule in shown), default=0)
    for rule in shown:
        print(f"{rule.id:<{width}}  {_level(rule):<8} {rule.title}")
    return CLEAN


def _level(rule: Rule) -> str:
    return "-" if rule.severity == "off" else rule.severity


def verify_pack(pack: Path, fixtures: Path) -> int:
    """Check a pack and run its rules over their examples."""
    loaded = load_pack(str(pack))
    problems = list(verify(loaded, fixtures, messages_of))
    for problem in problems:
        print(problem)
    if not problems:
        print(f"{len(loaded)} rules hold against their examples")
    return FINDINGS if problems else CLEAN
