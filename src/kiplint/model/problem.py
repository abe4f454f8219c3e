"""A problem of text or shape, as an element that rules judge."""

from __future__ import annotations

from kiplint.model.fact import fact
from kiplint.text.problem import Problem as Noted


class Problem:
    """One thing that the reader noted about a file."""

    def __init__(self, noted: Noted, file: str, message_name: str = "") -> None:
        self.noted = noted
        self.file = file
        self.message_name = message_name

    @fact
    def kind(self) -> str:
        """The kind of problem, such as `trailing-comma`."""
        return self.noted.kind

    @fact
    def detail(self) -> str:
        """What exactly is wrong, as a fragment of a sentence."""
        return self.noted.detail

    @fact
    def pointer(self) -> str:
        """The JSON pointer of what is wrong, or of what it stands in."""
        return self.noted.pointer
