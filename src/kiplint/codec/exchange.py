"""The JSON of bytes: objects with hexadecimal bytes, and what they decode to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from kiplint.codec.catalog import Catalog
from kiplint.codec.frames import Frame, decode_body, decode_request, decode_response
from kiplint.codec.problems import ByteProblem
from kiplint.text.decode import NOT_JSON


class BadInput(Exception):  # noqa: N818
    """The object is invalid; the message states the reason."""


def read_object(catalog: Catalog, line: bytes, *, spans: bool) -> tuple[Frame, bytes, Callable[[bytes], Frame]]:
    """The frame or body of one line of JSON, its bytes, and what reads such bytes with the places. Raises BadInput."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)  # the typed decoder takes an unfinished array for an array
        values = msgspec.structs.asdict(msgspec.json.decode(line, type=BytesLine))
    except msgspec.ValidationError as error:
        raise BadInput(f"a line must be a JSON object with text and numbers: {error}") from None
    except NOT_JSON as error:
        raise BadInput(f"the line is not JSON: {error}") from None
    data = _bytes(values["hex"])
    if values["direction"] is None:
        read = partial(decode_body, catalog, text_of(values, "message"), number_of(values, "version"))
    elif values["direction"] == "request":
        read = partial(decode_request, catalog)
    elif values["direction"] == "response":
        read = partial(decode_response, catalog, number_of(values, "api_key"), number_of(values, "api_version"))
    else:
        raise BadInput('"direction" must be "request" or "response"')
    return read(data, spans=spans), data, partial(read, spans=True)


Scalar = str | int | float | bool | None


class BytesLine(msgspec.Struct, frozen=True):
    """A line of JSON with bytes. All other properties are skipped when it is parsed, so that they take no memory."""

    direction: Scalar = None
    api_key: Scalar = None
    api_version: Scalar = None
    message: Scalar = None
    version: Scalar = None
    hex: Scalar = None


class ProblemObject(msgspec.Struct, frozen=True):
    """A problem of a frame or of values, for JSON."""

    rule: str
    offset: Annotated[int, Meta(description="In bytes from the start of the frame or body.")]
    message: str
    field: Annotated[str | None, Meta(description="The path of the field, null outside of fields.")]


def problem_objects(problems: Iterable[ByteProblem]) -> tuple[ProblemObject, ...]:
    """Problems, for JSON."""
    return tuple(
        ProblemObject(problem.rule, problem.offset, problem.message, problem.path or None) for problem in problems
    )


def _bytes(text: Any) -> bytes:
    """The bytes of hexadecimal digits, which blanks may separate. Raises BadInput."""
    if not isinstance(text, str):
        raise BadInput('"hex" must be text')
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise BadInput('"hex" must be pairs of hexadecimal digits') from None


def text_of(values: dict[str, Any], key: str) -> str:
    """The text of a property. Raises BadInput."""
    if not isinstance(values.get(key), str):
        raise BadInput(f'"{key}" must be text')
    return str(values[key])


def number_of(values: dict[str, Any], key: str) -> int:
    """The number of a property. Raises BadInput."""
    value = values.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadInput(f'"{key}" must be a number')
    return value
