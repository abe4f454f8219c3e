"""`kiplint lsp`."""

from __future__ import annotations

import io
import logging
import os
import re
from typing import Annotated

import typer

from kiplint.cli.process import CLEAN, how_to_install
from kiplint.engine.errors import UsageError
from kiplint.limits import EDITOR_BYTES

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
        raise UsageError(f"the language server needs {error.name}: {how_to_install('lsp')}") from None
    if not os.environ.get("KIPLINT_DEBUG"):
        logging.disable()  # a log quotes input of any size, with tracebacks
    with open(os.dup(0), "rb", buffering=0) as pipe:
        server.start_io(EditorInput(pipe), os.fdopen(os.dup(1), "wb"))  # it closes what it is given
    return CLEAN


class EditorInput(io.BufferedReader):
    """The messages of an editor, with headers as pygls expects them.

    pygls skips the message of a header that it cannot read. A body has no line end, so its text and the next header are
    one line, and so on: this finds a header at the end of any line.
    """

    def readline(self, size: int | None = -1, /) -> bytes:
        """The next line; a header with the length of a message, however it is written, alone."""
        line = super().readline(size)
        match = re.search(rb"Content-Length[ \t]*:[ \t]*([0-9]+)\s*\Z", line, re.IGNORECASE)
        if match is None:
            return line
        length = int(match[1].lstrip(b"0")[:20] or b"0")  # int() refuses thousands of digits
        return b"Content-Length: %d\r\n" % length if length <= EDITOR_BYTES else b"\r\n"
