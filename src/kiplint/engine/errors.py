"""The errors of user input other than definitions; the command line exits with 2 on each of them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kiplint.text.show import printable
from kiplint.text.words import did_you_mean


class UsageError(Exception):
    """A mistake in arguments, configuration or packs. The text states it, then the remedy, by the command's options.

    `word` is the wrong word, to be located in a configuration.
    """

    def __init__(self, text: str, word: str = "") -> None:
        super().__init__(text)
        self.word = word


class ExpressionError(ValueError):
    """A text of a rule is outside the rule language; the message states the place and the remedy."""


def wrong_choice(error: str, choices: Sequence[str]) -> str:
    """What is wrong with the word for which msgspec reports `error`, as it is none of the choices; else empty."""
    match = re.search(r"Invalid enum value '(.*)' - at", error, re.DOTALL)
    if not match or not choices:
        return ""
    return none_of(match[1], choices)


def none_of(word: str, choices: Sequence[str]) -> str:
    """The sentence about a word that is none of the choices."""
    return f"{printable(word)} is none of {', '.join(choices)}{did_you_mean(word, choices)}"
