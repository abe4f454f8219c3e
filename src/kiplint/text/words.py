"""Numbers and lists in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final


def tally(counts: Mapping[str, int], kind: str = "") -> str:
    """`1 error and 2 warnings`, with a word such as `more ` before the nouns; empty when there are none."""
    severities = ("error", "warning", "info")
    parts = [plural(counts[severity], kind + severity) for severity in severities if counts[severity]]
    return listed(parts) if parts else ""


def plural(number: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def in_bytes(number: int, singular: str = "", many: str = "") -> str:
    """`1 byte`, `2000 bytes`, or with a verb `1 byte is`, `2000 bytes are`: as offsets are written, without commas."""
    noun, verb = ("byte", singular) if number == 1 else ("bytes", many)
    return f"{number} {noun} {verb}".rstrip()


def listed(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *before, last = parts
    return f"{', '.join(before)} and {last}" if before else last


def comma_parts(texts: Iterable[str]) -> list[str]:
    """The parts of texts that may be lists with commas, without blanks around them and without empty ones."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


CLOSE: Final = 0.65
"""How much two words have in common to be close, from 0 to 1."""
CLOSE_WHEN_SHORT: Final = 0.6
SHORT: Final = 5
"""Up to how many letters a single slip makes so much of a difference."""
WHOLE: Final = 4
"""From how many letters on the beginning of a word stands for the word."""


def nearest(word: str, known: Iterable[str], likeness: float = 0, *, numbered: bool = True) -> str:
    """The closest known word, or empty when none is close, or none reaches `likeness`.

    Case does not count, and a word may be the beginning of the other, as in `Fetch` for `FetchRequest`. If `numbered`,
    words with different numbers never match: KIP-714 is not KIP-74.
    """
    from difflib import get_close_matches

    digits = re.findall(r"\d+", word)
    fitting = list(known)
    if numbered and digits:
        fitting = [candidate for candidate in fitting if re.findall(r"\d+", candidate) in (digits, [])]
    by_case = [candidate for candidate in fitting if candidate.lower() == word.lower()]
    begun = [candidate for candidate in fitting if len(word) >= WHOLE and candidate.startswith(word)]
    least = max(likeness, CLOSE_WHEN_SHORT if len(word) <= SHORT else CLOSE)
    return next(iter(by_case or get_close_matches(word, fitting, 1, least) or begun), "")


def did_you_mean(word: str, known: Iterable[str], *, numbered: bool = True) -> str:
    """`; did you mean X?`, or empty; of releases, which are numbers and nothing else, none is `numbered`."""
    candidate = nearest(word, known, numbered=numbered)
    return f"; did you mean {candidate}?" if candidate else ""
