"""One frame as a table: where each value stands, its bytes, its field, how it is encoded, and what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TextIO

import msgspec

from kiplint.codec.wire import ValueSpan
from kiplint.commands.decode.run import DecodeResult, Entry
from kiplint.render.table import BOLD, DIM, SEVERITY, fold, paint, paragraph, table, title, width_of
from kiplint.text.words import in_bytes, plural

MOST_BYTES, MOST_TEXT = 16, 60
"""How many bytes of a value are shown, and how many characters."""
MOST_ROWS = 10_000
"""How many values of a frame are shown: more than anyone reads."""
ROW_HEAD = ("offset", "bytes", "field", "encoding", "value")


def frame_lines(entry: Entry, color: bool, width: int | None = None) -> Iterator[str]:
    """The lines of one frame: a title, the table, and what is wrong."""
    frame = entry.frame
    name = f"{frame.message} {frame.version}" if frame.message else "unknown frame"
    header = f", header {frame.header_version}" if frame.header_version is not None else ""
    yield from fold(f"{name}{header}, {in_bytes(frame.length)}{_origin(entry)}", width, color, BOLD)
    wrong = {problem.offset for problem in frame.problems}
    spans = [span for span in _spans(entry) if span.length]
    cells = [_row(entry, span, wrong) for span in spans[:MOST_ROWS]]
    yield from table(ROW_HEAD, cells, color, width)
    if len(spans) > MOST_ROWS:
        yield from fold(f"... and more: of these values only the first {MOST_ROWS:,} are shown; JSON has all", width)
    if not frame.spans and frame.value is not None and "batches" in frame.value:
        yield from msgspec.json.format(msgspec.json.encode(frame.value), indent=2).decode().splitlines()
    for problem in frame.problems:
        where = f"{problem.path}: " if problem.path else ""
        label = f"error[{problem.rule}]"
        first, *more = fold(f"{label} at byte {problem.offset}: {where}{problem.message}", width)
        yield first.replace(label, paint(label, SEVERITY["error"], color), 1)
        yield from more


def _origin(entry: Entry) -> str:
    one = entry.captured
    if one is not None:
        arrow = ("from", "to") if one.direction == "request" else ("to", "from")
        ends = f"{arrow[0]} {one.client[0]}:{one.client[1]} {arrow[1]} {one.server[0]}:{one.server[1]}"
        return f", {ends}, byte {one.stream_offset} of its stream"
    if entry.start > 4:
        return f", at byte {entry.start}"
    return f", line {entry.line}" if entry.line else ""


def _spans(entry: Entry) -> list[ValueSpan]:
    """The values, and the bytes that nothing was read from."""
    spans = [*entry.frame.spans]
    end = max((span.offset + span.length for span in spans), default=0)
    if entry.frame.problems and end < len(entry.data):
        spans.append(ValueSpan(end, len(entry.data) - end, 0, "", "not read", None))
    return spans


def _row(entry: Entry, span: ValueSpan, wrong: set[int]) -> list[tuple[str, str]]:
    data = entry.data[span.offset : span.offset + span.length]
    shown = data[:MOST_BYTES].hex(" ") + (" ..." if len(data) > MOST_BYTES else "")
    hit = SEVERITY["error"] if any(span.offset <= place < span.offset + span.length for place in wrong) else ""
    return [
        (str(span.offset).rjust(6), hit or DIM),
        (shown, hit),
        ("  " * span.depth + span.path.rpartition(".")[2], hit),
        (span.type, DIM),
        (_value(span), hit),
    ]


def _value(span: ValueSpan) -> str:
    if span.type in ("not read", "tag section") or span.type.startswith("tag "):
        return "" if span.value is None else in_bytes(span.value) if span.type != "tag section" else str(span.value)
    if "array" in span.type.split() and span.value is not None:
        return f"{span.value} elements" if span.value != 1 else "1 element"
    return _short(span.value)


def _short(value: Any) -> str:
    if value == {}:
        return ""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 3] + "..."


HEAD = ("API", "version", "requests", "responses", "bytes")


def write(result: DecodeResult, out: TextIO, *, color: bool) -> None:
    """Write the frames; of a capture first what is in it."""
    width = width_of(out)
    parts = [[*_summary(result.capture, color, width)]] if result.capture is not None else []
    drawn = (entry for entry in result.entries if entry.captured is None or entry.frame.problems)
    parts += [[*frame_lines(entry, color, width)] for entry in drawn]
    out.write("\n\n".join("\n".join(part) for part in parts) + "\n" if parts else "")


def _summary(found: Mapping[str, Any], color: bool, width: int | None) -> Iterator[str]:
    to = f" to {', '.join(found['servers'])}" if found["servers"] else ""
    yield from fold(
        f"{plural(found['frames'], 'frame')} in {plural(found['tcp_connections'], 'connection')}{to}: "
        f"{plural(found['requests'], 'request')}, {plural(found['responses'], 'response')}, {found['seconds']} s",
        width,
        color,
        BOLD,
    )
    others = (
        f", {plural(found['other_connections'], 'connection')} of other protocols" if found["other_connections"] else ""
    )
    lost = f", {plural(found['incomplete'], 'frame')} not captured to the end" if found["incomplete"] else ""
    unpaired = found["unpaired_responses"]
    alone = f", {plural(unpaired, 'response')} without a captured request" if unpaired else ""
    said = f"{plural(found['packets'], 'packet')}, {found['payload_bytes']} bytes of payload{others}{lost}{alone}"
    yield from fold(f"  {said}", width)
    yield from table(HEAD, [_api(one) for one in found["by_api"]], color, width)
    clients = [f"{name} ({count})" for name, count in found["client_ids"].items()]
    yield from _list("clients", clients, width)
    missing = [f"{one['api_key']}@{one['api_version']} from port {one['client_port']}" for one in found["unanswered"]]
    yield from _list("not answered", missing, width)
    wrong = f"{plural(len(found['problems']), 'frame')} with problems"
    yield title(wrong, color) if not found["problems"] else _alarm(wrong, color)


def _api(one: Mapping[str, Any]) -> list[tuple[str, str]]:
    size = one["request_bytes"] + one["response_bytes"]
    cells = (one["name"] or f"key {one['api_key']}", one["api_version"], one["requests"], one["responses"], size)
    return [(str(cell), "") for cell in cells]


def _list(label: str, items: list[str], width: int | None) -> Iterator[str]:
    if items:
        yield f"  {label}:"
        yield from paragraph(items, "    ", width)


def _alarm(text: str, color: bool) -> str:
    from kiplint.render.table import paint

    return paint(text, SEVERITY["error"], color)
