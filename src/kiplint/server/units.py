"""Places of a text, in characters and in what an encoding takes for them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import Final

_WIDE: Final = {"utf-8": re.compile("[^\\x00-\\x7f]"), "utf-16": re.compile("[^\\x00-\\uffff]")}


class Units:
    """How many bytes (`utf-8`) or 16-bit units (`utf-16`) stand before each character; any other counts characters.

    Only the characters that take more than one unit are kept, so that a place costs a search among them. Half a
    character, a lone surrogate, takes one unit.
    """

    def __init__(self, text: str, encoding: str) -> None:
        wide = () if text.isascii() or encoding not in _WIDE else [*_WIDE[encoding].finditer(text)]
        self._behind = [one.end() for one in wide]
        self._more = [0, *accumulate(_units(one[0], encoding) - 1 for one in wide)]

    def before(self, offset: int) -> int:
        """The units before a character."""
        return offset + self._more[bisect_right(self._behind, offset)]

    def offset(self, units: int, start: int, end: int) -> int:
        """The first character from `start` on that has so many units before it, at most `end`."""
        return start + bisect_left(range(start, end), units, key=self.before)


def _units(sign: str, encoding: str) -> int:
    return 2 if encoding == "utf-16" else len(sign.encode("utf-8", "replace"))
