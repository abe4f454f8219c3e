"""What can be wrong with what the user gave, other than a definition: every such error ends in exit code 2."""

from __future__ import annotations


class UsageError(Exception):
    """A mistake in arguments, configuration or packs; the text says what it is and what to write instead."""
