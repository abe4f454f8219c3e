"""`kiplint lsp`."""

from __future__ import annotations

import logging
import os
from typing import Annotated

from kiplint.cli.options import Group, Option
from kiplint.cli.process import warn

EPILOG = (
    "Example:  kiplint lsp --stdio.  "
    "An editor starts it; docs/guide/editors.md says how for VS Code, IntelliJ, Neovim, Helix and Zed."
)
SECTION = "Check and review"


class Options(Group, frozen=True):
    """What it takes."""

    stdio: Annotated[bool, Option("Talk over standard input and output, as it does anyway: some editors say so.")] = (
        False
    )


def run(options: Options) -> int:
    """Be the language server of an editor: findings as you type, fixes, completion, and what a field means."""
    import gc
    import io
    import os

    from kiplint.cli.process import CLEAN
    from kiplint.engine.errors import UsageError

    try:
        from kiplint.server.app import make
        from kiplint.server.framing import Frames
    except ModuleNotFoundError as error:
        what = f"{error.name}, which comes with `pip install 'kiplint[lsp]'`"
        raise UsageError(f"the language server needs {what}") from None
    gc.enable()  # other commands end too soon to need it
    log_in_lines()
    make().start_io(Frames(io.FileIO(os.dup(0))), os.fdopen(os.dup(1), "wb"))  # it closes what it is given
    return CLEAN


LONGEST = 200
"""Characters of what is told of one record: it may quote what has come in, of any size."""


class Lines(logging.Handler):
    """Tells each record from a warning on."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line; none where stderr cannot be written."""
        said, *_ = record.getMessage().splitlines() or [""]
        error = record.exc_info[1] if record.exc_info else None
        line = said[:LONGEST] + (f": {type(error).__name__}: {str(error)[:LONGEST]}" if error else "")
        try:
            warn(f"warning: {line}")
        except OSError:  # whoever started it does not listen
            return


def log_in_lines() -> None:
    """Tell what libraries log in lines, unless somebody looks for a mistake and wants it all."""
    if not os.environ.get("KIPLINT_DEBUG"):
        logging.getLogger().addHandler(Lines())
