"""Numbers and lists in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches


def tally(counts: Mapping[str, int], adjective: str = "") -> str:
    """Counts by severity: `1 error and 2 warnings`, with `more ` as adjective `1 more error`; empty when all are 0."""
    severities = ("error", "warning", "info")
    parts = [plural(counts[severity], adjective + severity) for severity in severities if counts[severity]]
    return join_words(parts) if parts else ""


def plural(number: int, noun: str) -> str:
    """A number with its noun: `1 error`, `2 errors`, `1,000 errors`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def join_words(parts: Iterable[str]) -> str:
    """The parts as a list in words: `a`, `a and b`, `a, b and c`. There must be one."""
    *others, last = parts
    return f"{', '.join(others)} and {last}" if others else last


def first_of(names: Sequence[str], most: int) -> str:
    """At most `most` names, and how many others there are: `a, b and 4 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def comma_parts(texts: Iterable[str]) -> list[str]:
    """The entries of lists with commas, such as the values of a repeated option: `["a, b", "c"]` is `a`, `b`, `c`."""
    return [part.strip() for text in texts for part in text.split(",") if part.strip()]


def is_glob(text: str) -> bool:
    """Whether a text has a wildcard of `fnmatch`."""
    return any(wildcard in text for wildcard in "*?[")


def did_you_mean(word: str, names: Iterable[str], prefix: str = "", *, numbered: bool = True) -> str:
    """The hint `; did you mean NAME?` for a word that is none of `names`; empty when no name is close to the word.

    `prefix` goes before the name, such as the folder of a file name. `numbered` is as in `nearest`.
    """
    name = nearest(word, names, numbered=numbered)
    return f"; did you mean {prefix}{name}?" if name and name != word else ""


def nearest(word: str, names: Iterable[str], likeness: float = 0, *, numbered: bool = True) -> str:
    """The name that is closest to a word; empty when none is close.

    `likeness`, from 0 to 1, is the minimum similarity (see `difflib`). A name that differs in case alone is
    closest, and a word may be the beginning of a name, as in `Fetch` for `FetchRequest`. If `numbered`, a name with
    other numbers than the word is never close: KIP-714 is not KIP-74. Pass false where names differ in numbers alone,
    as releases do.
    """
    candidates = sorted({*names})
    numbers = re.findall(r"\d+", word)
    if numbered and numbers:
        candidates = [name for name in candidates if re.findall(r"\d+", name) in (numbers, [])]
    for name in candidates:
        if name.lower() == word.lower():
            return name
    cutoff = 0.6 if len(word) <= 5 else 0.65
    close_names = get_close_matches(word, candidates, 1, max(likeness, cutoff))
    if not close_names and len(word) > 3:
        close_names = [name for name in candidates if name.startswith(word)]
    return close_names[0] if close_names else ""
