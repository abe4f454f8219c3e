"""Decoded bytes for people: each frame as a table of its values, the summary of a capture; and Markdown."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TextIO

import msgspec

from kiplint.codec.codec import is_error_field
from kiplint.codec.problems import RULES
from kiplint.codec.summary import ApiTraffic, CaptureSummary, ConnectionTraffic, Latency
from kiplint.codec.wire import ValueSpan
from kiplint.commands.decode.result import DecodedFrame, DecodeResult, FrameRow, cause_text, summary_sentence
from kiplint.model.error_codes import error_of
from kiplint.render.markdown import inline, write_row, write_verdict
from kiplint.render.table import BOLD, DIM, SEVERITY, fold, paint, paragraph, table, title, width_of
from kiplint.text.show import printable
from kiplint.text.words import in_bytes, plural

MOST_BYTES, MOST_TEXT = 16, 60
"""The number of bytes of a value that are shown, and of characters."""
MOST_ROWS = 10_000
"""The number of values of a frame that are shown."""
ROW_HEAD = ("offset", "bytes", "field", "encoding", "value")
CAPTURE_HEAD = (
    "API", "version", "offered", "requests", "responses", "bytes", "failed", "p50 ms", "p95 ms", "max ms",
)  # fmt: skip
CONNECTION_HEAD = ("connection", "client", "server", "requests", "responses", "software", "ApiVersions", "closed by")
LIST_HEAD = (
    "frame", "seconds", "conn", "direction", "API", "version", "client id", "correlation", "bytes", "ms", "errors",
)  # fmt: skip
NUMBERS = (0, 1, 2, 5, 7, 8, 9)
"""The columns of the list whose values are aligned to the right."""
MOST_CONNECTIONS, MOST_NAMED, MOST_CAUSES = 10, 10, 20
"""The number of connections that are listed, of frames that are named beside an equal one, and of causes."""


def write(result: DecodeResult, out: TextIO, *, color: bool) -> None:
    """Write the frames, after a summary of the capture if there is one."""
    width = width_of(out)
    summary = [[*_summary(result.capture, color, width)]] if result.capture is not None else []
    if result.number is not None:
        parts = [[*_frame_lines(entry, color, width), *_dump(entry.data)] for entry in result.entries]
    elif result.rows:
        parts = [[*_list_lines(result, color)], *summary]
    else:
        parts = summary + [[*_frame_lines(entry, color, width)] for entry in result.entries if entry.captured is None]
        for first, *others in _alike(entry for entry in result.entries if entry.captured):
            parts.append([*_frame_lines(first, color, width), *_others(others, width)])
    out.write("\n\n".join("\n".join(part) for part in parts) + "\n" if parts else "")


def write_markdown(result: DecodeResult, out: TextIO, *, color: bool) -> None:
    """Write the verdict, the RPCs of a capture, and the problems."""
    problems = [(entry, problem) for entry in result.entries for problem in entry.frame.problems]
    write_verdict(result.verdict, out)
    if result.capture is not None:
        write_row(("API", "version", "requests", "responses"), out)
        write_row(["---"] * 4, out)
        for api in result.capture.by_api:
            write_row((inline(api.name), *map(str, (api.api_version, api.requests, api.responses))), out)
        out.write("\n")
    if problems:
        write_row(("rule", "message", "byte", "field", "what"), out)
        write_row(["---"] * 5, out)
    rows = Counter(
        (
            problem.rule,
            f"{entry.frame.message} {entry.frame.version}",
            str(problem.offset),
            problem.path,
            problem.message,
        )
        for entry, problem in problems
    )
    for row, count in rows.items():
        write_row(map(inline, (*row[:-1], f"{row[-1]}{f' ({count} times)' if count > 1 else ''}")), out)


def _alike(entries: Iterable[DecodedFrame]) -> Iterable[list[DecodedFrame]]:
    """The frames with problems, grouped by message, version and first problem."""
    groups: dict[tuple[str, int, str, str], list[DecodedFrame]] = {}
    for entry in entries:
        for problem in entry.frame.problems[:1]:
            path = re.sub(r"\[\d+\]", "[]", problem.path)
            groups.setdefault((entry.frame.message, entry.frame.version, problem.rule, path), []).append(entry)
    return groups.values()


def _others(entries: Sequence[DecodedFrame], width: int | None) -> Iterator[str]:
    """The numbers of further frames with the same problem."""
    if entries:
        numbers = [str(entry.captured.number) for entry in entries if entry.captured]
        more = f" and {len(numbers) - MOST_NAMED} more" if len(numbers) > MOST_NAMED else ""
        yield from fold(f"the same in {plural(len(entries), 'frame')}: {', '.join(numbers[:MOST_NAMED])}{more}", width)


def _list_lines(result: DecodeResult, color: bool) -> Iterator[str]:
    """A line for each frame."""
    rows = [LIST_HEAD, *map(_list_cells, result.rows, result.entries)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    line = "  ".join(f"%{'' if place in NUMBERS else '-'}{width}s" for place, width in enumerate(widths))
    yield paint((line % LIST_HEAD).rstrip(), DIM, color)
    for row, cells in zip(result.rows, rows[1:], strict=True):
        text = printable((line % cells).rstrip())
        yield paint(text, SEVERITY["error"], True) if color and (row.problem or row.errors) else text


def _list_cells(row: FrameRow, entry: DecodedFrame) -> tuple[str, ...]:
    errors = [*dict.fromkeys(map(str, entry.frame.errors))] if row.errors else []
    more = f"and {len(errors) - MOST_NAMED} more errors" if len(errors) > MOST_NAMED else ""
    notes = [*errors[:MOST_NAMED], more, row.problem, "" if row.answered else "not answered"]
    return (
        str(row.number), f"{row.time:.6f}", str(row.connection), row.direction, row.api, str(row.version),
        row.client_id, str(row.correlation_id), str(row.size), f"{row.latency:.3f}" if row.latency >= 0 else "",
        ", ".join(filter(None, notes)),
    )  # fmt: skip


def _dump(data: bytes) -> Iterator[str]:
    """All bytes of a frame, with their characters."""
    for start in range(0, len(data), MOST_BYTES):
        chunk = data[start : start + MOST_BYTES]
        text = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in chunk)
        yield f"  {start:08x}  {chunk.hex(' '):<{3 * MOST_BYTES}}|{text}|"


def _frame_lines(entry: DecodedFrame, color: bool, width: int | None = None) -> Iterator[str]:
    """The lines of a frame: a title, the table of its values, and its problems."""
    frame = entry.frame
    name = f"{frame.message} {frame.version}" if frame.message else "unknown frame"
    header = f", header {frame.header_version}" if frame.header_version is not None else ""
    yield from fold(f"{name}{header}, {in_bytes(frame.length)}{origin(entry)}", width, color, BOLD)
    rows = value_rows(entry, MOST_ROWS + 1)
    cells = [_cells_of(row) for row in rows[:MOST_ROWS]]
    yield from table(ROW_HEAD, cells, color, width)
    if len(rows) > MOST_ROWS:
        yield from fold(f"... and more: of these values only the first {MOST_ROWS:,} are shown; JSON has all", width)
    if not frame.spans and frame.value is not None and "batches" in frame.value:
        yield from msgspec.json.format(msgspec.json.encode(frame.value), indent=2).decode().splitlines()
    for problem in frame.problems:
        where = f"{problem.path}: " if problem.path else ""
        yield from _label(problem.rule, f"{where}{problem.message}", f" at byte {problem.offset}", color, width)


def _label(rule: str, text: str, place: str, color: bool, width: int | None) -> Iterator[str]:
    """A text behind the severity and the id of a rule."""
    severity = RULES[rule].severity
    label = f"{severity}[{rule}]"
    first, *more = fold(f"{label}{place}: {text}", width)
    yield first.replace(label, paint(label, SEVERITY[severity], color), 1)
    yield from more


def origin(entry: DecodedFrame) -> str:
    """Where a frame comes from, to stand behind its name."""
    frame = entry.captured
    if frame is not None:
        prepositions = ("from", "to") if frame.direction == "request" else ("to", "from")
        client, server = (f"{host}:{port}" for host, port in (frame.client, frame.server))
        ends = f"{prepositions[0]} {client} {prepositions[1]} {server}"
        answer = f", {frame.latency:.3f} ms after frame {frame.request}" if frame.latency is not None else ""
        return f", frame {frame.number}, {ends}, byte {frame.stream_offset} of its stream{answer}"
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


class ValueRow(NamedTuple):
    """A value of a frame: its offset, its first bytes, its field with its depth, its encoding, and the value.

    `wrong` is the place of the first wrong byte among the bytes; None where there is none.
    """

    offset: int
    data: bytes
    is_cut: bool
    depth: int
    field: str
    type: str
    value: str
    wrong: int | None


def value_rows(entry: DecodedFrame, most: int) -> list[ValueRow]:
    """The values of a frame in the order of their bytes, at most so many."""
    places = sorted(problem.offset for problem in entry.frame.problems)
    errors = {error.field: str(error) for error in entry.frame.errors}
    rows = []
    for span in islice((span for span in _spans(entry) if span.length), most):
        data = entry.data[span.offset : span.offset + span.length]
        wrong = next((place - span.offset for place in places if 0 <= place - span.offset < span.length), None)
        value = "redacted" if span.path in entry.frame.redacted else errors.get(span.path) or _value(span)
        name = span.path.rpartition(".")[2]
        cut = len(data) > MOST_BYTES
        rows.append(ValueRow(span.offset, data[:MOST_BYTES], cut, span.depth, name, span.type, value, wrong))
    return rows


def _cells_of(row: ValueRow) -> list[tuple[str, str]]:
    hit = SEVERITY["error"] if row.wrong is not None else ""
    return [
        (str(row.offset).rjust(6), hit or DIM),
        (row.data.hex(" ") + " ..." * row.is_cut, hit),
        ("  " * row.depth + row.field, hit),
        (row.type, DIM),
        (row.value, hit),
    ]


def _value(span: ValueSpan) -> str:
    if span.type in ("not read", "tag section") or span.type.startswith("tag "):
        return "" if span.value is None else in_bytes(span.value) if span.type != "tag section" else str(span.value)
    if "array" in span.type.split() and span.value is not None:
        return f"{span.value} elements" if span.value != 1 else "1 element"
    if span.value == 0 and span.type == "int16" and is_error_field(span.path):
        return str(error_of(0))
    return _short(span.value)


def _short(value: Any) -> str:
    if value == {}:
        return ""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 3] + "..."


def _summary(summary: CaptureSummary, color: bool, width: int | None) -> Iterator[str]:
    yield from fold(summary_sentence(summary), width, color, BOLD)
    for cause in summary.causes[:MOST_CAUSES]:
        yield from _label(cause.rule, cause_text(cause, summary), "", color, width)
    if len(summary.causes) > MOST_CAUSES:
        yield f"and {plural(len(summary.causes) - MOST_CAUSES, 'cause')} more; JSON has all"
    others = "".join(
        f", {plural(count, 'connection')} {what}"
        for count, what in (
            (summary.other_connections, "of other protocols"),
            (summary.unclear_connections, "whose client cannot be determined"),
        )
        if count
    )
    partial = f", {plural(summary.incomplete, 'frame')} not captured to the end" if summary.incomplete else ""
    lone_responses = summary.unpaired_responses
    alone = f", {plural(lone_responses, 'response')} without a captured request" if lone_responses else ""
    details = f"{plural(summary.packets, 'packet')}, {summary.payload_bytes} bytes of payload{others}{partial}{alone}"
    yield from fold(f"  {details}", width)
    yield from table(CAPTURE_HEAD, [_api(api) for api in summary.by_api], color, width)
    failing_first = sorted(summary.connections, key=lambda traffic: -(traffic.problems + traffic.unanswered))
    connections = failing_first[:MOST_CONNECTIONS]
    yield from table(CONNECTION_HEAD, map(_connection, connections), color, width)
    if len(summary.connections) > MOST_CONNECTIONS:
        yield f"  and {plural(len(summary.connections) - MOST_CONNECTIONS, 'connection')} more; JSON has all"
    clients = [f"{name} ({count})" for name, count in summary.client_ids.items()]
    yield from _list("clients", clients, width)
    errors = [f"{error}: {error.count} in {plural(error.frames, 'response')}" for error in summary.errors]
    yield from _list("errors", errors, width)
    if summary.latency is not None:
        yield f"  latency: {', '.join(f'{name} {time} ms' for name, time in _times(summary.latency))}"
    names = {(api.api_key, api.api_version): f"{api.name or api.api_key} {api.api_version}" for api in summary.by_api}
    pending = Counter(names[item.api_key, item.api_version] for item in summary.unanswered if item.pending is True)
    yield from _list("pending when the capture ended", [f"{name} ({count})" for name, count in pending.items()], width)
    heading = f"{plural(len(summary.problems), 'frame')} with problems"
    yield paint(heading, SEVERITY["error"], color) if summary.problems else title(heading, color)


def _api(api: ApiTraffic) -> list[tuple[str, str]]:
    size = api.request_bytes + api.response_bytes
    times = (time for _, time in _times(api.latency)) if api.latency else ("", "", "")
    numbers = (api.requests, api.responses, size, api.failed, *times)
    cells = (api.name or f"key {api.api_key}", api.api_version, api.offered, *numbers)
    return [(str(cell), "") for cell in cells]


def _times(latency: Latency) -> list[tuple[str, str]]:
    return [("p50", f"{latency.p50:.3f}"), ("p95", f"{latency.p95:.3f}"), ("max", f"{latency.max:.3f}")]


def _connection(connection: ConnectionTraffic) -> list[tuple[str, str]]:
    tries = ", ".join(map(str, connection.api_versions))
    counts = (connection.requests, connection.responses)
    closed = f"{connection.closed_by}{', RST' if connection.reset else ''}" if connection.closed_by else ""
    cells = (connection.connection, connection.client, connection.server, *counts, connection.software, tries, closed)
    return [(str(cell), "") for cell in cells]


def _list(label: str, items: list[str], width: int | None) -> Iterator[str]:
    if items:
        yield f"  {label}:"
        yield from paragraph(items, "    ", width)
