"""`kiplint decode`: a body of a message, or JSON lines with bodies and frames, as values with their problems."""

from __future__ import annotations

import io
import re
import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import Annotated, Any, Final, Literal, TextIO

import msgspec
import typer
from msgspec import Meta
from msgspec.structs import replace

from kiplint.cli.options import RepositoryOption, complete_sets
from kiplint.cli.output import present
from kiplint.codec.codec import Codec, DecodedBody
from kiplint.codec.problems import ByteProblem, byte_problem
from kiplint.codec.values import in_bytes
from kiplint.compat.tree import Tree, load, load_or_newest, unparsable_files
from kiplint.engine.config import StrPath
from kiplint.engine.errors import UsageError
from kiplint.limits import INPUT_BYTES
from kiplint.model.headers import header_of
from kiplint.model.message import Message
from kiplint.model.rpcs import API_VERSIONS
from kiplint.render.formats import Writer
from kiplint.render.json import pretty
from kiplint.render.report import RunResult, Status
from kiplint.render.table import BOLD, SEVERITY, fold, paint, width_of
from kiplint.sources.disk import STDIN, read_input
from kiplint.sources.repository import Repository, open_repository
from kiplint.text.decode import NOT_JSON
from kiplint.text.words import did_you_mean
from kiplint.versions import VersionRange

HEADERS: Final = {"request": "RequestHeader", "response": "ResponseHeader"}
FLEXIBLE_RESPONSE_HEADER: Final = 1
UNSUPPORTED_VERSION: Final = (35).to_bytes(2, "big")
"""The error code of the response to a request in a version that the broker does not support."""

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
            help="The message and its version; with --input-format jsonl, the file with the lines.",
        ),
    ] = None,
    file: Annotated[
        str, typer.Argument(metavar="[FILE]", help="The file with the bytes, or - for standard input.")
    ] = STDIN,
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SET",
            autocompletion=complete_sets,
            help="The schema set with the layouts: a directory, an archive, a release such as 4.1, REV: or REV:path. "
            "Repeatable; the first "
            "set that has the version is used.",
            show_default="the working directory",
        ),
    ] = None,
    input_format: Annotated[
        Literal["auto", "jsonl"],
        typer.Option(
            help="The input format: a body in hexadecimal digits or binary, or JSON lines with one body or frame each."
        ),
    ] = "auto",
    repository: RepositoryOption = None,
    output_format: Annotated[Literal["text", "json", "jsonl"], typer.Option(help="The output format.")] = "text",
) -> int:
    """Decode the bytes of a message, and report what is wrong with them.

    A JSON line is a body with `message`, `version` and `hex`, or a frame without its length with `direction`,
    `api_key`, `api_version` and `hex`. Exit codes: 0 all decoded, 1 errors in the bytes, 2 unreadable or invalid input.
    """
    if input_format == "jsonl":
        if file != STDIN:
            raise UsageError("--input-format jsonl takes only a file, because each line names its message")
        lines = read_input(message or STDIN, INPUT_BYTES)  # the first argument is the file
        return present(decode_lines(lines, sets=sets or (), repository=repository), output_format)
    if message is None:
        raise UsageError("decode needs MESSAGE@VERSION, or JSON lines with --input-format jsonl")
    return present(decode(message, read_body(file), sets=sets or (), repository=repository), output_format)


def read_body(file: str) -> bytes:
    """The bytes of a body, in binary or in hexadecimal digits, in a file or in standard input (`-`).

    Raises UsageError for digits that are not in pairs, and SourceError for what cannot be read.
    """
    data = read_input(file, INPUT_BYTES)
    if not re.fullmatch(rb"[0-9a-fA-F\s]*+", data):
        return data  # it is binary
    try:
        return bytes.fromhex(data.decode())
    except ValueError:
        raise UsageError(f"{file}: not pairs of hexadecimal digits") from None


class DecodedObject(msgspec.Struct, frozen=True):
    """A decoded frame or body."""

    message: Annotated[str | None, Meta(description="Null if the message is unknown.")]
    version: int | None
    header_version: Annotated[int | None, Meta(description="Null for a body without a header.")]
    header: dict[str, Any] | None
    value: Annotated[dict[str, Any] | None, Meta(description="Null if nothing could be decoded.")]
    length: Annotated[int, Meta(description="In bytes.")]
    problems: tuple[ByteProblem, ...]


class DecodeSummary(msgspec.Struct, frozen=True):
    """The numbers of frames and bodies, and of problems in them."""

    frames: int
    problems: int


class DecodeDocument(msgspec.Struct, frozen=True):
    """What `kiplint decode --output-format json` writes."""

    version: Literal[1]
    frames: tuple[DecodedObject, ...]
    summary: DecodeSummary


class DecodeResult(RunResult, frozen=True):
    """Decoded bodies and frames. `status` is `findings` if bytes have errors."""

    frames: tuple[DecodedObject, ...]
    """The bodies and frames, in order."""

    command = "decode"
    list_attribute = "frames"

    @property
    def writers(self) -> Mapping[str, Writer]:
        """The writers of the formats that the result has its own form of."""
        return {"text": write}

    @property
    def document(self) -> DecodeDocument:
        """The JSON document."""
        problems = sum(len(frame.problems) for frame in self.frames)
        return DecodeDocument(1, self.frames, DecodeSummary(len(self.frames), problems))


def decode(
    message: str, data: bytes, *, sets: Sequence[StrPath | Tree] = (), repository: StrPath | None = None
) -> DecodeResult:
    """Decode the body of a message (MESSAGE@VERSION); the first set that has the version counts.

    A set may be a tree that `load` has read already.

    The status is `findings` where the bytes have errors. Raises UsageError for an unknown message or version, and
    SourceError for a set that cannot be opened.
    """
    name, version = _name_and_version(message)
    decoder = _Decoder(sets, open_repository(repository))
    return decoder.result([decoder.body(name, version, data)])


def encode(
    message: str, value: dict[str, Any], *, sets: Sequence[StrPath | Tree] = (), repository: StrPath | None = None
) -> bytes:
    """The bytes of the body of a message (MESSAGE@VERSION), from a value as `decode` gives it; the reverse of `decode`.

    What the value omits has its default. Raises UsageError as `decode` does, and for a value that does not fit.
    """
    name, version = _name_and_version(message)
    data = _Decoder(sets, open_repository(repository)).codec_of(name, version).encode(value)
    if data is None:
        raise UsageError(f"a value does not fit its field in {message}")
    return data


def _name_and_version(text: str) -> tuple[str, int]:
    """The parts of MESSAGE@VERSION; raises UsageError."""
    match = re.fullmatch("([^@]+)@([0-9]{1,5})", text)
    if match is None:
        raise UsageError(f"{text} is not of the form MESSAGE@VERSION, such as MetadataRequest@12")
    return match[1], int(match[2])


def decode_lines(data: bytes, *, sets: Sequence[StrPath] = (), repository: StrPath | None = None) -> DecodeResult:
    """Decode each line of JSON, a body or a frame; empty lines are skipped. Raises SourceError."""
    decoder = _Decoder(sets, open_repository(repository))
    return decoder.result([decoder.line(text) for text in io.BytesIO(data) if text.strip()])


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


class _DecodeError(UsageError):
    """Why nothing of a frame or body can be decoded: the rule, such as `unknown-message`, and the reason.

    The names of the message and its version are there as far as they are known.
    """

    def __init__(self, rule: str, reason: str, message_name: str | None = None, version: int | None = None) -> None:
        super().__init__(reason)
        self.rule = rule
        self.message_name = message_name
        self.version = version


class _Decoder:
    """Decodes with the messages of several sets; of messages with one name or API key, that of the first set counts."""

    def __init__(self, sets: Sequence[StrPath | Tree], repository: Repository) -> None:
        trees = [item if isinstance(item, Tree) else load(item, repository) for item in sets]
        self.notes: tuple[str, ...] = ()
        if not sets:
            tree, self.notes = load_or_newest(None, repository)
            trees = [tree]
        self.unparsable = unparsable_files(*trees)
        self.by_name: dict[str, list[Message]] = defaultdict(list)
        self.by_type_and_key: dict[tuple[str, int | None], list[Message]] = defaultdict(list)
        for tree in trees:
            for message in tree.messages:
                self.by_name[message.name].append(message)
                self.by_type_and_key[message.type, message.api_key].append(message)
        self.cached_codec = cache(Codec)

    def result(self, frames: Sequence[DecodedObject]) -> DecodeResult:
        """The result of the command; it is an error if a definition in the sets cannot be read."""
        status: Status = "findings" if any(_has_errors(frame.problems) for frame in frames) else "ok"
        status = "error" if self.unparsable else status
        return DecodeResult(frames=tuple(frames), status=status, unparsable=self.unparsable, notes=self.notes)

    def line(self, text: bytes) -> DecodedObject:
        """Decode a line of JSON; the reason why that is impossible is the only problem of the object."""
        data = b""
        try:
            line = msgspec.json.decode(text, type=BytesLine)
            data = bytes.fromhex(line.hex)
            return self.body_or_frame(line, data)
        except _DecodeError as error:
            failure = error
        except msgspec.ValidationError as error:
            failure = _DecodeError("input-invalid", f"the line is not a body or frame: {error}")
        except NOT_JSON as error:
            failure = _DecodeError("input-invalid", f"the line is not JSON: {error}")
        except ValueError:
            failure = _DecodeError("input-invalid", '"hex" must be pairs of hexadecimal digits')
        problem = byte_problem(failure.rule, 0, str(failure))
        return DecodedObject(failure.message_name, failure.version, None, None, None, len(data), (problem,))  # no value

    def body_or_frame(self, line: BytesLine, data: bytes) -> DecodedObject:
        """Decode the bytes of a line. Raises _DecodeError, as the methods below do."""
        is_response = line.direction == "response" and line.api_key is not None and line.api_version is not None
        if line.direction == "request" or is_response:
            has_length = int.from_bytes(data[:4], "big") == len(data) - 4
            with suppress(_DecodeError):  # the first four bytes may be something else, such as a correlation id
                frame = self.frame(line, data[4:]) if has_length else None
                if frame and not _has_errors(frame.problems):
                    problem = byte_problem("length-prefix", 0, "the frame begins with its length, which is skipped")
                    return replace(frame, problems=(problem, *frame.problems))
            return self.frame(line, data)
        if line.direction is None and line.message is not None and line.version is not None:
            return self.body(line.message, line.version, data)
        reason = 'a body needs "message" and "version"; a frame needs "direction", "api_key" and "api_version"'
        raise _DecodeError("input-invalid", reason)

    def body(self, name: str, version: int, data: bytes) -> DecodedObject:
        """Decode the body of a message, such as `FetchRequest`."""
        body = self.codec_of(name, version).decode(data)
        return DecodedObject(name, version, None, None, body.value, len(data), body.problems)  # no header

    def codec_of(self, name: str, version: int) -> Codec:
        """The codec of a version of a message, by name; raises _DecodeError."""
        candidates = self.by_name.get(name)
        if not candidates:
            hint = did_you_mean(name, self.by_name)
            raise _DecodeError("unknown-message", f"no set has {name}{hint}", version=version)
        return self.codec(_first_with_version(candidates, version), version)

    def frame(self, line: BytesLine, data: bytes) -> DecodedObject:
        """Decode the header of a request or response and, if the header is complete, the body after it."""
        message_type, api_key, version = line.direction or "", line.api_key, line.api_version or 0
        if message_type == "request":
            if len(data) < 4:
                reason = f"the frame has {in_bytes(len(data))}; API key and version take 4"
                raise _DecodeError("truncated", reason)
            api_key, version = struct.unpack_from(">hh", data)
        elif api_key == API_VERSIONS and data[4:6] == UNSUPPORTED_VERSION:
            version = 0  # ApiVersions answers an unsupported version in version 0 (KIP-511)
        candidates = self.by_type_and_key.get((message_type, api_key))
        if not candidates:
            reason = f"no set has a {message_type} with API key {api_key}"
            raise _DecodeError("unknown-api-key", reason, version=version)
        try:
            message = _first_with_version(candidates, version)
        except _DecodeError as error:
            return self.header_of_unknown_version(candidates[0], version, data, str(error))
        frame = self.header_and_body(message, version, header_of(message, version), data)
        if message_type == "response" and api_key == API_VERSIONS and _has_errors(frame.problems):
            with suppress(_DecodeError):  # the set may lack the header
                other_frame = self.header_and_body(message, version, FLEXIBLE_RESPONSE_HEADER, data)
                if not _has_errors(other_frame.problems):
                    reason = f"the frame has header {FLEXIBLE_RESPONSE_HEADER}; ApiVersions is answered with header 0"
                    problem = byte_problem("header-version", 4, reason)
                    return replace(other_frame, problems=(problem, *other_frame.problems))
        return frame

    def header_and_body(self, message: Message, version: int, header_version: int, data: bytes) -> DecodedObject:
        """Decode a frame whose header has this version; the body only if the header is complete."""
        header = self.header(message, version, header_version, data)
        value, problems = None, header.problems
        if header.is_complete:
            body = self.codec(message, version).decode(data, header.end)
            value, problems = body.value, (*header.problems, *body.problems)
        return DecodedObject(message.name, version, header_version, header.value, value, len(data), problems)

    def header_of_unknown_version(self, message: Message, version: int, data: bytes, reason: str) -> DecodedObject:
        """Decode the header of a version that no set has, with the nearest version; `reason` is the problem."""
        if not message.valid:
            raise _DecodeError("unknown-version", reason, message.name, version)
        nearest_version = message.valid.highest if version > message.valid.highest else message.valid.lowest
        header_version = header_of(message, nearest_version)
        header = self.header(message, version, header_version, data)
        problems = (byte_problem("unknown-version", 0, reason), *header.problems)
        return DecodedObject(message.name, version, header_version, header.value, None, len(data), problems)

    def header(self, message: Message, version: int, header_version: int, data: bytes) -> DecodedBody:
        """The header of a frame, which a version of a message follows."""
        name = HEADERS[message.type]
        for candidate in self.by_name.get(name, []):
            if candidate.type == "header" and header_version in candidate.valid:
                return self.codec(candidate, header_version).decode(data, whole=False)  # the body follows
        reason = f"no set has {message.type} header {header_version}"
        raise _DecodeError("header-unknown", reason, message.name, version)

    def codec(self, message: Message, version: int) -> Codec:
        """The codec of a version of a message; raises _DecodeError if its layout has a mistake."""
        codec = self.cached_codec(message, version)
        if codec.unusable:
            raise _DecodeError("layout-unusable", codec.unusable, message.name, version)
        return codec


def _has_errors(problems: Iterable[ByteProblem]) -> bool:
    return any(problem.severity == "error" for problem in problems)


def _first_with_version(candidates: Sequence[Message], version: int) -> Message:
    """The first of several messages of one name or API key that has the version. Raises _DecodeError."""
    for message in candidates:
        if version in message.valid:
            return message
    name = candidates[0].name
    versions = VersionRange(interval for message in candidates for interval in message.valid.intervals)
    raise _DecodeError("unknown-version", f"no set has {name} {version}; the versions are {versions}", name, version)


def write(result: DecodeResult, out: TextIO, *, color: bool) -> None:
    """Write the header and the values of each frame or body as indented JSON, and its problems."""
    width = width_of(out)
    for frame in result.frames:
        name = f"{frame.message} {frame.version}" if frame.message else "unknown frame"
        header = f", header {frame.header_version}" if frame.header_version is not None else ""
        lines = fold(f"{name}{header}, {in_bytes(frame.length)}", width, color, BOLD)
        lines += [pretty(part) for part in (frame.header, frame.value) if part is not None]
        for problem in frame.problems:
            field = f"{problem.field}: " if problem.field else ""
            text = f"{problem.severity}[{problem.rule}] at byte {problem.offset}: {field}{problem.message}"
            lines += [paint(line, SEVERITY[problem.severity], color) for line in fold(text, width)]
        out.write("\n".join(lines) + "\n")
