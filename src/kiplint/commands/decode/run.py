"""Decoding of frames, bodies, streams, captures and record batches, from text, files and standard input."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from msgspec.structs import asdict, replace

from kiplint.codec.capture import CaptureSummary, UnreadableCapture, read_capture, summarize
from kiplint.codec.catalog import Catalog, chosen_message, chosen_response, open_catalog
from kiplint.codec.connection import judge_capture, problems_of
from kiplint.codec.conversation import Address
from kiplint.codec.exchange import Additions, BadInput, complete, read_object
from kiplint.codec.frames import Frame, decode_body, decode_request, decode_response, split, with_readings
from kiplint.codec.problems import RULES, ByteProblem
from kiplint.codec.records import is_exhausted, read_together, refill
from kiplint.commands.decode.inputs import DecodeInput, InputFormat, read_inputs
from kiplint.commands.decode.result import DecodedFrame, DecodeResult, FrameRow
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Span, fingerprint
from kiplint.engine.translate import condition
from kiplint.limits import RECORDS, Counter
from kiplint.model.error_codes import NONE
from kiplint.render.report import RuleInfo
from kiplint.text.words import plural


class _How(NamedTuple):
    """How to decode the inputs."""

    catalog: Catalog
    response: tuple[int, int] | None
    body: tuple[str, int] | None
    additions: Additions
    topic: str
    spans: bool
    every: bool
    """Whether the places of values are kept for all frames, not only for frames of a capture with problems."""
    number: int | None
    frames: Counter
    """How many frames may still be decoded."""
    streamed: bool
    """Whether frames are written as soon as they are decoded. Then only the frames of captures are counted."""


def decode(
    *inputs: str | bytes,
    sets: Sequence[Path] = (".",),
    repository: Path | None = None,
    input_format: InputFormat = "auto",
    response: str | None = None,
    body: str | None = None,
    defaults: bool = False,
    records: bool = False,
    topic: str = "",
    spans: bool = True,
    limit: int = RECORDS,
    where: str = "",
    frame: int | None = None,
    listed: bool = False,
    offsets: bool = False,
    each: Callable[[DecodedFrame], object] | None = None,
) -> DecodeResult:
    """Decode frames, bodies, streams and captures with the layouts of `sets`; the first set that has a version counts.

    An input is text (hexadecimal or base64), the path of a file, `-` for standard input, or bytes. Requests state their
    message. `response` (KEY@VERSION) is the request that the frames answer; with `body` (MESSAGE@VERSION) the bytes
    have no header. `defaults` adds absent tagged fields; `records` decodes record batches, with the messages of `topic`
    where the batches stand alone. `spans` keeps the place of each value. At most `limit` records are
    read, and ten times as many elements of arrays. `where` (an expression over the columns of `FrameRow`) and `frame`
    (a number) choose frames; `listed` adds the rows, `offsets` the place of each value to the document. `each` takes
    every frame as soon as it is decoded; the result then has no frames and no findings. The status is `findings` where
    bytes have problems. Raises UsageError for invalid input and arguments, and SourceError for sets that cannot be
    opened.
    """
    if response and body:
        raise UsageError("response and body exclude each other: a body has no header")
    catalog = open_catalog(sets, repository)
    message = chosen_message(catalog, body) if body else None
    how = _How(
        catalog,
        chosen_response(catalog, response) if response else None,
        (message[0].name, message[1]) if message else None,
        Additions(defaults, records),
        topic,
        spans or offsets,
        offsets,
        frame,
        Counter(limit),
        each is not None,
    )
    if limit < 1:
        raise UsageError("the limit must be at least 1")
    entries: list[DecodedFrame] = []
    summaries: list[CaptureSummary] = []
    rules: set[str] = set()
    notes: list[str] = []
    limited = False
    rows: list[FrameRow] = []
    chosen_rows = listed or where or frame is not None
    with read_together(limit):
        decoded = _read(how, inputs or ("-",), input_format, summaries, notes)
        for entry, row in _chosen(decoded, where, frame) if chosen_rows else ((entry, None) for entry in decoded):
            rules.update(problem.rule for problem in entry.frame.problems)
            limited = limited or is_exhausted()
            if each is None:
                entries.append(entry)
                rows += [row] if row and listed else []
            else:
                each(entry)
                refill()
    findings = tuple(_finding(entry, problem) for entry in entries for problem in entry.frame.problems)
    unread = tuple(catalog.broken)
    return DecodeResult(
        status="error" if unread else "findings" if any(RULES[rule].severity == "error" for rule in rules) else "ok",
        findings=findings,
        files=len({entry.source for entry in entries}),
        messages=len(entries),
        rules={rule: _info(rule) for rule in sorted(rules)},
        broken=unread,
        entries=tuple(entries),
        capture=summaries[-1] if summaries else None,
        rows=tuple(rows),
        number=frame,
        offsets=offsets,
        limited=limited or how.frames.left < 0,
        notes=tuple(dict.fromkeys(notes)),
    )


_WITH_PLACES = 10
"""A frame decoded with the places of its values counts as this many: it takes ten times as long."""


def _read(
    how: _How,
    inputs: tuple[str | bytes, ...],
    input_format: InputFormat,
    summaries: list[CaptureSummary],
    notes: list[str],
) -> Iterator[DecodedFrame]:
    """The frames of all inputs; the summaries of captures, and how inputs were read, are added to the lists."""
    for piece in read_inputs(inputs, input_format, 1 if how.body else 4 if how.response else 8, how.frames.most):
        notes += [piece.note] if piece.note else []
        if piece.form == "capture":
            frames, summary = _capture(how, piece)
            summaries.append(summary)
            yield from frames
        else:
            for entry in _entries(how, piece):
                if not how.streamed and not how.frames.take(_WITH_PLACES if how.spans else 1):
                    return
                yield entry


def _entries(how: _How, piece: DecodeInput) -> Iterator[DecodedFrame]:
    if piece.form == "stream":
        for part in split(piece.data):
            if part.problem:
                problem = replace(part.problem, offset=part.problem.offset - part.offset)
                frame = Frame("", -1, None, None, None, len(part.data), (problem,))
                yield DecodedFrame(piece.source, piece.line, part.offset, part.data, frame)
            else:
                yield DecodedFrame(piece.source, piece.line, part.offset + 4, part.data, _frame(how, part.data))
    elif piece.form == "records":
        yield _records(how, piece)
    elif piece.form == "json":
        yield _line(how, piece)
    else:
        yield _single(how, piece)


def _single(how: _How, piece: DecodeInput) -> DecodedFrame:
    """A frame or a body; a frame in text may begin with its length."""
    frame, data = _frame(how, piece.data), piece.data
    framed = len(data) >= 4 and int.from_bytes(data[:4], "big") == len(data) - 4
    if frame.problems and framed and piece.form == "text-frame" and not how.body:
        return DecodedFrame(piece.source, piece.line, 4, data[4:], _frame(how, data[4:]))
    return DecodedFrame(piece.source, piece.line, 0, data, frame)


def _frame(how: _How, data: bytes) -> Frame:
    spans = how.spans or how.additions.records
    if how.body:
        frame = decode_body(how.catalog, *how.body, data, spans=spans)
    elif how.response:
        frame = decode_response(how.catalog, *how.response, data, spans=spans)
    else:
        frame = decode_request(how.catalog, data, spans=spans)
    if not how.body:
        frame = with_readings(how.catalog, frame, data, "response" if how.response else "request")
    return complete(how.catalog, frame, how.additions)


def _line(how: _How, piece: DecodeInput) -> DecodedFrame:
    """A line of JSON with bytes."""
    try:
        frame, data = read_object(how.catalog, piece.data, spans=how.spans or how.additions.records)
    except BadInput as error:
        problem = ByteProblem("codec/input-invalid", 0, str(error))
        return DecodedFrame(piece.source, piece.line, 0, b"", Frame("", -1, None, None, None, 0, (problem,)))
    return DecodedFrame(piece.source, piece.line, 0, data, complete(how.catalog, frame, how.additions))


def _records(how: _How, piece: DecodeInput) -> DecodedFrame:
    """Record batches without a message around them, as in a segment of a log."""
    from kiplint.codec.records import read_batches
    from kiplint.codec.topics import Meaning

    batches, problems = read_batches(piece.data)
    Meaning(how.catalog).explain(how.topic, batches)
    frame = Frame("", -1, None, None, {"batches": batches}, len(piece.data), problems)
    return DecodedFrame(piece.source, piece.line, 0, piece.data, frame)


def _capture(how: _How, piece: DecodeInput) -> tuple[list[DecodedFrame], CaptureSummary]:
    try:
        capture = read_capture(how.catalog, piece.data, max(how.frames.left, 0))
    except UnreadableCapture as error:
        raise UsageError(f"{piece.source}: {error}") from None
    spans = how.spans or how.additions.records
    entries = []
    how.frames.left = -1 if capture.limited else how.frames.left - len(capture.frames)
    frames = [captured.decode(how.catalog, spans=how.additions.records or how.every) for captured in capture.frames]
    breaches = judge_capture(zip(capture.frames, frames, strict=True))
    for captured, fast in zip(capture.frames, frames, strict=True):
        broken = breaches.get(captured.number, ())
        again = broken or (spans and not fast.spans and (fast.problems or captured.number == how.number))
        frame = captured.decode(how.catalog, spans=True) if again else fast
        # A frame that was not captured to its end is not wrong.
        problems = (*(frame.problems if captured.whole else ()), *problems_of(broken, frame))
        frame = replace(frame, problems=problems) if problems != frame.problems else frame
        frame = complete(how.catalog, frame, how.additions)
        entries.append(DecodedFrame(piece.source, 0, captured.stream_offset + 4, captured.data, frame, captured))
    return entries, summarize(how.catalog, capture, [entry.frame for entry in entries])


def _finding(entry: DecodedFrame, problem: ByteProblem) -> Finding:
    """A problem as a finding, whose columns are bytes, except for lines of text."""
    frame = entry.frame
    name = f"{frame.message} {frame.version}" if frame.message else "a frame"
    where = f", {problem.path}" if problem.path else ""
    column = 1 if entry.line else entry.start + problem.offset + 1
    line = max(entry.line, 1)
    client = f" from {entry.captured.client[0]}:{entry.captured.client[1]}" if entry.captured else ""
    place = (entry.source, str(entry.line), str(entry.start + problem.offset), frame.message)
    return Finding(
        rule=problem.rule,
        severity=RULES[problem.rule].severity,
        message=f"{name}{where}{client}: {problem.message} (byte {problem.offset})",
        path=entry.source,
        **asdict(Span(line, column, line, column + 1)),
        pointer="",
        message_name=frame.message,
        source="",
        fingerprint=fingerprint(problem.rule, *place),
        fixable=False,
    )


def _info(rule: str) -> RuleInfo:
    known = RULES[rule]
    return RuleInfo(title=known.title, why=known.why, source=known.source, severity=known.severity, help=known.why)


def _frame_rows(entries: Iterable[DecodedFrame]) -> Iterator[tuple[DecodedFrame, FrameRow]]:
    """Frames with their rows, in order."""
    clients: dict[tuple[str, int], str] = {}
    for place, entry in enumerate(entries, 1):
        captured, header = entry.captured, entry.frame.header or {}
        client_id = header.get("clientId") or ""
        if captured and captured.request is not None:
            client_id = clients.get((entry.source, captured.request), "")
        elif captured:
            clients[entry.source, captured.number] = client_id
        yield entry, _row(entry, place, client_id)


def _row(entry: DecodedFrame, place: int, client_id: str) -> FrameRow:
    frame, captured, header = entry.frame, entry.captured, entry.frame.header or {}
    api_key = captured.api_key if captured else header.get("requestApiKey", -1)
    names = tuple(dict.fromkeys([error.name for error in frame.errors]))
    answer = frame.message.endswith("Response")
    return FrameRow(
        number=captured.number if captured else place,
        time=captured.elapsed if captured else 0.0,
        connection=captured.connection if captured else -1,
        direction=captured.direction if captured else "" if not header else "response" if answer else "request",
        api=frame.message.removesuffix("Response" if answer else "Request") or f"key {api_key}",
        api_key=api_key,
        version=captured.api_version if captured else frame.version,
        client_id=client_id,
        correlation_id=captured.correlation_id if captured else header.get("correlationId", -1),
        size=frame.length + 4,
        latency=captured.latency if captured and captured.latency is not None else -1.0,
        error=names[0] if names else NONE,
        errors=names,
        problem=frame.problems[0].rule if frame.problems else "",
        answered=captured is None or captured.direction == "response" or captured.answered is not False,
        client=_address(captured.client) if captured else "",
        server=_address(captured.server) if captured else "",
        message=frame.message,
    )


def _address(end: Address) -> str:
    return f"{end[0]}:{end[1]}"


def _chosen(entries: Iterable[DecodedFrame], where: str, number: int | None) -> Iterator[tuple[DecodedFrame, FrameRow]]:
    """The frames for which a condition holds, or the frame with a number. Raises UsageError."""
    holds: Callable[[object], bool] = condition(where, FrameRow, "frame") if where else lambda row: True
    last = 0
    for entry, row in _frame_rows(entries):
        last = max(last, row.number)
        if holds(row) and number in (None, row.number):
            yield entry, row
    if number is not None and not 0 < number <= last:
        raise UsageError(f"there is no frame {number}; the input has {plural(last, 'frame')}")
