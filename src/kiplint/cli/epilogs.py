"""What stands at the end of a command's help: examples, one a line as they are to be typed, then the rest."""

from __future__ import annotations

import re
from typing import Final

AS_IT_IS: Final = "\b\n"
"""Begins a paragraph whose lines are not joined."""


def shown(epilog: str) -> str:
    """`Examples:  one   |   two.  The rest.` with each example on a line of its own; other text as it is."""
    label, _, rest = epilog.partition("  ")
    if label not in ("Example:", "Examples:"):
        return epilog
    examples, *more = re.split(r"\.\s{2,}(?=[A-Z])", rest, maxsplit=1)
    lines = [label, *(f"  {' '.join(one.split())}" for one in examples.split(" | "))]
    return "\n\n".join([AS_IT_IS + "\n".join(lines), *more])
