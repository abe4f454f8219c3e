"""`kiplint rules`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kiplint.cli.process import CLEAN, FINDINGS, run
from kiplint.engine.config import Config
from kiplint.engine.packs import load_pack
from kiplint.engine.rule import Rule
from kiplint.engine.ruleset import load_rules
from kiplint.engine.selection import check_selector, matches
from kiplint.engine.verify import verify

EPILOG = "Examples:  kiplint rules kip-1313   |   kiplint rules --verify my-rules.json5 my-fixtures"


def rules(
    selectors: Annotated[
        list[str] | None, typer.Argument(metavar="[RULES]...", help="Only these: rules, packs or globs.")
    ] = None,
    verify_pack: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--verify",
            metavar="PACK FIXTURES",
            help="Check a pack of your own, and run each rule over FIXTURES/[PACK/]RULE/{good,bad}.",
        ),
    ] = None,
) -> None:
    """List the rules, or verify a pack of your own."""
    if verify_pack:
        run(lambda: _verify(*verify_pack))
    run(lambda: _table(selectors or []))


def _table(selectors: list[str]) -> int:
    known = load_rules(Config(), "")
    for selector in selectors:
        check_selector(selector, known)
    shown = [rule for rule in known if not selectors or any(matches(one, rule.id) for one in selectors)]
    width = max(len(rule.id) for rule in shown)
    for rule in shown:
        print(f"{rule.id:<{width}}  {_level(rule):<8} {rule.title}")
    return CLEAN


def _level(rule: Rule) -> str:
    return "-" if rule.severity == "off" else rule.severity


def _verify(pack: Path, fixtures: Path) -> int:
    loaded = load_pack(str(pack))
    problems = list(verify(loaded, fixtures))
    for problem in problems:
        print(problem)
    if not problems:
        print(f"{len(loaded)} rules hold against their examples")
    return FINDINGS if problems else CLEAN
