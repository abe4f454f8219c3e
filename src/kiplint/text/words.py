"""Numbers and lists in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches


def tally(counts: Mapping[str, int], kind: str = "") -> str:
    """`1 error and 2 warnings`, with a word such as `more ` before the nouns; empty when there are none."""
    severities = ("error", "warning", "info")
    parts = [plural(counts[severity], kind + severity) for severity in severities if counts[severity]]
    return join_words(parts) if parts else ""


def plural(number: int, noun: str) -> str:
    """`1 error`, `2 errors`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def in_bytes(number: int, singular: str = "", many: str = "") -> str:
    """`1 byte`, `2000 bytes`, or with a verb `1 byte is`, `2000 bytes are`: as offsets are written, without commas."""
    noun, verb = ("byte", singular) if number == 1 else ("bytes", many)
    return f"{number} {noun} {verb}".rstrip()


def join_words(parts: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *before, last = parts
    return f"{', '.join(before)} and {last}" if before else last


def first_of(names: Sequence[str], most: int) -> str:
    """The first names, and how many others there are: `a, b and 4 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def comma_parts(texts: Iterable[str]) -> list[str]:
    """The parts of texts that may be lists with commas, without blanks around them and without empty ones."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def is_glob(text: str) -> bool:
    """Whether a text has a sign that `fnmatch` gives a meaning."""
    return not {*"*?["}.isdisjoint(text)


def did_you_mean(word: str, names: Iterable[str], before: str = "", *, numbered: bool = True) -> str:
    """`; did you mean X?`, with what goes before the name; empty where the nearest name is the word, or none is close.

    Releases are numbers, and so not `numbered`.
    """
    name = nearest(word, names, numbered=numbered)
    return f"; did you mean {before}{name}?" if name and name != word else ""


def nearest(word: str, names: Iterable[str], likeness: float = 0, *, numbered: bool = True) -> str:
    """The closest of some names, or empty when none is close, or none reaches `likeness`.

    Case does not count, and a word may be the beginning of a name, as in `Fetch` for `FetchRequest`. If `numbered`,
    words with different numbers never match: KIP-714 is not KIP-74.
    """
    numbers = re.findall(r"\d+", word) if numbered else []
    likely = sorted(name for name in {*names} if not numbers or re.findall(r"\d+", name) in (numbers, []))
    close = [name for name in likely if name.lower() == word.lower()]
    close = close or get_close_matches(word, likely, 1, max(likeness, 0.6 if len(word) <= 5 else 0.65))
    if not close and len(word) > 3:
        close = [name for name in likely if name.startswith(word)]
    return close[0] if close else ""
