"""Gathering the problems of one scan: bounded in number, and without the echoes of one mistake."""

from __future__ import annotations

import re
from typing import Final

from kiplint.text.limits import MAX_PROBLEMS
from kiplint.text.problem import Problem

_LINE_END: Final = re.compile(r"[\r\n]")


class Collector:
    """Takes problems in; keeps at most `MAX_PROBLEMS`.

    A mistake in the syntax makes what follows look wrong too. So after one the collector stays quiet about
    further syntax up to the end of its line, or until the scan says that it has found its feet (`recovered`).
    """

    __slots__ = ("_quiet_until", "_text", "problems")

    def __init__(self, text: str) -> None:
        self._text = text
        self._quiet_until = 0
        self.problems: list[Problem] = []

    @property
    def full(self) -> bool:
        """Whether nothing more is kept."""
        return len(self.problems) >= MAX_PROBLEMS

    def add(self, kind: str, detail: str, pointer: str, start: int, end: int) -> None:
        """Note a problem that stands by itself."""
        if not self.full:
            self.problems.append(Problem(kind, detail, pointer, start, end))

    def quiet_at(self, offset: int) -> bool:
        """Whether a syntax problem at `offset` is taken for an echo of an earlier one."""
        return offset < self._quiet_until

    def hush(self, offset: int) -> None:
        """Take further syntax problems on the line of `offset` for echoes."""
        if offset >= self._quiet_until:
            found = _LINE_END.search(self._text, offset)
            self._quiet_until = found.end() if found else len(self._text) + 1

    def recovered(self) -> None:
        """Syntax problems count again."""
        self._quiet_until = 0
