"""The result of `kiplint decode`, and its JSON document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kiplint.codec.capture import CaptureSummary
from kiplint.codec.conversation import Captured
from kiplint.codec.exchange import FrameObject, frame_object
from kiplint.codec.frames import Direction, Frame
from kiplint.render.report import Report


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


class DecodedObject(FrameObject, frozen=True, kw_only=True):
    """A decoded frame or body; the keys from `direction` on are those of frames in a capture."""

    direction: Direction | UnsetType = UNSET
    api_key: int | UnsetType = UNSET
    api_version: int | UnsetType = UNSET
    connection: Annotated[int | UnsetType, Meta(description="The number of the TCP connection in the capture.")] = UNSET
    client: Annotated[str | UnsetType, Meta(description="HOST:PORT.")] = UNSET
    server: Annotated[str | UnsetType, Meta(description="HOST:PORT.")] = UNSET
    time: Annotated[float | UnsetType, Meta(description="In seconds since 1970.")] = UNSET
    stream_offset: Annotated[
        int | UnsetType, Meta(description="Of the frame's length, in bytes from the start of the direction's stream.")
    ] = UNSET
    whole: Annotated[bool | UnsetType, Meta(description="Whether all bytes of the frame were captured.")] = UNSET


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
    limited: bool = False
    """Whether a limit kept the rest from being decoded."""

    command = "decode"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.decode.text:write",
        "markdown": "kiplint.commands.decode.text:write_markdown",
    }
    listing = "frames"
    unread = "left out"

    @property
    def values(self) -> list[dict[str, Any] | None]:
        """The values of all frames, None where nothing could be decoded."""
        return [entry.frame.value for entry in self.entries]

    @property
    def document(self) -> DecodeDocument:
        """The JSON document."""
        return DecodeDocument(
            version=1,
            frames=tuple(map(decoded_object, self.entries)),
            summary=DecodeSummary(
                frames=len(self.entries), problems=sum(len(entry.frame.problems) for entry in self.entries)
            ),
            capture=UNSET if self.capture is None else self.capture,
        )


def decoded_object(entry: DecodedFrame) -> DecodedObject:
    """A frame, for JSON."""
    values = msgspec.structs.asdict(frame_object(entry.frame))
    captured = entry.captured
    if captured is None:
        return DecodedObject(**values)
    return DecodedObject(
        **values,
        direction=captured.direction,
        api_key=captured.api_key,
        api_version=captured.api_version,
        connection=captured.connection,
        client=f"{captured.client[0]}:{captured.client[1]}",
        server=f"{captured.server[0]}:{captured.server[1]}",
        time=captured.time,
        stream_offset=captured.stream_offset,
        whole=captured.whole,
    )
