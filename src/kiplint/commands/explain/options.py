"""`kiplint explain`."""

from typing import Annotated

from kiplint.cli import completion
from kiplint.cli.options import Argument, Group

EPILOG = "Example:  kiplint explain tags/gap"
SECTION = "Reference"


class Options(Group, frozen=True):
    """What it takes."""

    rule: Annotated[str, Argument("The rule's id, such as tags/gap.", "RULE", complete=completion.rule_ids)]


def run(options: Options) -> int:
    """Explain a rule: what it requires, why, its source, examples, and how to ignore it."""
    import sys

    from kiplint.cli.process import CLEAN, use_color
    from kiplint.commands.explain.text import sections
    from kiplint.commands.rules.run import named

    print("\n\n".join(sections(named(options.rule), use_color("auto", sys.stdout))))
    return CLEAN
