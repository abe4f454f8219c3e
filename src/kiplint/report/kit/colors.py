"""The few colours of kiplint's text, as ANSI escape sequences."""

from __future__ import annotations

BOLD = "1"
DIM = "2"
BLUE = "1;34"
SEVERITY = {"error": "1;31", "warning": "1;33", "info": "1;36"}


def paint(text: str, code: str, color: bool) -> str:
    """The text in a colour, or as it is when none are wanted."""
    return f"\x1b[{code}m{text}\x1b[0m" if color and text else text
