"""The JSON of bytes: objects with hexadecimal bytes, objects with values, and each from the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kiplint.codec.catalog import Catalog, having
from kiplint.codec.codec import filled
from kiplint.codec.frames import (
    API_VERSIONS,
    UNSUPPORTED_VERSION,
    FieldError,
    Frame,
    decode_body,
    decode_request,
    decode_response,
)
from kiplint.codec.problems import ByteProblem
from kiplint.model.message import Message
from kiplint.text.decode import NOT_JSON


class BadInput(Exception):  # noqa: N818
    """The object is invalid; the message states the reason."""


class Additions(msgspec.Struct, frozen=True):
    """What to add to decoded values: the defaults of absent tagged fields, and the contents of record batches."""

    defaults: bool = False
    records: bool = False


def read_object(catalog: Catalog, line: bytes, *, spans: bool) -> tuple[Frame, bytes]:
    """The frame or body of one line of JSON, and its bytes. Raises BadInput."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)  # the typed decoder takes an unfinished array for an array
        entry = msgspec.json.decode(line, type=BytesLine)
        values = {name: _scalar(getattr(entry, name)) for name in BytesLine.__struct_fields__}
    except msgspec.ValidationError:
        raise BadInput("a line must be a JSON object") from None
    except NOT_JSON as error:
        raise BadInput(f"the line is not JSON: {error}") from None
    return _read(catalog, values, spans=spans)


NULL: Final = msgspec.Raw(b"null")


class BytesLine(msgspec.Struct, frozen=True):
    """A line of JSON with bytes. Its properties are not parsed yet, and all other properties take no memory."""

    direction: msgspec.Raw = NULL
    api_key: msgspec.Raw = NULL
    api_version: msgspec.Raw = NULL
    message: msgspec.Raw = NULL
    version: msgspec.Raw = NULL
    hex: msgspec.Raw = NULL


def _scalar(raw: msgspec.Raw) -> Any:
    """The value of a text or number. False, which is invalid for each property, for an array or object."""
    return False if bytes(memoryview(raw)[:1]) in (b"[", b"{") else msgspec.json.decode(raw)


def complete(catalog: Catalog, frame: Frame, additions: Additions) -> Frame:
    """The frame with the additions in its value; records need a frame with spans."""
    message = having(catalog.named(frame.message), frame.version)
    if frame.value is None or message is None or not (additions.defaults or additions.records):
        return frame
    codec = catalog.codec(message, frame.version)
    if codec.unusable:  # a message of the same name in another set
        return frame
    body = codec.body
    value, problems = frame.value, frame.problems
    if additions.records:
        from kiplint.codec.topics import with_records

        value, more = with_records(catalog, body, value, frame.spans)
        problems = (*problems, *more)
    value = filled(body, value) if additions.defaults else value
    return msgspec.structs.replace(frame, value=value, problems=problems)


class ProblemObject(msgspec.Struct, frozen=True):
    """A problem of a frame or of values, for JSON."""

    rule: str
    offset: Annotated[int, Meta(description="In bytes from the start of the frame or body.")]
    message: str
    field: Annotated[str | None, Meta(description="The path of the field, null outside of fields.")]


class FrameObject(msgspec.Struct, frozen=True, kw_only=True):
    """A decoded frame or body, for JSON."""

    message: Annotated[str | None, Meta(description="Null where the message is unknown.")]
    version: int | None
    header_version: Annotated[int | None, Meta(description="Null for a body without a header.")]
    header: dict[str, Any] | None
    value: Annotated[dict[str, Any] | None, Meta(description="Null where nothing could be decoded.")]
    length: Annotated[int, Meta(description="In bytes.")]
    problems: tuple[ProblemObject, ...]
    errors: Annotated[
        tuple[FieldError, ...] | UnsetType,
        Meta(description="The error codes that are not 0; absent if there are none."),
    ] = UNSET
    offsets: Annotated[
        tuple[ValueOffset, ...] | UnsetType, Meta(description="The place of each value, with --offsets.")
    ] = UNSET


class ValueOffset(msgspec.Struct, frozen=True):
    """The place of a value in the bytes of its frame or body."""

    field: Annotated[str, Meta(description="The path of the field.")]
    offset: Annotated[int, Meta(description="In bytes from the start of the frame or body.")]
    length: Annotated[int, Meta(description="In bytes.")]


class EncodedObject(msgspec.Struct, frozen=True, kw_only=True):
    """An encoded message, for JSON."""

    message: Annotated[str | None, Meta(description="Null where the message is unknown.")]
    version: int | None
    header_version: Annotated[int | None, Meta(description="Null for a body without a header.")]
    hex: Annotated[str | None, Meta(description="The bytes, null where there are problems.")]
    length: Annotated[int, Meta(description="In bytes; 0 where there are problems.")]
    problems: tuple[ProblemObject, ...]


def frame_object(frame: Frame, *, offsets: bool = False) -> FrameObject:
    """A frame, for JSON; with `offsets` the place of each value, for which the frame needs spans."""
    places = tuple(ValueOffset(span.path, span.offset, span.length) for span in frame.spans if span.path)
    return FrameObject(
        message=frame.message or None,
        version=frame.version if frame.version >= 0 else None,
        header_version=frame.header_version,
        header=frame.header,
        value=frame.value,
        length=frame.length,
        problems=problem_objects(frame.problems),
        errors=frame.errors or UNSET,
        offsets=places if offsets else UNSET,
    )


def problem_objects(problems: Iterable[ByteProblem]) -> tuple[ProblemObject, ...]:
    """Problems, for JSON."""
    return tuple(
        ProblemObject(problem.rule, problem.offset, problem.message, problem.path or None) for problem in problems
    )


def _read(catalog: Catalog, values: dict[str, Any], *, spans: bool) -> tuple[Frame, bytes]:
    data = hex_bytes(values.get("hex"))
    if values.get("direction") is None:
        frame = decode_body(catalog, _text(values, "message"), _number(values, "version"), data, spans=spans)
    elif values["direction"] == "request":
        frame = decode_request(catalog, data, spans=spans)
    elif values["direction"] == "response":
        key, version = _number(values, "api_key"), _number(values, "api_version")
        frame = decode_response(catalog, key, version, data, spans=spans)
    else:
        raise BadInput('"direction" must be "request" or "response"')
    return frame, data


def encode_line(catalog: Catalog, line: bytes) -> EncodedObject:
    """The bytes of a line of JSON; see `encode_object`."""
    try:
        values = msgspec.json.decode(line)
    except NOT_JSON as error:
        return _encoded("", -1, None, b"", (ByteProblem("codec/input-invalid", 0, f"the line is not JSON: {error}"),))
    return encode_object(catalog, values)


def encode_object(catalog: Catalog, values: Any) -> EncodedObject:
    """The bytes of an object with `value`, and for frames `header`, in place of `hex`.

    A response to ApiVersions with UNSUPPORTED_VERSION is written in version 0, in which it is read (KIP-511).
    """
    try:
        message, version = _chosen(catalog, values)
    except BadInput as error:
        return _encoded("", -1, None, b"", (ByteProblem("codec/input-invalid", 0, str(error)),))
    codec = catalog.codec(message, version)
    if codec.unusable:
        return _encoded(message.name, version, None, b"", (ByteProblem("codec/layout-unusable", 0, codec.unusable),))
    body, problems = codec.encode(values.get("value"))
    if values.get("direction") is None and not isinstance(values.get("header"), dict):
        return _encoded(message.name, version, None, body, problems)
    number, header = catalog.header(message, version)
    if header is None or header.unusable:
        rule = "codec/layout-unusable" if header else "codec/header-unknown"
        problem = ByteProblem(rule, 0, header.unusable if header else "no set has its header")
        return _encoded(message.name, version, number, b"", (problem,))
    named = {"requestApiKey": message.api_key, "requestApiVersion": version} if message.type == "request" else {}
    front, more = header.encode({**named, **(values.get("header") or {})})
    moved = tuple(msgspec.structs.replace(problem, offset=problem.offset + len(front)) for problem in problems)
    return _encoded(message.name, version, number, front + body, (*more, *moved))


def _encoded(
    name: str, version: int, header: int | None, data: bytes, problems: tuple[ByteProblem, ...]
) -> EncodedObject:
    return EncodedObject(
        message=name or None,
        version=version if version >= 0 else None,
        header_version=header,
        hex=None if problems else data.hex(),
        length=0 if problems else len(data),
        problems=problem_objects(problems),
    )


def _chosen(catalog: Catalog, values: Any) -> tuple[Message, int]:
    if not isinstance(values, dict):
        raise BadInput("a line must be a JSON object")
    if values.get("direction") is not None:
        if values["direction"] not in ("request", "response"):
            raise BadInput('"direction" must be "request" or "response"')
        key, version = _number(values, "api_key"), _number(values, "api_version")
        version = 0 if _falls_back(values) else version
        messages = catalog.keyed(values["direction"], key)
        what = f"{values['direction']} with the API key {key}"
    else:
        name, version = _text(values, "message"), _number(values, "version")
        messages = catalog.named(name)
        what = name
    message = having(messages, version)
    if message is None:
        raise BadInput(f"no set has {messages[0].name if messages else what}{f' {version}' if messages else ''}")
    return message, version


def _falls_back(values: dict[str, Any]) -> bool:
    value = values.get("value")
    unsupported = isinstance(value, dict) and value.get("errorCode") == UNSUPPORTED_VERSION
    return values["direction"] == "response" and values["api_key"] == API_VERSIONS and unsupported


def hex_bytes(text: Any) -> bytes:
    """The bytes of hexadecimal digits, which blanks may separate. Raises BadInput."""
    if not isinstance(text, str):
        raise BadInput('"hex" must be text')
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise BadInput('"hex" must be pairs of hexadecimal digits') from None


def _text(values: dict[str, Any], key: str) -> str:
    if not isinstance(values.get(key), str):
        raise BadInput(f'"{key}" must be text')
    return str(values[key])


def _number(values: dict[str, Any], key: str) -> int:
    value = values.get(key)
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadInput(f'"{key}" must be a number')
    return value
