"""The errors of user input other than definitions; the command line exits with 2 on each of them."""

from __future__ import annotations


class UsageError(Exception):
    """A mistake in arguments, configuration or packs. The text states it, then the remedy, and names no option.

    `word` is the wrong word, to be located in a configuration. `kind` is the key of a command's hint, which adds the
    name of the option.
    """

    def __init__(self, text: str, word: str = "", kind: str = "") -> None:
        super().__init__(text)
        self.word = word
        self.kind = kind


class ExpressionError(ValueError):
    """A text of a rule is outside the rule language; the message states the place and the remedy."""
