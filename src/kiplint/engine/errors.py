"""The errors of user input other than definitions; the command line exits with 2 on each of them."""

from __future__ import annotations


class UsageError(Exception):
    """A mistake in arguments, configuration or packs. The text states it and then the remedy, which may name options.

    `word` is the wrong word, to be located in a configuration.
    """

    def __init__(self, text: str, word: str = "") -> None:
        super().__init__(text)
        self.word = word


class ExpressionError(ValueError):
    """A text of a rule is outside the rule language; the message states the place and the remedy."""
