"""`kiplint rules`."""

from typing import Annotated

from kiplint.cli import completing
from kiplint.cli.options import Argument, Group, Option

EPILOG = "Examples:  kiplint rules kip-1313   |   kiplint rules --verify my-rules.json5 my-fixtures"


class Options(Group, frozen=True):
    """What it takes."""

    selectors: Annotated[
        tuple[str, ...], Argument("Only these: rules, packs or globs.", "RULES", complete=completing.rules)
    ] = ()
    verify: Annotated[
        tuple[str, str] | None,
        Option("Check a pack of your own, and run each rule over FIXTURES/[PACK/]RULE/{good,bad}.", "PACK FIXTURES"),
    ] = None


def run(options: Options) -> int:
    """List the rules, or verify a pack of your own."""
    from kiplint.cli.process import CLEAN, FINDINGS
    from kiplint.runs.rules import selected, verify_pack

    if options.verify:
        number, problems = verify_pack(*options.verify)
        for problem in problems or [f"{number} rules hold against their examples"]:
            print(problem)
        return FINDINGS if problems else CLEAN
    shown = selected(options.selectors)
    width = max((len(rule.id) for rule in shown), default=0)
    for rule in shown:
        print(f"{rule.id:<{width}}  {'-' if rule.severity == 'off' else rule.severity:<8} {rule.title}")
    return CLEAN
