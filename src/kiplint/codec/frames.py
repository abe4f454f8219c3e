"""Frames without their length: a header, then a body, both chosen by API key and version."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from kiplint.codec.catalog import Catalog, having
from kiplint.codec.codec import Codec, errors_in
from kiplint.codec.fast import READ_FAILURES
from kiplint.codec.problems import ByteProblem
from kiplint.codec.wire import ELEMENTS, ValueSpan
from kiplint.limits import FRAME_BYTES
from kiplint.model.error_codes import ErrorCode, error_of
from kiplint.model.message import Message
from kiplint.text.words import did_you_mean, in_bytes
from kiplint.versions import VersionRange

Direction = Literal["request", "response"]
API_VERSIONS, UNSUPPORTED_VERSION = 18, 35


class FieldError(ErrorCode, frozen=True):
    """An error code in a message."""

    field: Annotated[str, Meta(description="The path of the field.")]


class Frame(msgspec.Struct, frozen=True):
    """What a frame, or a body alone, has; the header's parts are None for a body.

    `message` is the message's name, empty when it is not known; `body_start` is where the body begins; `version` is
    the version that the body was read in; `errors` has the error codes but 0, `redacted` the paths of secrets.
    """

    message: str
    version: int
    header_version: int | None
    header: dict[str, Any] | None
    value: dict[str, Any] | None
    length: int
    problems: tuple[ByteProblem, ...]
    body_start: int = 0
    spans: tuple[ValueSpan, ...] = ()
    errors: tuple[FieldError, ...] = ()
    redacted: tuple[str, ...] = ()


def unread_frame(problem: ByteProblem, length: int, name: str = "", version: int = -1) -> Frame:
    """A frame of which nothing could be read, because of a problem."""
    return Frame(name, version, None, None, None, length, (problem,))


def decode_body(catalog: Catalog, name: str, version: int, data: bytes, *, spans: bool = False) -> Frame:
    """Read a body without header."""
    messages = catalog.with_name(name)
    message = having(messages, version)
    if message is None:
        if messages:
            problem = _unknown_version(messages, version, 0)
        else:
            problem = ByteProblem("codec/unknown-message", 0, f"no set has {name}{did_you_mean(name, catalog.names)}")
        return unread_frame(problem, len(data), name if messages else "", version)
    return _body(catalog, message, version, data, Frame(message.name, version, None, None, None, len(data), ()), spans)


def decode_request(catalog: Catalog, data: bytes, *, spans: bool = False) -> Frame:
    """Read a request, which names its API and version itself."""
    if len(data) < 4:
        problem = ByteProblem("codec/truncated", 0, f"the frame has {in_bytes(len(data))}; API key and version take 4")
        return unread_frame(problem, len(data))
    api_key, version = struct.unpack_from(">hh", data)
    return _decode_frame(catalog, "request", api_key, version, data, spans)


def decode_response(catalog: Catalog, api_key: int, version: int, data: bytes, *, spans: bool = False) -> Frame:
    """Read a response to a request of that API and version; a response to ApiVersions may be in version 0 (KIP-511)."""
    frame = _decode_frame(catalog, "response", api_key, version, data, spans)
    code = data[4:6]
    if api_key != API_VERSIONS or version == 0 or code != UNSUPPORTED_VERSION.to_bytes(2, "big"):
        return frame
    fallback = _decode_frame(catalog, "response", api_key, 0, data, spans)
    if not fallback.problems:
        return fallback
    first = fallback.problems[0]
    text = "UNSUPPORTED_VERSION has to be answered in version 0 (KIP-511)"
    if not frame.problems:
        problem = ByteProblem("codec/fallback-version", first.offset, f"{text}; this is version {version}")
        return replace(frame, problems=(problem,))
    # The bytes are not of the requested version either: report the problems of version 0 too.
    problem = ByteProblem("codec/fallback-version", first.offset, f"{text}; these bytes are not, nor version {version}")
    return replace(fallback, problems=(problem, *fallback.problems))


def _decode_frame(catalog: Catalog, kind: Direction, api_key: int, version: int, data: bytes, spans: bool) -> Frame:
    codecs = None if spans else catalog.codecs(kind, api_key, version)
    if codecs:
        number, header, body = codecs
        before = ELEMENTS.left
        try:
            head, start = header.reader(data, 0)
            value, end = body.reader(data, start)
        except READ_FAILURES:
            end = -1
        if end == len(data):
            errors = _errors(catalog, body, value)
            return Frame(body.message.name, version, number, head, value, end, (), start, (), errors)
        ELEMENTS.left = before
    messages = catalog.with_key(kind, api_key)
    message = having(messages, version)
    if message is None and messages:
        problem = _unknown_version(messages, version, 2 if kind == "request" else 0)
        return unread_frame(problem, len(data), messages[0].name, version)
    if message is None:
        problem = ByteProblem("codec/unknown-api-key", 0, f"no set has a {kind} with the API key {api_key}")
        return unread_frame(problem, len(data), "", version)
    number, codec = catalog.header(message, version)
    if codec is None:
        text = f"{message.name} {version} has no header" if number < 0 else f"no set has {kind} header {number}"
        return unread_frame(ByteProblem("codec/header-unknown", 0, text), len(data), message.name, version)
    if codec.unusable:
        problem = ByteProblem("codec/layout-unusable", 0, codec.unusable)
        return Frame(message.name, version, number, None, None, len(data), (problem,))
    front = codec.decode(data, whole=False, spans=spans)
    frame = Frame(message.name, version, number, front.value, None, len(data), front.problems, front.end, front.spans)
    if any(problem.rule in _FATAL for problem in front.problems):
        return frame
    return _body(catalog, message, version, data, frame, spans)


def _body(catalog: Catalog, message: Message, version: int, data: bytes, frame: Frame, spans: bool) -> Frame:
    codec, start = catalog.codec(message, version), frame.body_start
    if codec.unusable:
        unusable = ByteProblem("codec/layout-unusable", start, codec.unusable)
        return replace(frame, problems=(*frame.problems, unusable))
    body = codec.decode(data, start, spans=spans)
    problems = body.problems
    if problems and problems[0].rule != "codec/too-many-elements":
        problems = (_with_hint(catalog, codec, data, start, problems[0]), *problems[1:])
    return replace(
        frame,
        value=body.value,
        problems=(*frame.problems, *problems),
        spans=(*frame.spans, *body.spans),
        errors=_errors(catalog, codec, body.value),
    )


def _errors(catalog: Catalog, codec: Codec, value: dict[str, Any]) -> tuple[FieldError, ...]:
    errors = ((path, error_of(code, catalog.errors)) for path, code in errors_in(codec.error_fields, value))
    return tuple(FieldError(error.code, error.name, error.retriable, path) for path, error in errors)


def _with_hint(catalog: Catalog, codec: Codec, data: bytes, start: int, problem: ByteProblem) -> ByteProblem:
    """Add the other version of the message that reads the bytes to the last, if there is one."""
    message, version = codec.message, codec.version
    candidates = [version + step for near in range(1, 8) for step in (-near, near)]
    for other in candidates:
        if other in message.valid and catalog.codec(message, other).reads(data, start):
            text = f"{problem.message}; as version {other} the body reads to its last byte"
            return replace(problem, message=text)
    return problem


MOST_GUESSED = 2**16
MOST_NAMES = 3
"""How many messages are named that a frame may be."""


def with_readings(catalog: Catalog, frame: Frame, data: bytes, claim: Direction) -> Frame:
    """Add to a frame's first problem the messages of the other direction that read to its last byte."""
    hinted = any("reads to its last byte" in problem.message for problem in frame.problems)
    if not frame.problems or hinted or len(data) > MOST_GUESSED or frame.problems[0].rule == "codec/too-many-elements":
        return frame
    if claim == "response":
        request = decode_request(catalog, data)
        names = [] if request.problems else [f"{request.message} {request.version}"]
    else:
        names = _responses(catalog, data)
    if not names:
        return frame
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    first_names = ", ".join(names[:MOST_NAMES])
    other = "request" if claim == "response" else "response"
    text = f"{frame.problems[0].message}; as a {other} the frame reads to its last byte: {first_names}{more}"
    return replace(frame, problems=(replace(frame.problems[0], message=text), *frame.problems[1:]))


def _responses(catalog: Catalog, data: bytes) -> list[str]:
    """The responses that a frame may be, those with the most values first, each with its highest such version."""
    readings: dict[str, tuple[int, str]] = {}
    messages = (message for key in catalog.api_keys for message in catalog.with_key("response", key))
    for message in messages if len(data) > 4 else ():
        for version in range(message.valid.highest, max(message.valid.lowest, message.valid.highest - 40) - 1, -1):
            _, header = catalog.header(message, version)
            front = None if header is None or header.unusable else header.decode(data, whole=False)
            if front is None or front.problems or message.name in readings:
                continue
            if (body := catalog.codec(message, version)).reads(data, front.end):
                value = body.read(data[front.end :])
                readings[message.name] = (-len(msgspec.json.encode(value)), f"{message.base_name}@{version}")
    return [text for _, text in sorted(readings.values())]


_FATAL = (
    "codec/truncated",
    "codec/length-beyond-end",
    "codec/length-negative",
    "codec/varint-too-large",
    "codec/too-many-elements",
)
"""The rules of problems after which nothing can be read."""


def _unknown_version(messages: list[Message], version: int, offset: int) -> ByteProblem:
    versions = VersionRange(pair for message in messages for pair in message.valid.intervals)
    text = f"no set has {messages[0].name} {version}; the versions are {versions}"
    return ByteProblem("codec/unknown-version", offset, text)


class StreamFrame(NamedTuple):
    """One frame of a stream: where its length stands, its bytes without that, and what is wrong with its length."""

    offset: int
    data: bytes
    problem: ByteProblem | None = None


def split(data: bytes) -> Iterator[StreamFrame]:
    """The frames of a stream, up to the first with an impossible length."""
    pos = 0
    while pos < len(data):
        size = int.from_bytes(data[pos : pos + 4], "big", signed=True)
        room = len(data) - pos - 4
        if room < 0:
            rule, text = "truncated", f"the stream ends inside the length of a frame: {room + 4} of 4 bytes"
        elif size < 0:
            rule, text = "length-negative", f"the length of the frame is {size}"
        elif size > FRAME_BYTES:
            rule, text = "too-large", f"the length of the frame is {size}; {FRAME_BYTES} bytes are the most"
        elif size > room:
            rule, text = "length-beyond-end", f"the length of the frame is {size}, {in_bytes(room, 'is', 'are')} left"
        else:
            yield StreamFrame(pos, data[pos + 4 : pos + 4 + size])
            pos += 4 + size
            continue
        rest = data[pos + 4 :] if rule == "length-beyond-end" else b""
        yield StreamFrame(pos, rest, ByteProblem(f"codec/{rule}", 0, text))
        return
