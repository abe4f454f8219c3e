"""The lines that `kiplint vectors` writes."""

from __future__ import annotations

from typing import Annotated, Any, Final

import msgspec
from msgspec import Meta


class Vector(msgspec.Struct, frozen=True):
    """Golden bytes of a message in a version; a line of the output of `kiplint vectors`."""

    message: str
    type: str
    api_key: int | None
    version: int
    header_version: int | None
    kind: Annotated[str, Meta(description="`minimal`, `rich-field`, `null`, `tag` or `rich`.")]
    field: Annotated[str | None, Meta(description="The field that sets this vector apart.")]
    value: Annotated[dict[str, Any], Meta(description="The values that the bytes encode.")]
    hex: Annotated[str, Meta(description="The bytes of the body.")]
    header: Annotated[dict[str, Any] | None, Meta(description="The values of the header before the body.")] = None
    header_hex: str | None = None


DOCUMENTS: Final = {"vectors": Vector}
