"""`kiplint explain`."""

from __future__ import annotations

from typing import Annotated

import typer

from kiplint.cli import completing

EPILOG = "Example:  kiplint explain tags/gap"


def explain(
    rule: Annotated[
        str, typer.Argument(metavar="RULE", help="The rule's id, such as tags/gap.", autocompletion=completing.rule_ids)
    ],
) -> None:
    """Explain a rule: what it asks for, why, where it comes from, an example of each kind, and how to ignore it."""
    from kiplint.cli.explaining import explain_rule
    from kiplint.cli.process import run

    run(lambda: explain_rule(rule))
