"""What the terminal can show, and how it is told."""

from __future__ import annotations

import os
import sys
from typing import TextIO

from kiplint.report.kit.colors import SEVERITY, paint
from kiplint.text.show import printable


def use_color(asked: str, stream: TextIO) -> bool:
    """Whether to colour: as the flag says, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal."""
    if asked in ("always", "never"):
        return asked == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def label(severity: str) -> str:
    """The word `error` or `warning` that a line on stderr begins with."""
    return paint(severity, SEVERITY[severity], use_color("auto", sys.stderr))


def warn(note: str) -> None:
    """Print a note on stderr as one line, its word `warning` painted if it begins with that."""
    note = printable(note)
    rest = note.removeprefix("warning:")
    print(note if rest == note else f"{label('warning')}:{rest}", file=sys.stderr)
