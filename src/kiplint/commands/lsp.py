"""`kiplint lsp`."""

from __future__ import annotations

import logging
import os
from typing import Annotated

import typer

from kiplint.cli.process import CLEAN
from kiplint.engine.errors import UsageError

EPILOG = """\b
Example:
  kiplint lsp --stdio

An editor starts it; docs/guide/editors.md describes how for VS Code, IntelliJ, Neovim, Helix and Zed."""


def command(
    stdio: Annotated[
        bool, typer.Option("--stdio", help="Use standard input and output, which is the default.")
    ] = False,
) -> int:
    """Run the language server for editors.

    Editors show findings as you type, with their fixes and links to the rules.
    """
    try:
        from kiplint.server.app import server
    except ModuleNotFoundError as error:
        what = f"{error.name}, which comes with `pip install 'kiplint[lsp]'`"
        raise UsageError(f"the language server needs {what}") from None
    if not os.environ.get("KIPLINT_DEBUG"):
        logging.disable()  # a log quotes input of any size, with tracebacks
    server.start_io(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))  # it closes what it is given
    return CLEAN
