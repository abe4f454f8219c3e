"""`kiplint rules`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kiplint.cli import completing

EPILOG = "Examples:  kiplint rules kip-1313   |   kiplint rules --verify my-rules.json5 my-fixtures"


def rules(
    selectors: Annotated[
        list[str] | None,
        typer.Argument(metavar="RULES", help="Only these: rules, packs or globs.", autocompletion=completing.rules),
    ] = None,
    verify: Annotated[
        tuple[Path, Path] | None,
        typer.Option(
            "--verify",
            metavar="PACK FIXTURES",
            help="Check a pack of your own, and run each rule over FIXTURES/[PACK/]RULE/{good,bad}.",
        ),
    ] = None,
) -> None:
    """List the rules, or verify a pack of your own."""
    from kiplint.cli.process import run
    from kiplint.cli.rule_lists import print_table, verify_pack

    run(lambda: verify_pack(*verify) if verify else print_table(selectors or []))
