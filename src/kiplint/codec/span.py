"""Where each value stands in the bytes."""

from __future__ import annotations

from typing import Any

import msgspec

from kiplint.codec.problems import Problem


class Span(msgspec.Struct, frozen=True):
    """One row of an explained message: a value, or the length, count or marker in front of others.

    `offset` and `length` count bytes from the start of what was given; `depth` is how deep the field lies; `path` has
    the names of the values in JSON with indexes; `type` is the encoding in words.
    """

    offset: int
    length: int
    depth: int
    path: str
    type: str
    value: Any


class Explained(msgspec.Struct, frozen=True):
    """What could be read, up to the problem that ends it where there is one, and where each value stands."""

    value: Any
    end: int
    spans: tuple[Span, ...]
    problems: tuple[Problem, ...]
