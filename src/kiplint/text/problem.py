"""What the reader noted about a file's text or shape, before any meaning is given to it."""

from __future__ import annotations

import msgspec


class Problem(msgspec.Struct, frozen=True):
    """One mistake in the text or shape of a definition.

    `start` and `end` are half-open character offsets into the file's decoded text, or -1 when
    only `pointer` (an RFC 6901 JSON pointer) says where. `word` is the word that is not known, where it is about one;
    `harmless` says that no reader takes the definition for another because of it, `spare` that the text between start
    and end serves no purpose.
    """

    kind: str
    detail: str
    pointer: str = ""
    start: int = -1
    end: int = -1
    word: str = ""
    harmless: bool = False
    spare: bool = False
