"""Decoded bytes for people: each frame as a table of its values, the summary of a capture; and Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TextIO

import msgspec

from kiplint.codec.capture import ApiTraffic, CaptureSummary
from kiplint.codec.wire import ValueSpan
from kiplint.commands.decode.result import DecodedFrame, DecodeResult
from kiplint.render.markdown import inline, write_row
from kiplint.render.table import BOLD, DIM, SEVERITY, fold, paint, paragraph, table, title, width_of
from kiplint.text.words import in_bytes, plural

MOST_BYTES, MOST_TEXT = 16, 60
"""The number of bytes of a value that are shown, and of characters."""
MOST_ROWS = 10_000
"""The number of values of a frame that are shown."""
ROW_HEAD = ("offset", "bytes", "field", "encoding", "value")
CAPTURE_HEAD = ("API", "version", "requests", "responses", "bytes")


def write(result: DecodeResult, out: TextIO, *, color: bool) -> None:
    """Write the frames, after a summary of the capture if there is one."""
    width = width_of(out)
    parts = [[*_summary(result.capture, color, width)]] if result.capture is not None else []
    drawn = (entry for entry in result.entries if entry.captured is None or entry.frame.problems)
    parts += [[*_frame_lines(entry, color, width)] for entry in drawn]
    out.write("\n\n".join("\n".join(part) for part in parts) + "\n" if parts else "")


def write_markdown(result: DecodeResult, out: TextIO, *, color: bool) -> None:
    """Write the numbers of frames and problems, the RPCs of a capture, and the problems."""
    problems = [(entry, problem) for entry in result.entries for problem in entry.frame.problems]
    out.write(f"### {plural(len(result.entries), 'frame')}, {plural(len(problems), 'problem')}\n\n")
    if result.capture is not None:
        write_row(CAPTURE_HEAD[:-1], out)
        write_row(["---"] * 4, out)
        for api in result.capture.by_api:
            write_row((inline(api.name), *map(str, (api.api_version, api.requests, api.responses))), out)
        out.write("\n")
    if problems:
        write_row(("rule", "message", "byte", "field", "what"), out)
        write_row(["---"] * 5, out)
    for entry, problem in problems:
        name = f"{entry.frame.message} {entry.frame.version}"
        write_row(map(inline, (problem.rule, name, str(problem.offset), problem.path, problem.message)), out)


def _frame_lines(entry: DecodedFrame, color: bool, width: int | None = None) -> Iterator[str]:
    """The lines of a frame: a title, the table of its values, and its problems."""
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


def _origin(entry: DecodedFrame) -> str:
    captured = entry.captured
    if captured is not None:
        prepositions = ("from", "to") if captured.direction == "request" else ("to", "from")
        client, server = (f"{host}:{port}" for host, port in (captured.client, captured.server))
        ends = f"{prepositions[0]} {client} {prepositions[1]} {server}"
        return f", {ends}, byte {captured.stream_offset} of its stream"
    if entry.start > 4:
        return f", at byte {entry.start}"
    return f", line {entry.line}" if entry.line else ""


def _spans(entry: DecodedFrame) -> list[ValueSpan]:
    """The values, and the bytes at the end that were not decoded."""
    spans = [*entry.frame.spans]
    end = max((span.offset + span.length for span in spans), default=0)
    if entry.frame.problems and end < len(entry.data):
        spans.append(ValueSpan(end, len(entry.data) - end, 0, "", "not read", None))
    return spans


def _row(entry: DecodedFrame, span: ValueSpan, wrong: set[int]) -> list[tuple[str, str]]:
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


def _summary(summary: CaptureSummary, color: bool, width: int | None) -> Iterator[str]:
    to = f" to {', '.join(summary.servers)}" if summary.servers else ""
    yield from fold(
        f"{plural(summary.frames, 'frame')} in {plural(summary.tcp_connections, 'connection')}{to}: "
        f"{plural(summary.requests, 'request')}, {plural(summary.responses, 'response')}, {summary.seconds} s",
        width,
        color,
        BOLD,
    )
    others = "".join(
        f", {plural(count, 'connection')} {what}"
        for count, what in (
            (summary.other_connections, "of other protocols"),
            (summary.unclear_connections, "whose client cannot be determined"),
        )
        if count
    )
    lost = f", {plural(summary.incomplete, 'frame')} not captured to the end" if summary.incomplete else ""
    unpaired = summary.unpaired_responses
    alone = f", {plural(unpaired, 'response')} without a captured request" if unpaired else ""
    details = f"{plural(summary.packets, 'packet')}, {summary.payload_bytes} bytes of payload{others}{lost}{alone}"
    yield from fold(f"  {details}", width)
    yield from table(CAPTURE_HEAD, [_api(api) for api in summary.by_api], color, width)
    clients = [f"{name} ({count})" for name, count in summary.client_ids.items()]
    yield from _list("clients", clients, width)
    missing = [
        f"{request.api_key}@{request.api_version} from port {request.client_port}" for request in summary.unanswered
    ]
    yield from _list("not answered", missing, width)
    broken = f"{plural(len(summary.problems), 'frame')} with problems"
    yield paint(broken, SEVERITY["error"], color) if summary.problems else title(broken, color)


def _api(api: ApiTraffic) -> list[tuple[str, str]]:
    size = api.request_bytes + api.response_bytes
    cells = (api.name or f"key {api.api_key}", api.api_version, api.requests, api.responses, size)
    return [(str(cell), "") for cell in cells]


def _list(label: str, items: list[str], width: int | None) -> Iterator[str]:
    if items:
        yield f"  {label}:"
        yield from paragraph(items, "    ", width)
