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


def in_bytes(number: int, one: str = "", many: str = "") -> str:
    """`1 byte`, `2000 bytes`, or with a verb `1 byte is`, `2000 bytes are`: as offsets are written, without commas."""
    noun, verb = ("byte", one) if number == 1 else ("bytes", many)
    return f"{number} {noun} {verb}".rstrip()


def listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *before, last = parts
    return f"{', '.join(before)} and {last}" if before else last
