"""The command line: the only place that prints or exits."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `kiplint` with the process's arguments.

    A check of plain paths, as pre-commit runs it, has no options to parse: it does without typer, whose import takes
    as long as checking 200 files.
    """
    words = sys.argv[1:]
    if words[:1] == ["check"] and len(words) > 1 and not any(word.startswith("-") for word in words):
        from kiplint.cli.checking import CheckOptions, run_check
        from kiplint.cli.process import run

        run(lambda: run_check(CheckOptions(sets=words[1:])))
    from kiplint.cli.app import app

    app(prog_name="kiplint")
