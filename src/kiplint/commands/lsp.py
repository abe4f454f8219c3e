"""`kiplint lsp`."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from typing import Annotated

import typer

from kiplint.cli.process import CLEAN, warn
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

    Editors show findings as you type, their fixes, and the reasons for the rules.
    """
    try:
        from kiplint.server.app import server
    except ModuleNotFoundError as error:
        what = f"{error.name}, which comes with `pip install 'kiplint[lsp]'`"
        raise UsageError(f"the language server needs {what}") from None
    log_in_lines()
    server.start_io(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))  # it closes what it is given
    return CLEAN


LONGEST = 200
"""The most characters of a log record that are printed: it may quote input of any size."""


def log_in_lines() -> None:
    """Print each record of libraries' logs from warnings on as one line; with KIPLINT_DEBUG they are complete."""

    class LogLines(logging.Handler):
        """Prints a record as one line; none where stderr cannot be written."""

        def emit(self, record: logging.LogRecord) -> None:
            text, *_ = record.getMessage().splitlines() or [""]
            error = record.exc_info[1] if record.exc_info else None
            line = text[:LONGEST] + (f": {type(error).__name__}: {str(error)[:LONGEST]}" if error else "")
            with suppress(OSError):
                warn(f"warning: {line}")

    if not os.environ.get("KIPLINT_DEBUG"):
        logging.getLogger().addHandler(LogLines(logging.WARNING))
