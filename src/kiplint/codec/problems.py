"""What can be wrong with bytes, or with values to be written."""

from __future__ import annotations

import os
from typing import Literal

import msgspec


class ByteProblem(msgspec.Struct, frozen=True):
    """A problem of bytes or values. `offset` counts bytes from the start of the input; `path` names the field."""

    rule: str
    offset: int
    message: str
    path: str = ""


class Malformed(Exception):  # noqa: N818
    """The bytes, or the value, do not match the layout. The fast functions raise it without a reason."""


class CodecRule(msgspec.Struct, frozen=True):
    """What a problem's rule id means, and what follows from it."""

    title: str
    why: str
    severity: Literal["error", "warning"] = "error"
    source: str = "Kafka's protocol"


def _rules() -> dict[str, CodecRule]:
    with open(os.path.join(os.path.dirname(__file__), "rules.json"), "rb") as file:
        return msgspec.json.decode(file.read(), type=dict[str, CodecRule])


RULES = _rules()
"""The rules about bytes and connections, by id."""
