"""The errors of user input other than definitions; the command line exits with 2 on each of them."""

from __future__ import annotations

import os


class UsageError(Exception):
    """A mistake in arguments, configuration or packs. The text states it and then the remedy, which may name options.

    `word` is the wrong word, to be located in a configuration.
    """

    def __init__(self, text: str, word: str = "") -> None:
        super().__init__(text)
        self.word = word


def internal_error(error: Exception) -> str:
    """The message about an error that is a bug of kiplint, not a mistake of the user.

    Raises the error itself where KIPLINT_DEBUG is set, which shows where it is from.
    """
    if os.environ.get("KIPLINT_DEBUG"):
        raise error
    return f"internal error, please report it: {type(error).__name__}: {error} (KIPLINT_DEBUG=1 shows where)"


class ExpressionError(ValueError):
    """A text of a rule that is not in the rule language; the message states the location and the remedy."""
