"""`kiplint rules`: the rules of kiplint and of the configuration's packs, by id and selector."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kiplint.cli.options import complete_rules
from kiplint.cli.process import CLEAN, FINDINGS
from kiplint.compat.base import all_rules
from kiplint.compat.examples import try_examples
from kiplint.engine.errors import UsageError
from kiplint.engine.packs import load_pack
from kiplint.engine.ruleset import full_selector, matches
from kiplint.render.table import table, width_of
from kiplint.text.show import printable
from kiplint.text.words import comma_parts, plural

EPILOG = """\b
Examples:
  kiplint rules kip-1313
  kiplint rules --test my-rules.json5"""


def command(
    selectors: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RULES", autocompletion=complete_rules, help="The rules to list: rules, packs or globs."
        ),
    ] = None,
    pack: Annotated[
        str | None,
        typer.Option("--test", metavar="PACK", help="Test the rules of a pack with the examples next to it."),
    ] = None,
) -> int:
    """List the rules, or test those of a pack.

    With --test, each rule of the pack must report something in bad/ and nothing in good/, which are next to the pack,
    or in a directory with the name of the rule there. The exit code is 1 if a rule fails.
    """
    if pack:
        return _test(pack)
    rules = all_rules()
    selectors = [full_selector(selector, rules) for selector in comma_parts(selectors or ())]
    if selectors:
        rules = [rule for rule in rules if any(matches(selector, rule) for selector in selectors)]
    rows = [[(rule.id, ""), (rule.severity.replace("off", "-"), ""), (rule.title, "")] for rule in rules]
    for line in table((), rows, False, width_of(sys.stdout), indent=""):
        print(line)
    return CLEAN


def _test(pack: str) -> int:
    """Try the rules of a pack with their examples, and print a line for each."""
    results = [(rule, try_examples(rule)) for rule in load_pack(pack)]
    if not any(result for _, result in results):
        raise UsageError(f"there are no examples next to {pack}: create good/ and bad/, or RULE/good/ and RULE/bad/")
    for rule, result in results:
        state = "no examples" if result is None else "pass" if result.passes else "FAIL"
        print(printable(f"{rule.id}: {state}{f': {result.text}' if result else ''}"))
    failed = [rule for rule, result in results if result is None or not result.passes]
    print(f"{plural(len(results), 'rule')} tested, {len(failed)} failed", file=sys.stderr)
    return FINDINGS if failed else CLEAN
