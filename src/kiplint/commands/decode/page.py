"""Decoded frames as a page of HTML: a list of them, and beside it the bytes of one by its fields."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple, TextIO

import msgspec

from kiplint.codec.problems import RULES
from kiplint.commands.decode.result import DecodedFrame, DecodeResult, FrameRow
from kiplint.commands.decode.run import frame_rows
from kiplint.commands.decode.text import ValueRow, origin, value_rows
from kiplint.render.page import Tally, anchors, set_titles, to_pack, write_page

STATES = {"problem": "with problems", "error": "with error codes", "unanswered": "not answered", "rest": "the rest"}
MARKS = {"problem": "error", "error": "warning", "unanswered": "warning", "rest": ""}
MOST_VALUES = 2_000
"""The number of values of a frame that are shown."""
MOST_BYTES = 512
"""The number of bytes that are shown of a frame without values."""


class FrameEntry(NamedTuple):
    """A frame: its row in the list, its state, its anchor, and the entry of the request that it answers."""

    frame: DecodedFrame
    row: FrameRow
    state: str
    anchor: str
    request: FrameEntry | None

    @property
    def note(self) -> str:
        """The error codes of the frame, its first problem and `not answered`, as far as they apply, with commas."""
        row = self.row
        return ", ".join(filter(None, (*row.errors, row.problem, "" if row.answered else "not answered")))

    @property
    def rows(self) -> list[ValueRow]:
        """The values of the frame with their bytes; without values, its first bytes."""
        data = self.frame.data
        whole = ValueRow(0, data[:MOST_BYTES], len(data) > MOST_BYTES, 0, "", "", "", None)
        return value_rows(self.frame, MOST_VALUES) or [whole]

    @property
    def content(self) -> str:
        """The values as JSON where their places in the bytes are unknown, as in record batches; else empty."""
        frame = self.frame.frame
        is_bare = frame.value is not None and not frame.spans
        return msgspec.json.format(msgspec.json.encode(frame.value), indent=2).decode() if is_bare else ""


def write(result: DecodeResult, out: TextIO, *, color: bool) -> None:
    """Write the page; of a capture it has the frames that are wrong and their requests, and with `--list` all."""
    rows = result.rows or [row for _, row in frame_rows(result.entries)]
    capture = result.capture
    pairs = list(zip(result.entries, rows, strict=True))
    if capture and not result.rows:
        grave = [frame for frame, row in pairs if _state(row) != "rest"]
        requests = {(frame.source, frame.captured.request) for frame in grave if frame.captured}
        pairs = [
            (frame, row) for frame, row in pairs if _state(row) != "rest" or (frame.source, row.number) in requests
        ]
    names = anchors([f"frame-{row.number}" for _, row in pairs])
    entries: dict[tuple[str, int], FrameEntry] = {}
    for (frame, row), anchor in zip(pairs, names, strict=True):
        number = frame.captured.request if frame.captured else None
        request = entries.get((frame.source, number or 0))
        entries[frame.source, row.number] = FrameEntry(frame, row, _state(row), anchor, request)
    states = Counter(entry.state for entry in entries.values())
    apis = sorted({row.api for _, row in pairs})
    write_page(
        "commands/decode/page.html",
        out,
        title=", ".join(set_titles(*dict.fromkeys(entry.source for entry in result.entries))) or "Bytes",
        verdict=result.verdict,
        hidden=len(rows) - len(entries),
        entries=list(entries.values()),
        in_capture=capture is not None,
        packed=to_pack(sum(len(frame.frame.spans) for frame, _ in pairs)),
        states=[Tally(state, title, states[state], MARKS[state]) for state, title in STATES.items()],
        marks=MARKS,
        apis=[(api, api) for api in apis],
        origin=origin,
        byte_rules=RULES,
        about=result.rules,
        broken=result.broken,
    )


def _state(row: FrameRow) -> str:
    return "problem" if row.problem else "error" if row.errors else "rest" if row.answered else "unanswered"
