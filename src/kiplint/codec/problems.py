"""What can be wrong with bytes, or with values to be written."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta


class ByteProblem(msgspec.Struct, frozen=True):
    """A problem of bytes, or of values to be written."""

    rule: str
    offset: Annotated[int, Meta(description="In bytes from the start of the frame or body.")]
    message: str
    field: Annotated[str | None, Meta(description="The path of the field, null outside of fields.")] = None


class Malformed(Exception):  # noqa: N818
    """The value is not one of its type."""
