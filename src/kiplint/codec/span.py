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


class Decoded(msgspec.Struct, frozen=True):
    """The values of a body, as far as they could be read, where it ends, and what is wrong with it.

    `spans` says where each value stands, if that was asked for.
    """

    value: dict[str, Any]
    end: int
    problems: tuple[Problem, ...] = ()
    spans: tuple[Span, ...] = ()
