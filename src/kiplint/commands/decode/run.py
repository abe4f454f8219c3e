"""Decoding of a body, and of JSON lines with bodies and frames."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Final, Literal, TextIO

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from kiplint.codec.codec import Codec
from kiplint.codec.rows import ValueRow, is_error_field, value_rows
from kiplint.codec.wire import ByteProblem, ValueSpan
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.model.error_codes import UNSUPPORTED_VERSION, ErrorCode, error_of
from kiplint.model.headers import API_VERSIONS, header_of
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.render.report import RunResult
from kiplint.render.table import BOLD, DIM, SEVERITY, fold, paint, table, width_of
from kiplint.sources.open import open_sets
from kiplint.text.decode import NOT_JSON
from kiplint.text.words import did_you_mean, in_bytes
from kiplint.versions import VersionRange

Direction = Literal["request", "response"]
HEADERS: Final = {"request": "RequestHeader", "response": "ResponseHeader"}
MOST_ROWS = 10_000
"""The number of values of a body that text shows."""


class FieldError(ErrorCode, frozen=True):
    """An error code in a message."""

    field: Annotated[str, Meta(description="The path of the field.")]


class DecodedObject(msgspec.Struct, frozen=True):
    """A decoded frame or body."""

    message: Annotated[str | None, Meta(description="Null where the message is unknown.")]
    version: int | None
    header_version: Annotated[int | None, Meta(description="Null for a body without a header.")]
    header: dict[str, Any] | None
    value: Annotated[dict[str, Any] | None, Meta(description="Null where nothing could be decoded.")]
    length: Annotated[int, Meta(description="In bytes.")]
    problems: tuple[ByteProblem, ...]
    errors: Annotated[
        tuple[FieldError, ...] | UnsetType,
        Meta(description="The error codes that are not 0; absent if there are none."),
    ] = UNSET


class DecodeSummary(msgspec.Struct, frozen=True):
    """The numbers of frames and bodies, and of problems in them."""

    frames: int
    problems: int


class DecodeDocument(msgspec.Struct, frozen=True):
    """What `kiplint decode --output-format json` writes."""

    version: Literal[1]
    frames: tuple[DecodedObject, ...]
    summary: DecodeSummary


DOCUMENTS: Final = {"decode": DecodeDocument}


class DecodedMessage(msgspec.Struct, frozen=True):
    """A body, or a frame, which is a header and a body. What could not be read is None.

    `spans` are the places of the values in `data`, `line` is the line of the input, 0 for a body alone.
    """

    data: bytes
    message: str | None = None
    version: int | None = None
    header_version: int | None = None
    header: dict[str, Any] | None = None
    value: dict[str, Any] | None = None
    problems: tuple[ByteProblem, ...] = ()
    spans: tuple[ValueSpan, ...] = ()
    line: int = 0

    @property
    def document(self) -> DecodedObject:
        """The JSON object."""
        return DecodedObject(
            self.message,
            self.version,
            self.header_version,
            self.header,
            self.value,
            len(self.data),
            self.problems,
            tuple(_errors(self.value or {})) or UNSET,
        )


def _errors(value: Mapping[str, Any], path: str = "") -> Iterator[FieldError]:
    """The error codes in decoded values but 0, at every depth."""
    for key, content in value.items():
        if isinstance(content, int) and content and is_error_field(key):
            error = error_of(content)
            yield FieldError(error.code, error.name, error.retriable, f"{path}{key}")
        elif isinstance(content, dict):
            yield from _errors(content, f"{path}{key}.")
        elif isinstance(content, list):
            for index, element in enumerate(content):
                if isinstance(element, dict):
                    yield from _errors(element, f"{path}{key}[{index}].")


class DecodeResult(RunResult, frozen=True):
    """Decoded bodies and frames. `status` is `findings` where bytes have problems."""

    entries: tuple[DecodedMessage, ...]
    """The bodies and frames, in order."""

    command = "decode"
    listing = "frames"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.decode.run:write"}

    @property
    def document(self) -> DecodeDocument:
        """The JSON document."""
        frames = tuple(entry.document for entry in self.entries)
        return DecodeDocument(1, frames, DecodeSummary(len(frames), sum(len(frame.problems) for frame in frames)))


def decode(message: str, data: bytes, *, sets: Sequence[Path] = (".",), repository: Path | None = None) -> DecodeResult:
    """Decode the body of a message (MESSAGE@VERSION); the first set that has the version counts.

    The status is `findings` where the bytes have problems. Raises UsageError for an unknown message or version, and
    SourceError for a set that cannot be opened.
    """
    name, at, version = message.partition("@")
    if not (name and at and version.isascii() and version.isdecimal() and len(version) < 6):
        raise UsageError(f"{message} is not MESSAGE@VERSION, such as MetadataRequest@12")
    messages = _Messages(sets, repository)
    entry = _decode_body(messages, name, int(version), data)
    if entry.problems and entry.problems[0].rule.startswith("codec/unknown-"):
        raise UsageError(entry.problems[0].message)
    return _result([entry], messages)


def decode_lines(data: bytes, *, sets: Sequence[Path] = (".",), repository: Path | None = None) -> DecodeResult:
    """Decode each line of JSON, a body or a frame; empty lines are skipped. Raises SourceError."""
    messages = _Messages(sets, repository)
    lines = enumerate(io.BytesIO(data), 1)
    entries = (replace(_decode_line(messages, line), line=number) for number, line in lines if line.strip())
    return _result(entries, messages)


def _result(entries: Iterable[DecodedMessage], messages: _Messages) -> DecodeResult:
    entries, broken = tuple(entries), tuple(messages.broken)
    has_problems = any(entry.problems for entry in entries)
    return DecodeResult(
        status="error" if broken else "findings" if has_problems else "ok", broken=broken, entries=entries
    )


class BytesLine(msgspec.Struct, frozen=True):
    """A line of JSON: a body has `message` and `version`, a frame `direction`, `api_key` and `api_version`.

    Other properties are skipped when it is parsed, so that they take no memory.
    """

    hex: str
    direction: Direction | None = None
    api_key: int | None = None
    api_version: int | None = None
    message: str | None = None
    version: int | None = None


def _decode_line(messages: _Messages, text: bytes) -> DecodedMessage:
    try:
        line = msgspec.json.decode(text, type=BytesLine)
        data = bytes.fromhex(line.hex)
    except msgspec.ValidationError as error:
        return _unreadable_line(f"the line is not a body or frame: {error}")
    except NOT_JSON as error:
        return _unreadable_line(f"the line is not JSON: {error}")
    except ValueError:
        return _unreadable_line('"hex" must be pairs of hexadecimal digits')
    if line.direction == "request":
        return _decode_request(messages, data)
    if line.direction == "response" and line.api_key is not None and line.api_version is not None:
        return _decode_response(messages, line.api_key, line.api_version, data)
    if line.direction is None and line.message is not None and line.version is not None:
        return _decode_body(messages, line.message, line.version, data)
    return _unreadable_line('a body has "message" and "version", a frame "direction", "api_key" and "api_version"')


def _unreadable_line(reason: str) -> DecodedMessage:
    return DecodedMessage(b"", problems=(ByteProblem("codec/input-invalid", 0, reason),))


def _decode_body(messages: _Messages, name: str, version: int, data: bytes) -> DecodedMessage:
    candidates = messages.by_name.get(name, [])
    message = _having(candidates, version)
    if message:
        return _with_body(messages, message, version, DecodedMessage(data, name, version), 0)
    if candidates:
        return DecodedMessage(data, name, version, problems=(_unknown_version(candidates, version, 0),))
    problem = ByteProblem("codec/unknown-message", 0, f"no set has {name}{did_you_mean(name, messages.by_name)}")
    return DecodedMessage(data, None, version, problems=(problem,))


def _decode_request(messages: _Messages, data: bytes) -> DecodedMessage:
    """Read a request, which begins with its API key and version."""
    if len(data) < 4:
        problem = ByteProblem("codec/truncated", 0, f"the frame has {in_bytes(len(data))}; API key and version take 4")
        return DecodedMessage(data, problems=(problem,))
    api_key, version = (int.from_bytes(data[start : start + 2], "big", signed=True) for start in (0, 2))
    return _decode_frame(messages, "request", api_key, version, data)


def _decode_response(messages: _Messages, api_key: int, version: int, data: bytes) -> DecodedMessage:
    """Read a response to a request of that API and version; ApiVersions answers others in version 0 (KIP-511)."""
    is_fallback = api_key == API_VERSIONS and data[4:6] == UNSUPPORTED_VERSION.code.to_bytes(2, "big")
    return _decode_frame(messages, "response", api_key, 0 if is_fallback else version, data)


def _decode_frame(messages: _Messages, kind: Direction, api_key: int, version: int, data: bytes) -> DecodedMessage:
    candidates = messages.by_key.get((kind, api_key), [])
    message = _having(candidates, version)
    if message is None:
        if candidates:
            problem = _unknown_version(candidates, version, 2 if kind == "request" else 0)
            return DecodedMessage(data, candidates[0].name, version, problems=(problem,))
        problem = ByteProblem("codec/unknown-api-key", 0, f"no set has a {kind} with the API key {api_key}")
        return DecodedMessage(data, None, version, problems=(problem,))
    number = header_of(message, version)
    header = messages.header(message, number)
    frame = DecodedMessage(data, message.name, version)
    if header is None:
        text = f"{message.name} {version} has no header" if number < 0 else f"no set has {kind} header {number}"
        return replace(frame, problems=(ByteProblem("codec/header-unknown", 0, text),))
    codec = messages.codec(header, number)
    frame = replace(frame, header_version=number)
    if codec.unusable:
        return replace(frame, problems=(ByteProblem("codec/layout-unusable", 0, codec.unusable),))
    front = codec.decode(data, whole=False, spans=True)
    frame = replace(frame, header=front.value, problems=front.problems, spans=front.spans)
    return _with_body(messages, message, version, frame, front.end) if front.is_complete else frame


def _with_body(
    messages: _Messages, message: Message, version: int, frame: DecodedMessage, start: int
) -> DecodedMessage:
    """Add the values from a position to the end of the bytes."""
    codec = messages.codec(message, version)
    if codec.unusable:
        return replace(frame, problems=(*frame.problems, ByteProblem("codec/layout-unusable", start, codec.unusable)))
    body = codec.decode(frame.data, start, spans=True)
    problems = body.problems
    if problems and (other := _other_version(messages, message, version, frame.data[start:])) is not None:
        hint = f"{problems[0].message}; as version {other} the body reads to its last byte"
        problems = (replace(problems[0], message=hint), *problems[1:])
    spans = (*frame.spans, *body.spans)
    return replace(frame, value=body.value, problems=(*frame.problems, *problems), spans=spans)


def _other_version(messages: _Messages, message: Message, version: int, data: bytes) -> int | None:
    """The nearest other version that reads the bytes without a problem, if one within 7 does."""
    for other in (version + step for distance in range(1, 8) for step in (-distance, distance)):
        if other in message.valid:
            codec = messages.codec(message, other)
            if not codec.unusable and not codec.decode(data).problems:
                return other
    return None


def _unknown_version(candidates: Sequence[Message], version: int, offset: int) -> ByteProblem:
    versions = VersionRange(pair for message in candidates for pair in message.valid.intervals)
    text = f"no set has {candidates[0].name} {version}; the versions are {versions}"
    return ByteProblem("codec/unknown-version", offset, text)


def _having(candidates: Iterable[Message], version: int) -> Message | None:
    """The first of the messages that has the version."""
    return next((message for message in candidates if version in message.valid), None)


class _Messages:
    """The messages of several sets by name, and by type and API key, those of the first set first.

    `broken` are the paths of the definitions that cannot be read.
    """

    def __init__(self, sets: Sequence[Path], repository: Path | None) -> None:
        self.by_name: dict[str, list[Message]] = {}
        self.by_key: dict[tuple[str, int | None], list[Message]] = {}
        self.broken: list[str] = []
        self._codecs: dict[tuple[int, int], Codec] = {}
        place = os.fspath(repository) if repository else None
        for name in sets:
            for files in open_sets([os.fspath(name)], lambda path: True, repository=place):
                definitions = [load(file.path, file.data) for file in files.files]
                self.broken += [definition.file for definition in definitions if definition.message is None]
                for message in SchemaSet(tuple(item.message for item in definitions if item.message)).messages:
                    self.by_name.setdefault(message.name, []).append(message)
                    self.by_key.setdefault((message.type, message.api_key), []).append(message)

    def header(self, message: Message, number: int) -> Message | None:
        """The header of that version, from the set of the request or response if it has one."""
        name = HEADERS[message.type]
        candidates = [message.schemas.by_name.get(name), *self.by_name.get(name, [])]
        return _having((candidate for candidate in candidates if candidate and candidate.type == "header"), number)

    def codec(self, message: Message, version: int) -> Codec:
        """The codec of a version of a message, made once."""
        key = (id(message), version)
        if key not in self._codecs:
            self._codecs[key] = Codec(message, version)
        return self._codecs[key]


def write(result: DecodeResult, out: TextIO, *, color: bool) -> None:
    """Write each body and frame as a table of its values, and its problems."""
    parts = ["\n".join(_lines(entry, color, width_of(out))) for entry in result.entries]
    out.write("\n\n".join(parts) + "\n" if parts else "")


def _lines(entry: DecodedMessage, color: bool, width: int | None) -> Iterator[str]:
    name = f"{entry.message} {entry.version}" if entry.message else "unknown frame"
    header = f", header {entry.header_version}" if entry.header_version is not None else ""
    line = f", line {entry.line}" if entry.line else ""
    yield from fold(f"{name}{header}, {in_bytes(len(entry.data))}{line}", width, color, BOLD)
    offsets = [problem.offset for problem in entry.problems]
    rows = value_rows(entry.data, entry.spans, offsets, MOST_ROWS + 1)
    yield from table(("offset", "bytes", "field", "encoding", "value"), map(_cells, rows[:MOST_ROWS]), color, width)
    if len(rows) > MOST_ROWS:
        yield from fold(f"... and more: of these values only the first {MOST_ROWS:,} are shown; JSON has all", width)
    for problem in entry.problems:
        label = f"error[{problem.rule}]"
        field = f"{problem.field}: " if problem.field else ""
        first, *more = fold(f"{label} at byte {problem.offset}: {field}{problem.message}", width)
        yield first.replace(label, paint(label, SEVERITY["error"], color), 1)
        yield from more


def _cells(row: ValueRow) -> list[tuple[str, str]]:
    mark = SEVERITY["error"] if row.wrong is not None else ""
    return [
        (str(row.offset).rjust(6), mark or DIM),
        (row.data.hex(" ") + " ..." * row.is_cut, mark),
        ("  " * row.depth + row.field, mark),
        (row.type, DIM),
        (row.value, mark),
    ]
