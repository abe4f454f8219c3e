"""`kiplint decode`: a body of a message, or JSON lines with bodies and frames, as values with their problems."""

from __future__ import annotations

import io
import os
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple, TextIO

import msgspec
import typer
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from kiplint.cli.options import RepositoryOption, SetsOption
from kiplint.cli.output import present
from kiplint.codec.codec import Codec, UnusableLayout
from kiplint.codec.wire import ByteProblem, DecodedBody, ValueSpan
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.limits import INPUT_BYTES
from kiplint.model.error_codes import UNSUPPORTED_VERSION, ErrorCode, error_of
from kiplint.model.headers import API_VERSIONS, header_of
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.render.report import RunResult
from kiplint.render.table import BOLD, DIM, SEVERITY, Cell, fold, paint, table, width_of
from kiplint.sources.disk import STDIN, read_input
from kiplint.sources.open import open_sets
from kiplint.text.decode import NOT_JSON
from kiplint.text.words import did_you_mean, in_bytes
from kiplint.versions import VersionRange

ERROR_FIELDS: Final = ("errorCode", "ErrorCode")
"""The ends of the names of error codes."""
HEADERS: Final = {"request": "RequestHeader", "response": "ResponseHeader"}
MOST_BYTES, MOST_TEXT = 16, 60
"""The number of bytes of a value that text shows, and of characters."""


EPILOG = """\b
Examples:
  kiplint decode MetadataResponse@12 body.bin --set clients/
  kiplint decode MetadataRequest@12 --set 4.1.0: < body.hex
  kiplint decode --set . --input-format jsonl lines.jsonl --output-format jsonl"""


def command(
    message: Annotated[
        str | None,
        typer.Argument(
            metavar="[MESSAGE@VERSION|FILE]",
            help="The message of the body and its version; with --input-format jsonl the file with the lines.",
        ),
    ] = None,
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="The file with the bytes, - for standard input.")
    ] = STDIN,
    sets: SetsOption = None,
    input_format: Annotated[
        Literal["auto", "hex", "binary", "jsonl"],
        typer.Option(
            help="The form of the input: a body in hexadecimal digits or in binary, or a JSON object a line, with a "
            "body or a frame. auto takes hexadecimal digits for such."
        ),
    ] = "auto",
    repository: RepositoryOption = None,
    output_format: Annotated[Literal["text", "json", "jsonl"], typer.Option(help="The format of the result.")] = "text",
) -> int:
    """Decode the bytes of a message, and report what is wrong with them.

    A JSON line has a body, `message`, `version` and `hex`; or a frame without its length, `direction`, `api_key`,
    `api_version` and `hex`. Exit codes: 0 all decoded, 1 bytes have problems, 2 something could not be read or
    understood.
    """
    if input_format == "jsonl":
        if file != STDIN:
            raise UsageError("--input-format jsonl takes a file alone: each line has its message")
        lines = read_input(message or STDIN, INPUT_BYTES)
        return present(decode_lines(lines, sets=sets or (".",), repository=repository), output_format, "auto")
    if message is None:
        raise UsageError("decode takes MESSAGE@VERSION, or JSON lines with --input-format jsonl")
    data = read_body(file, input_format)
    return present(decode(message, data, sets=sets or (".",), repository=repository), output_format, "auto")


def read_body(file: str, form: str) -> bytes:
    """The bytes of a body in a file, or in standard input for `-`. Raises UsageError and SourceError."""
    data = read_input(file, INPUT_BYTES)
    if form == "binary" or (form == "auto" and not re.fullmatch(rb"\s*+(?:0x)?[0-9a-fA-F\s:]*+", data)):
        return data
    try:
        return bytes.fromhex(re.sub(rb"[\s:]", b"", data).removeprefix(b"0x").decode())
    except ValueError:
        raise UsageError(f"{file}: not pairs of hexadecimal digits") from None


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


class Frame(NamedTuple):
    """A decoded frame or body, its bytes, the positions of its values, and its line in the input or 0."""

    decoded: DecodedObject
    data: bytes
    spans: tuple[ValueSpan, ...] = ()
    line: int = 0


class DecodeResult(RunResult, frozen=True):
    """Decoded bodies and frames. `status` is `findings` where bytes have problems."""

    frames: tuple[Frame, ...]
    """The bodies and frames, in order."""

    command = "decode"
    listing = "frames"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.decode:write"}

    @property
    def document(self) -> DecodeDocument:
        """The JSON document."""
        frames = tuple(frame.decoded for frame in self.frames)
        return DecodeDocument(1, frames, DecodeSummary(len(frames), sum(len(frame.problems) for frame in frames)))


def decode(message: str, data: bytes, *, sets: Sequence[Path] = (".",), repository: Path | None = None) -> DecodeResult:
    """Decode the body of a message (MESSAGE@VERSION); the first set that has the version counts.

    The status is `findings` where the bytes have problems. Raises UsageError for an unknown message or version, and
    SourceError for a set that cannot be opened.
    """
    match = re.fullmatch("([^@]+)@([0-9]{1,5})", message)
    if match is None:
        raise UsageError(f"{message} is not MESSAGE@VERSION, such as MetadataRequest@12")
    messages = _Messages(sets, repository)
    try:
        frame = messages.body(match[1], int(match[2]), data)
    except _Undecodable as error:
        raise UsageError(str(error)) from None
    return messages.result([frame])


def decode_lines(data: bytes, *, sets: Sequence[Path] = (".",), repository: Path | None = None) -> DecodeResult:
    """Decode each line of JSON, a body or a frame; empty lines are skipped. Raises SourceError."""
    messages = _Messages(sets, repository)
    lines = enumerate(io.BytesIO(data), 1)
    return messages.result([messages.line(text)._replace(line=number) for number, text in lines if text.strip()])


class BytesLine(msgspec.Struct, frozen=True):
    """A line of JSON: a body has `message` and `version`, a frame `direction`, `api_key` and `api_version`.

    Other properties are skipped when it is parsed, so that they take no memory.
    """

    hex: str = ""
    direction: Literal["request", "response"] | None = None
    api_key: int | None = None
    api_version: int | None = None
    message: str | None = None
    version: int | None = None


class _Undecodable(Exception):  # noqa: N818
    """Why nothing of a frame or body can be decoded: the rule, and the message and version as far as they are known."""

    def __init__(
        self, rule: str, text: str, name: str | None = None, version: int | None = None, offset: int = 0
    ) -> None:
        super().__init__(text)
        self.name, self.version = name, version
        self.problem = ByteProblem(f"codec/{rule}", offset, text)


class _Messages:
    """The messages of several sets, those of the first set first, and the codecs of their versions."""

    def __init__(self, sets: Sequence[Path], repository: Path | None) -> None:
        self.by_name: dict[str, list[Message]] = {}
        self.by_key: dict[tuple[str, int | None], list[Message]] = {}
        self.unread_paths: list[str] = []
        self.codec = cache(Codec)
        home = os.fspath(repository) if repository else None
        for files in (files for name in sets for files in open_sets([os.fspath(name)], bool, repository=home)):
            definitions = [load(file.path, file.data) for file in files.files]
            self.unread_paths += [definition.file for definition in definitions if definition.message is None]
            for message in SchemaSet(tuple(item.message for item in definitions if item.message)).messages:
                self.by_name.setdefault(message.name, []).append(message)
                self.by_key.setdefault((message.type, message.api_key), []).append(message)

    def result(self, frames: Sequence[Frame]) -> DecodeResult:
        """The result, whose status tells of problems, and of definitions that cannot be read."""
        has_problems = any(frame.decoded.problems for frame in frames)
        status: Literal["ok", "findings", "error"] = "findings" if has_problems else "ok"
        return DecodeResult(
            frames=tuple(frames),
            status="error" if self.unread_paths else status,
            unparsable=tuple(self.unread_paths),
        )

    def line(self, text: bytes) -> Frame:
        """Decode a line of JSON."""
        data = b""
        try:
            line = msgspec.json.decode(text, type=BytesLine)
            data = bytes.fromhex(line.hex)
            if line.direction == "request":
                return self.request(data)
            if line.direction == "response" and line.api_key is not None and line.api_version is not None:
                return self.response(line.api_key, line.api_version, data)
            if line.direction is None and line.message is not None and line.version is not None:
                return self.body(line.message, line.version, data)
            reason = 'a body has "message" and "version", a frame "direction", "api_key" and "api_version"'
        except _Undecodable as error:
            return Frame(DecodedObject(error.name, error.version, None, None, None, len(data), (error.problem,)), data)
        except msgspec.ValidationError as error:
            reason = f"the line is not a body or frame: {error}"
        except NOT_JSON as error:
            reason = f"the line is not JSON: {error}"
        except ValueError:
            reason = '"hex" must be pairs of hexadecimal digits'
        return Frame(
            DecodedObject(None, None, None, None, None, 0, (ByteProblem("codec/input-invalid", 0, reason),)), b""
        )

    def request(self, data: bytes) -> Frame:
        """Decode a request with its header. Raises _Undecodable, as the others do."""
        if len(data) < 4:
            text = f"the frame has {in_bytes(len(data))}; API key and version take 4"
            raise _Undecodable("truncated", text)
        api_key, version = struct.unpack_from(">hh", data)
        return self.frame("request", api_key, version, data)

    def response(self, api_key: int, version: int, data: bytes) -> Frame:
        """Decode a response with its header; ApiVersions answers an unsupported version in version 0 (KIP-511)."""
        is_fallback = api_key == API_VERSIONS and data[4:6] == UNSUPPORTED_VERSION.code.to_bytes(2, "big")
        return self.frame("response", api_key, 0 if is_fallback else version, data)

    def frame(self, kind: str, api_key: int, version: int, data: bytes) -> Frame:
        """Decode a header and the body behind it."""
        candidates = self.by_key.get((kind, api_key), [])
        if not candidates:
            raise _Undecodable("unknown-api-key", f"no set has a {kind} with the API key {api_key}", version=version)
        message = _having(candidates, version, 2 if kind == "request" else 0)
        number = header_of(message, version)
        headers = [message.schemas.by_name.get(HEADERS[kind]), *self.by_name.get(HEADERS[kind], [])]
        header = next((item for item in headers if item and item.type == "header" and number in item.valid), None)
        if header is None:
            text = f"{message.name} {version} has no header" if number < 0 else f"no set has {kind} header {number}"
            raise _Undecodable("header-unknown", text, message.name, version)
        front, problems = _read(self.codec(header, number), data, 0, whole=False)
        if front is None or not front.is_complete:
            value = front.value if front else None
            decoded = DecodedObject(message.name, version, number, value, None, len(data), tuple(problems))
            return Frame(decoded, data, front.spans if front else ())
        frame = self.of(message, version, data, front.end)
        decoded = replace(
            frame.decoded,
            header_version=number,
            header=front.value,
            problems=(*problems, *frame.decoded.problems),
        )
        return frame._replace(decoded=decoded, spans=(*front.spans, *frame.spans))

    def body(self, name: str, version: int, data: bytes) -> Frame:
        """Decode a body."""
        candidates = self.by_name.get(name, [])
        if not candidates:
            text = f"no set has {name}{did_you_mean(name, self.by_name)}"
            raise _Undecodable("unknown-message", text, version=version)
        return self.of(_having(candidates, version), version, data)

    def of(self, message: Message, version: int, data: bytes, start: int = 0) -> Frame:
        """Decode a body that begins at an offset."""
        body, problems = _read(self.codec(message, version), data, start, whole=True)
        value = body.value if body else None
        if body and problems:
            hint = self._hint(message, version, data[start:])
            problems[0] = replace(problems[0], message=problems[0].message + hint)
        errors = tuple(_errors(value or {})) or UNSET
        decoded = DecodedObject(message.name, version, None, None, value, len(data), tuple(problems), errors)
        return Frame(decoded, data, body.spans if body else ())

    def _hint(self, message: Message, version: int, data: bytes) -> str:
        """The nearest other version that reads the bytes without a problem, if one within 7 does."""
        for other in (version + step for distance in range(1, 8) for step in (-distance, distance)):
            with suppress(UnusableLayout):
                if other in message.valid and not self.codec(message, other).decode(data).problems:
                    return f"; as version {other} the body reads to its last byte"
        return ""


def _read(codec: Codec, data: bytes, start: int, *, whole: bool) -> tuple[DecodedBody | None, list[ByteProblem]]:
    """What a codec reads, and its problems; nothing for a layout that cannot be used."""
    try:
        body = codec.decode(data, start, whole=whole, spans=True)
    except UnusableLayout as error:
        return None, [ByteProblem("codec/layout-unusable", start, str(error))]
    return body, [*body.problems]


def _having(candidates: Sequence[Message], version: int, offset: int = 0) -> Message:
    """The first of the messages that has the version. Raises _Undecodable."""
    for message in candidates:
        if version in message.valid:
            return message
    name = candidates[0].name
    versions = VersionRange(pair for message in candidates for pair in message.valid.intervals)
    text = f"no set has {name} {version}; the versions are {versions}"
    raise _Undecodable("unknown-version", text, name, version, offset)


def _errors(value: Any, path: str = "") -> Iterator[FieldError]:
    """The error codes in decoded values but 0, at every depth."""
    if isinstance(value, dict):
        for key, content in value.items():
            yield from _errors(content, f"{path}.{key}" if path else key)
    elif isinstance(value, list):
        for index, element in enumerate(value):
            yield from _errors(element, f"{path}[{index}]")
    elif isinstance(value, int) and value and path.endswith(ERROR_FIELDS):
        error = error_of(value)
        yield FieldError(error.code, error.name, error.retriable, path)


def write(result: DecodeResult, out: TextIO, *, color: bool) -> None:
    """Write each body and frame as a table of its values, and its problems."""
    parts = ["\n".join(_lines(frame, color, width_of(out))) for frame in result.frames]
    out.write("\n\n".join(parts) + "\n" if parts else "")


def _lines(frame: Frame, color: bool, width: int | None) -> Iterator[str]:
    decoded = frame.decoded
    name = f"{decoded.message} {decoded.version}" if decoded.message else "unknown frame"
    header = f", header {decoded.header_version}" if decoded.header_version is not None else ""
    line = f", line {frame.line}" if frame.line else ""
    yield from fold(f"{name}{header}, {in_bytes(len(frame.data))}{line}", width, color, BOLD)
    yield from table(("offset", "bytes", "field", "encoding", "value"), _rows(frame), color, width)
    for problem in decoded.problems:
        label = f"error[{problem.rule}]"
        field = f"{problem.field}: " if problem.field else ""
        first, *more = fold(f"{label} at byte {problem.offset}: {field}{problem.message}", width)
        yield first.replace(label, paint(label, SEVERITY["error"], color), 1)
        yield from more


def _rows(frame: Frame) -> Iterator[list[Cell]]:
    """The values in the order of their bytes; where there are problems, the bytes after the last value too."""
    spans = [span for span in frame.spans if span.length]
    end = max((span.offset + span.length for span in spans), default=0)
    offsets = [problem.offset for problem in frame.decoded.problems]
    if offsets and end < len(frame.data):
        spans.append(ValueSpan(end, len(frame.data) - end, 0, "", "not read", {}))
    for span in spans:
        is_wrong = any(span.offset <= offset < span.offset + span.length for offset in offsets)
        mark = SEVERITY["error"] if is_wrong else ""
        shown = frame.data[span.offset : span.offset + min(span.length, MOST_BYTES)]
        yield [
            (str(span.offset).rjust(6), mark or DIM),
            (shown.hex(" ") + " ..." * (span.length > MOST_BYTES), mark),
            ("  " * span.depth + span.path.rpartition(".")[2], mark),
            (span.type, DIM),
            (_value(span), mark),
        ]


def _value(span: ValueSpan) -> str:
    if span.value == {}:
        return ""
    if span.type.startswith("tag ") and span.type != "tag section":
        return in_bytes(span.value)
    if "array" in span.type.split() and span.value is not None:
        return f"{span.value} element{'s' * (span.value != 1)}"
    if span.type == "int16" and span.path.endswith(ERROR_FIELDS):
        return str(error_of(span.value))
    text = msgspec.json.encode(span.value).decode()
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 3] + "..."
