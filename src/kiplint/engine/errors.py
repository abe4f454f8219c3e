"""What can be wrong with what the user gave, other than a definition: every such error ends in exit code 2."""

from __future__ import annotations


class UsageError(Exception):
    """A mistake in arguments, configuration or packs; the text says what it is and what to write instead.

    `word` is what the user wrote, where that can be looked for in a configuration. `kind` names the mistake for the
    command line, which has texts about its options by kind.
    """

    def __init__(self, text: str, word: str = "", kind: str = "") -> None:
        super().__init__(text)
        self.word = word
        self.kind = kind


class ExpressionError(ValueError):
    """A text of a rule leaves the rule language; the message says where and what to write instead."""
