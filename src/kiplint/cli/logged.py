"""What a library logs, told as kiplint tells things: a line each on stderr, without the stack."""

from __future__ import annotations

import logging
import os

from kiplint.cli.terminal import warn

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
