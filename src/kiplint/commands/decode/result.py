"""The result of `kiplint decode`, and its JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kiplint.codec.conversation import Captured
from kiplint.codec.exchange import ProblemObject, problem_objects
from kiplint.codec.frames import Direction, FieldError, Frame
from kiplint.codec.summary import CaptureSummary, Cause
from kiplint.codec.tcp import address_text
from kiplint.render.report import Report, Verdict
from kiplint.text.words import plural


class DecodedFrame(msgspec.Struct, frozen=True):
    """A decoded frame or body, and its origin.

    `line` is that of the input, 0 for bytes. `start` is the offset of `data` in the bytes of the input, in a capture in
    the stream of its direction; `captured` is set for frames of a capture.
    """

    source: str
    line: int
    start: int
    data: bytes
    frame: Frame
    captured: Captured | None = None


class FrameRow(msgspec.Struct, frozen=True):
    """A frame, without its values."""

    number: Annotated[int, "The place of the frame in the capture or other input, from 1 on."]
    time: Annotated[float, "In seconds since the first packet."]
    connection: Annotated[int, "The number of the TCP connection in the capture, from 0 on."]
    direction: Annotated[str, "`request` or `response`; empty for a body without a header."]
    api: Annotated[str, "The name of the RPC, such as `Fetch`."]
    api_key: Annotated[int, "The API key, -1 if it is not known."]
    version: Annotated[int, "The version of the request, and of the request that is answered."]
    client_id: Annotated[str, "The client id of the request, and of the request that is answered."]
    correlation_id: Annotated[int, "The correlation id."]
    size: Annotated[int, "In bytes, with the four bytes of the length."]
    latency: Annotated[float, "Of a response: milliseconds since its request. -1 where there is none."]
    error: Annotated[str, "The name of the first error code that is not 0, else `NONE`."]
    errors: Annotated[tuple[str, ...], "The names of all error codes that are not 0, each once."]
    problem: Annotated[str, "The id of the rule of the first problem of the bytes, else empty."]
    answered: Annotated[bool, "False for a request whose response is missing from the capture."]
    client: Annotated[str, "HOST:PORT of the client."]
    server: Annotated[str, "HOST:PORT of the server."]
    message: Annotated[str, "The name of the message, such as `FetchResponse`."]


class ValueOffset(msgspec.Struct, frozen=True):
    """The place of a value in the bytes of its frame or body."""

    field: Annotated[str, Meta(description="The path of the field.")]
    offset: Annotated[int, Meta(description="In bytes from the start of the frame or body.")]
    length: Annotated[int, Meta(description="In bytes.")]


class DecodedObject(msgspec.Struct, frozen=True, kw_only=True):
    """A decoded frame or body; frames in a capture have the keys from `direction` on."""

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
    redacted: Annotated[
        tuple[str, ...] | UnsetType, Meta(description="The fields whose bytes are overwritten; absent without any.")
    ] = UNSET
    direction: Direction | UnsetType = UNSET
    api_key: int | UnsetType = UNSET
    api_version: int | UnsetType = UNSET
    number: Annotated[int | UnsetType, Meta(description="The place of the frame in the capture, from 1 on.")] = UNSET
    request: Annotated[
        int | UnsetType | None, Meta(description="Of a response: the number of its request, null where it is unknown.")
    ] = UNSET
    latency: Annotated[float | UnsetType | None, Meta(description="Of a response: milliseconds since its request.")] = (
        UNSET
    )
    connection: Annotated[int | UnsetType, Meta(description="The number of the TCP connection in the capture.")] = UNSET
    client: Annotated[str | UnsetType, Meta(description="HOST:PORT.")] = UNSET
    server: Annotated[str | UnsetType, Meta(description="HOST:PORT.")] = UNSET
    time: Annotated[float | UnsetType, Meta(description="In seconds since 1970.")] = UNSET
    stream_offset: Annotated[
        int | UnsetType, Meta(description="Of the frame's length, in bytes from the start of the direction's stream.")
    ] = UNSET
    whole: Annotated[bool | UnsetType, Meta(description="Whether all bytes of the frame were captured.")] = UNSET
    hex: Annotated[str | UnsetType, Meta(description="The bytes of the frame, without its length.")] = UNSET


class DecodeSummary(msgspec.Struct, frozen=True):
    """The numbers of frames and of problems in them."""

    frames: int
    problems: int


class DecodeDocument(msgspec.Struct, frozen=True):
    """What `kiplint decode --output-format json` writes."""

    version: Literal[1]
    frames: tuple[DecodedObject, ...]
    summary: DecodeSummary
    capture: CaptureSummary | UnsetType = UNSET


DOCUMENTS: Final = {"decode": DecodeDocument}


class DecodeResult(Report, frozen=True):
    """The decoded frames and bodies, and the summary of a capture. The problems are findings too."""

    entries: tuple[DecodedFrame, ...] = ()
    """The frames and bodies, in order."""
    capture: CaptureSummary | None = None
    """The summary of a capture; None for other input."""
    rows: tuple[FrameRow, ...] = ()
    """The rows of the frames, if the caller requested them; text then lists them."""
    number: int | None = None
    """The number of the only frame, which text shows in full."""
    offsets: bool = False
    """Whether the document has the place of each value."""
    limited: bool = False
    """Whether a limit kept the rest from being decoded."""

    command = "decode"
    headed = True
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.decode.text:write",
        "markdown": "kiplint.commands.decode.text:write_markdown",
        "html": "kiplint.commands.decode.page:write",
    }
    listing = "frames"
    unread = "left out"

    @property
    def verdict(self) -> Verdict:
        """The numbers of the frames, and the first causes of what is wrong."""
        if self.capture is None:
            return Verdict.of(f"{plural(len(self.entries), 'frame')}, {plural(len(self.findings), 'problem')}.")
        causes = [cause_text(cause, self.capture) for cause in self.capture.causes]
        return Verdict.of(f"{summary_sentence(self.capture)}.", causes)

    @property
    def values(self) -> list[dict[str, Any] | None]:
        """The values of all frames, None where nothing could be decoded."""
        return [entry.frame.value for entry in self.entries]

    @property
    def document(self) -> DecodeDocument:
        """The JSON document."""
        return DecodeDocument(
            version=1,
            frames=tuple(decoded_object(entry, offsets=self.offsets) for entry in self.entries),
            summary=DecodeSummary(
                frames=len(self.entries), problems=sum(len(entry.frame.problems) for entry in self.entries)
            ),
            capture=UNSET if self.capture is None else self.capture,
        )


def decoded_object(entry: DecodedFrame, *, offsets: bool = False) -> DecodedObject:
    """A frame, for JSON; with `offsets` the place of each value, for which the frame needs spans."""
    frame, raw_frame = entry.frame, entry.captured
    places = (ValueOffset(span.path, span.offset, span.length) for span in frame.spans if span.path)
    origin: dict[str, Any] = {}
    if raw_frame is not None:
        is_request = raw_frame.direction == "request"
        origin = {
            "direction": raw_frame.direction,
            "api_key": raw_frame.api_key,
            "api_version": raw_frame.api_version,
            "number": raw_frame.number,
            "request": UNSET if is_request else raw_frame.request,
            "latency": UNSET if is_request else raw_frame.latency,
            "connection": raw_frame.connection,
            "client": address_text(raw_frame.client),
            "server": address_text(raw_frame.server),
            "time": raw_frame.time,
            "stream_offset": raw_frame.stream_offset,
            "whole": raw_frame.whole,
            "hex": entry.data.hex(),
        }
    return DecodedObject(
        message=frame.message or None,
        version=frame.version if frame.version >= 0 else None,
        header_version=frame.header_version,
        header=frame.header,
        value=frame.value,
        length=frame.length,
        problems=problem_objects(frame.problems),
        errors=frame.errors or UNSET,
        offsets=tuple(places) if offsets else UNSET,
        redacted=frame.redacted or UNSET,
        **origin,
    )


def cause_text(cause: Cause, summary: CaptureSummary) -> str:
    """A cause, how often it occurs, and its server where there are several."""
    server = cause.servers[0]
    where = f" at {server}" if len(cause.servers) == 1 < len(summary.servers) and cause.subject != server else ""
    times = f", {cause.count} times" if cause.count > 1 else ""
    return f"{cause.subject}{where}: {cause.message}{times}"


def summary_sentence(summary: CaptureSummary) -> str:
    """`9 frames in 3 connections to 127.0.0.1:9092: 6 requests, 3 responses, 2.0 s`."""
    to = f" to {', '.join(summary.servers)}" if summary.servers else ""
    return (
        f"{plural(summary.frames, 'frame')} in {plural(summary.tcp_connections, 'connection')}{to}: "
        f"{plural(summary.requests, 'request')}, {plural(summary.responses, 'response')}, {summary.seconds} s"
    )
