"""The limits on untrusted input, as SECURITY.md lists them."""

from __future__ import annotations

from generator.markdown import table
from kiplint.limits import LIMITS


def make() -> str:
    """The table of SECURITY.md."""
    rows = ((limit.input, limit.figure, limit.beyond, limit.remedy) for limit in LIMITS)
    return table(["input", "limit", "beyond it", "to read more"], rows)
