"""`kiplint rules`: the rules of kiplint and of the configuration's packs, by id and selector."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kiplint.cli.options import complete_rules
from kiplint.cli.process import CLEAN
from kiplint.compat.base import all_rules
from kiplint.engine.ruleset import check_selector, matches
from kiplint.render.table import table, width_of
from kiplint.text.words import comma_parts

EPILOG = """\b
Example:
  kiplint rules kip-1313"""


def command(
    selectors: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RULES", autocompletion=complete_rules, help="The rules to list: rules, packs or globs."
        ),
    ] = None,
) -> int:
    """List the rules."""
    rules = all_rules()
    selectors = comma_parts(selectors or ())
    for selector in selectors:
        check_selector(selector, rules)
    if selectors:
        rules = [rule for rule in rules if any(matches(selector, rule) for selector in selectors)]
    rows = [[(rule.id, ""), (rule.severity.replace("off", "-"), ""), (rule.title, "")] for rule in rules]
    for line in table((), rows, False, width_of(sys.stdout), indent=""):
        print(line)
    return CLEAN
