"""Numbers and lists in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

NOUNS = (("error", "error"), ("warning", "warning"), ("info", "note"))
"""Severities, and what one finding of each is called."""


def tally(counts: Mapping[str, int], kind: str = "") -> str:
    """`1 error and 2 warnings`, with a word such as `more ` before the nouns; empty when there are none."""
    parts = [plural(counts[severity], kind + noun) for severity, noun in NOUNS if counts[severity]]
    return listed(parts) if parts else ""


def plural(number: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def in_bytes(number: int) -> str:
    """`1 byte`, `2000 bytes`: as offsets are written, without commas."""
    return f"{number} byte{'' if number == 1 else 's'}"


def listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *before, last = parts
    return f"{', '.join(before)} and {last}" if before else last
