"""`kiplint decode`: a body of a message, or JSON lines with bodies and frames, as values with their problems."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, TextIO

import msgspec
import typer
from msgspec import Meta

from kiplint.cli.options import RepositoryOption
from kiplint.cli.output import present
from kiplint.codec.codec import ByteProblem, Codec
from kiplint.compat.tree import load, unparsable_files
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.limits import INPUT_BYTES
from kiplint.model.headers import API_VERSIONS, header_of
from kiplint.model.message import Message
from kiplint.render.json import pretty
from kiplint.render.report import RunResult, Status
from kiplint.render.table import BOLD, SEVERITY, fold, paint, width_of
from kiplint.sources.disk import STDIN, read_input
from kiplint.text.decode import NOT_JSON
from kiplint.text.words import did_you_mean, in_bytes
from kiplint.versions import VersionRange

HEADERS: Final = {"request": "RequestHeader", "response": "ResponseHeader"}
UNSUPPORTED_VERSION: Final = (35).to_bytes(2, "big")
"""The error code of a response to a request in a version that the broker does not know."""

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
    sets: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="SET",
            help="The set with the layouts: a directory, an archive, REV: or REV:path. Repeatable: the first that has "
            "a version counts.",
            show_default="the working directory",
        ),
    ] = None,
    input_format: Annotated[
        Literal["auto", "jsonl"],
        typer.Option(
            help="The form of the input: a body, in hexadecimal digits or in binary, or a JSON object a line, with a "
            "body or a frame."
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
        return present(decode_lines(lines, sets=sets or (".",), repository=repository), output_format)
    if message is None:
        raise UsageError("decode takes MESSAGE@VERSION, or JSON lines with --input-format jsonl")
    return present(decode(message, read_body(file), sets=sets or (".",), repository=repository), output_format)


def read_body(file: str) -> bytes:
    """The bytes of a body in a file, or in standard input for `-`. Raises UsageError and SourceError."""
    data = read_input(file, INPUT_BYTES)
    if not re.fullmatch(rb"[0-9a-fA-F\s]*+", data):
        return data
    try:
        return bytes.fromhex(data.decode())
    except ValueError:
        raise UsageError(f"{file}: not pairs of hexadecimal digits") from None


class DecodedObject(msgspec.Struct, frozen=True):
    """A decoded frame or body."""

    message: Annotated[str | None, Meta(description="Null where the message is unknown.")]
    version: int | None
    header_version: Annotated[int | None, Meta(description="Null for a body without a header.")]
    header: dict[str, Any] | None
    value: Annotated[dict[str, Any] | None, Meta(description="Null where nothing could be decoded.")]
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
    """Decoded bodies and frames. `status` is `findings` where bytes have problems."""

    frames: tuple[DecodedObject, ...]
    """The bodies and frames, in order."""

    command = "decode"
    listing = "frames"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.decode:write"}

    @property
    def document(self) -> DecodeDocument:
        """The JSON document."""
        problems = sum(len(frame.problems) for frame in self.frames)
        return DecodeDocument(1, self.frames, DecodeSummary(len(self.frames), problems))


def decode(message: str, data: bytes, *, sets: Sequence[Path] = (".",), repository: Path | None = None) -> DecodeResult:
    """Decode the body of a message (MESSAGE@VERSION); the first set that has the version counts.

    The status is `findings` where the bytes have problems. Raises UsageError for an unknown message or version, and
    SourceError for a set that cannot be opened.
    """
    match = re.fullmatch("([^@]+)@([0-9]{1,5})", message)
    if match is None:
        raise UsageError(f"{message} is not MESSAGE@VERSION, such as MetadataRequest@12")
    decoder = _Decoder(sets, repository)
    return decoder.result([decoder.body(match[1], int(match[2]), data)])


def decode_lines(data: bytes, *, sets: Sequence[Path] = (".",), repository: Path | None = None) -> DecodeResult:
    """Decode each line of JSON, a body or a frame; empty lines are skipped. Raises SourceError."""
    decoder = _Decoder(sets, repository)
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
    """Why nothing of a frame or body can be decoded: the rule, and the message and version as far as they are known."""

    def __init__(self, rule: str, text: str, name: str | None = None, version: int | None = None) -> None:
        super().__init__(text)
        self.rule, self.name, self.version = rule, name, version


class _Decoder:
    """The messages of several sets, those of the first set first, by name and by type and API key."""

    def __init__(self, sets: Sequence[Path], repository: Path | None) -> None:
        trees = [load(name, repository) for name in sets]
        self.unparsable = unparsable_files(*trees)
        self.by_name: dict[str, list[Message]] = {}
        self.by_key: dict[tuple[str, int | None], list[Message]] = {}
        for message in (message for tree in trees for message in tree.messages):
            self.by_name.setdefault(message.name, []).append(message)
            self.by_key.setdefault((message.type, message.api_key), []).append(message)
        self.codec = cache(Codec)

    def result(self, frames: Sequence[DecodedObject]) -> DecodeResult:
        """The result, whose status tells of problems, and of definitions that cannot be read."""
        status: Status = "findings" if any(frame.problems for frame in frames) else "ok"
        status = "error" if self.unparsable else status
        return DecodeResult(frames=tuple(frames), status=status, unparsable=self.unparsable)

    def line(self, text: bytes) -> DecodedObject:
        """Decode a line of JSON."""
        data, name, version, rule = b"", None, None, "input-invalid"
        try:
            line = msgspec.json.decode(text, type=BytesLine)
            data = bytes.fromhex(line.hex)
            return self.body_or_frame(line, data)
        except _DecodeError as error:
            name, version, rule, reason = error.name, error.version, error.rule, str(error)
        except msgspec.ValidationError as error:
            reason = f"the line is not a body or frame: {error}"
        except NOT_JSON as error:
            reason = f"the line is not JSON: {error}"
        except ValueError:
            reason = '"hex" must be pairs of hexadecimal digits'
        problem = ByteProblem(f"codec/{rule}", 0, reason)
        return DecodedObject(name, version, None, None, None, len(data), (problem,))

    def body_or_frame(self, line: BytesLine, data: bytes) -> DecodedObject:
        """Decode the bytes of a line. Raises _DecodeError, as the methods below do."""
        if line.direction == "request":
            if len(data) < 4:
                raise _DecodeError("truncated", f"the frame has {in_bytes(len(data))}; API key and version take 4")
            api_key, version = struct.unpack_from(">hh", data)
            return self.frame("request", api_key, version, data)
        if line.direction == "response" and line.api_key is not None and line.api_version is not None:
            # ApiVersions answers an unsupported version in version 0 (KIP-511).
            is_fallback = line.api_key == API_VERSIONS and data[4:6] == UNSUPPORTED_VERSION
            return self.frame("response", line.api_key, 0 if is_fallback else line.api_version, data)
        if line.direction is None and line.message is not None and line.version is not None:
            return self.body(line.message, line.version, data)
        reason = 'a body has "message" and "version", a frame "direction", "api_key" and "api_version"'
        raise _DecodeError("input-invalid", reason)

    def body(self, name: str, version: int, data: bytes) -> DecodedObject:
        """Decode a body."""
        candidates = self.by_name.get(name, [])
        if not candidates:
            text = f"no set has {name}{did_you_mean(name, self.by_name)}"
            raise _DecodeError("unknown-message", text, version=version)
        message = _having(candidates, version)
        body = self.usable_codec(message, version).decode(data)
        return DecodedObject(message.name, version, None, None, body.value, len(data), body.problems)

    def frame(self, kind: str, api_key: int, version: int, data: bytes) -> DecodedObject:
        """Decode a header and the body behind it."""
        candidates = self.by_key.get((kind, api_key), [])
        if not candidates:
            raise _DecodeError("unknown-api-key", f"no set has a {kind} with API key {api_key}", version=version)
        message = _having(candidates, version)
        number = header_of(message, version)
        headers = [item for item in self.by_name.get(HEADERS[kind], []) if item.type == "header"]
        header = next((item for item in headers if number in item.valid), None)
        if header is None:
            raise _DecodeError("header-unknown", f"no set has {kind} header {number}", message.name, version)
        front = self.usable_codec(header, number).decode(data, whole=False)
        value, problems = None, front.problems
        if front.is_complete:
            body = self.usable_codec(message, version).decode(data, front.end)
            value, problems = body.value, (*problems, *body.problems)
        return DecodedObject(message.name, version, number, front.value, value, len(data), problems)

    def usable_codec(self, message: Message, version: int) -> Codec:
        """The codec of a version."""
        codec = self.codec(message, version)
        if codec.unusable:
            raise _DecodeError("layout-unusable", codec.unusable, message.name, version)
        return codec


def _having(candidates: Sequence[Message], version: int) -> Message:
    """The first of the messages that has the version. Raises _DecodeError."""
    for message in candidates:
        if version in message.valid:
            return message
    name = candidates[0].name
    versions = VersionRange(pair for message in candidates for pair in message.valid.intervals)
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
            text = f"error[{problem.rule}] at byte {problem.offset}: {field}{problem.message}"
            lines += [paint(line, SEVERITY["error"], color) for line in fold(text, width)]
        out.write("\n".join(lines) + "\n")
