"""The lines that `kiplint vectors` writes."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta


class Vector(msgspec.Struct, frozen=True):
    """Golden bytes of a message in a version; a line of the output of `kiplint vectors`."""

    message: str
    type: str
    api_key: int | None
    version: int
    header_version: int | None
    kind: Annotated[
        str,
        Meta(
            description="`minimal`, `rich-field`, `null`, `tag`, `rich`; `long` (lengths of 127), `array-128`, "
            "`utf-8`, `lowest`, `highest`, `nan`, `infinity`, `-infinity`, `nulls`, `nulls-inside`, `unknown-tags`, "
            "`unknown-tags-in-header`; or the fault of a vector that must be refused."
        ),
    ]
    field: Annotated[str | None, Meta(description="The field that sets this vector apart.")]
    value: Annotated[
        dict[str, Any] | None, Meta(description="The values that the bytes encode; null where they must be refused.")
    ]
    hex: Annotated[str, Meta(description="The bytes of the body.")]
    header: Annotated[dict[str, Any] | None, Meta(description="The values of the header before the body.")] = None
    header_hex: str | None = None
    must: Annotated[Literal["read", "refuse"], Meta(description="What a reader must do with the body.")] = "read"
    offset: Annotated[int | None, Meta(description="Where in the body the fault is that a reader must refuse.")] = None


DOCUMENTS: Final = {"vectors": Vector}
