"""What the terminal can show."""

from __future__ import annotations

import os
from typing import TextIO


def use_color(asked: str, stream: TextIO) -> bool:
    """Whether to colour: as the flag says, then NO_COLOR, then FORCE_COLOR, then whether it is a terminal."""
    if asked in ("always", "never"):
        return asked == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"
