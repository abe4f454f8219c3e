"""`kiplint changelog`."""

from __future__ import annotations

from typing import Annotated

import typer

EPILOG = "Example:  kiplint changelog 4.0.0: 4.1.0: > CHANGES-4.1.md"


def changelog(
    old: Annotated[str, typer.Argument(help="The base: a directory, an archive, REV: or REV:path.")],
    new: Annotated[str, typer.Argument(help="What came after it, in any of the same forms.")],
    repo: Annotated[
        str | None, typer.Option(metavar="REPO", help="The repository of REV:, a directory or a bundle.")
    ] = None,
) -> None:
    """Tell in prose, as Markdown, what changed between two releases."""
    import sys

    from kiplint.cli.checking import CheckOptions
    from kiplint.cli.diffing import DiffOptions, compare_all
    from kiplint.cli.process import CLEAN, USAGE, run
    from kiplint.cli.trees import warn_of_broken
    from kiplint.report.diff.changelog import write_changelog

    def write() -> int:
        options = DiffOptions(old, new, CheckOptions(sets=[new]), repository=repo)
        changes, before, after = compare_all(options)
        write_changelog(changes, old.removesuffix(":"), new.removesuffix(":"), sys.stdout)
        return USAGE if warn_of_broken(before, after) else CLEAN

    run(write)
