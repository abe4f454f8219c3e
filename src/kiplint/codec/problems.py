"""The problems that bytes can have: their ids, their severities, and the reasons.

Kafka's Java reader accepts the bytes of a warning; at an error it rejects the bytes, closes the
connection or reads other values.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

ByteSeverity = Literal["error", "warning"]


class ByteProblemKind(msgspec.Struct, frozen=True):
    """A kind of problem: its severity, its title, and its reason."""

    severity: ByteSeverity
    title: str
    why: str


_READ = "Kafka's Java reader accepts it, but a reader in another language may reject it."
_REFUSED = "Kafka's Java reader throws an exception, and a broker then closes the connection."

BYTE_PROBLEMS: Final = {
    "boolean-invalid": ByteProblemKind(
        "warning", "A boolean whose byte is neither 0 nor 1", f"It is read as true. {_READ}"
    ),
    "header-version": ByteProblemKind(
        "error",
        "A frame with the wrong header version",
        "The frame can be read only with a header version other than that of its API version. The response to "
        "ApiVersions has header 0 in all versions, so that a client can read it before it knows the broker (KIP-511).",
    ),
    "header-unknown": ByteProblemKind(
        "error", "A header that no set defines", "The frame needs a version of the header that no set has."
    ),
    "input-invalid": ByteProblemKind(
        "error",
        "A line that is neither a body nor a frame",
        "A JSON line must have a body, or a frame and its direction.",
    ),
    "layout-unusable": ByteProblemKind(
        "error", "A definition without a layout", "A field has an unknown type, or a struct contains itself."
    ),
    "length-beyond-end": ByteProblemKind("error", "A length that exceeds the remaining bytes", _REFUSED),
    "length-below-null": ByteProblemKind(
        "warning", "A length below -1 where null is allowed", f"It is read as null, which is -1. {_READ}"
    ),
    "length-negative": ByteProblemKind("error", "A length below -1 where null is not allowed", _REFUSED),
    "length-prefix": ByteProblemKind(
        "warning",
        "A frame that begins with its length",
        "On a connection, four bytes with the length precede each frame. They are not part of the frame and are "
        "skipped.",
    ),
    "marker-invalid": ByteProblemKind(
        "warning",
        "An unusual marker of a nullable struct",
        "The marker is 1 for a struct and -1 for null (KIP-893); in a tagged field it is 1 and 0. Any negative marker, "
        f"and 0 in a tagged field, is read as null. {_READ}",
    ),
    "null-not-allowed": ByteProblemKind("error", "Null in a version that does not allow it", _REFUSED),
    "tag-duplicate": ByteProblemKind("warning", "A tag that occurs twice", f"The last value counts. {_READ}"),
    "tag-order": ByteProblemKind("warning", "Tags out of order", f"KIP-482 requires ascending tags. {_READ}"),
    "tag-size": ByteProblemKind(
        "error", "A tagged field that is shorter than its size", "The remaining bytes are read as the next tag."
    ),
    "tag-version": ByteProblemKind("error", "A tag that the message has only in other versions", _REFUSED),
    "too-many-elements": ByteProblemKind(
        "error", "Too many elements without bytes", "A count on its own could make a reader fill its memory."
    ),
    "trailing-bytes": ByteProblemKind(
        "error",
        "Bytes after the end of the message",
        "Readers of requests and responses ignore them, so a field is lost; the metadata log rejects them.",
    ),
    "truncated": ByteProblemKind("error", "Bytes that end too early", _REFUSED),
    "unknown-api-key": ByteProblemKind(
        "error", "An API key that no set has", "Name a set that contains it with --set."
    ),
    "unknown-message": ByteProblemKind("error", "A message that no set has", "Name a set that contains it with --set."),
    "unknown-version": ByteProblemKind("error", "A version that no set has", "Name a set that contains it with --set."),
    "utf8-invalid": ByteProblemKind(
        "warning", "A string that is not UTF-8", f"Each wrong byte is read as the character U+FFFD. {_READ}"
    ),
    "varint-overlong": ByteProblemKind("warning", "A varint with redundant bytes", _READ),
    "varint-too-large": ByteProblemKind("error", "A varint of more than 32 bits", _REFUSED),
}
"""The kinds of problems by the part of the id after `codec/`."""


class ByteProblem(msgspec.Struct, frozen=True):
    """A problem of bytes."""

    rule: Annotated[str, Meta(description="The kind of problem, such as `codec/truncated`.")]
    offset: Annotated[int, Meta(description="In bytes from the start of the frame or body.")]
    message: str
    field: Annotated[str | None, Meta(description="The path of the field, null outside of fields.")] = None
    severity: Annotated[ByteSeverity, Meta(description="A `warning` is a problem that Kafka's reader accepts.")] = (
        "error"
    )


def byte_problem(kind: str, offset: int, message: str, field: str | None = None) -> ByteProblem:
    """A problem of a kind in `BYTE_PROBLEMS`."""
    return ByteProblem(f"codec/{kind}", offset, message, field, BYTE_PROBLEMS[kind].severity)
