"""`kiplint rules`."""

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.options import Argument, Group, Option

EPILOG = "Examples:  kiplint rules kip-1313   |   kiplint rules --verify my-rules.json5 my-fixtures"
SECTION = "Reference"


class Options(Group, frozen=True):
    """What it takes."""

    selectors: Annotated[
        tuple[str, ...], Argument("Only these: rules, packs or globs.", "RULES", complete=completion.rules)
    ] = ()
    verify: Annotated[
        tuple[str, str] | None,
        Option("Check a pack of your own, and run each rule over FIXTURES/[PACK/]RULE/{good,bad}.", "PACK FIXTURES"),
    ] = None


def run(options: Options) -> int:
    """List the rules, or verify a pack of your own."""
    import sys

    from kiplint.cli.process import CLEAN, FINDINGS
    from kiplint.commands.rules.run import selected, verify_pack
    from kiplint.render.table import table, width_of

    if options.verify:
        number, problems = verify_pack(*options.verify)
        for problem in problems or [f"{number} rules hold against their examples"]:
            print(problem)
        return FINDINGS if problems else CLEAN
    shown = selected(options.selectors)
    rows = [[(rule.id, ""), ("-" if rule.severity == "off" else rule.severity, ""), (rule.title, "")] for rule in shown]
    for line in table((), rows, False, width_of(sys.stdout), indent=""):
        print(line)
    return CLEAN
