"""Did you mean: the known word that a misspelt one was probably meant to be."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """The closest known word, or empty when none is close; case and a common beginning count."""
    from difflib import get_close_matches

    known = list(known)
    by_case = [one for one in known if one.lower() == word.lower()]
    return next(iter(by_case or get_close_matches(word, known, 1, likeness)), "")


def did_you_mean(word: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """`; did you mean X?`, or empty."""
    found = nearest(word, known, likeness)
    return f"; did you mean {found}?" if found else ""
