"""Decoding of bytes that are given in many ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from kiplint.codec.catalog import Catalog
from kiplint.codec.exchange import BadInput, Wanted, finished, read_object
from kiplint.codec.frames import Frame, decode_body, decode_request, decode_response
from kiplint.codec.problems import RULES, Problem
from kiplint.codec.records.compression import read_together
from kiplint.codec.stream import split
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Span
from kiplint.runs.bytes.choice import chosen_message, chosen_response, open_catalog
from kiplint.runs.bytes.inputs import Given, InputFormat, read_inputs
from kiplint.runs.configuration import Path
from kiplint.runs.result import Report, RuleInfo

TYPE_CHECKING = False
if TYPE_CHECKING:
    from kiplint.codec.conversation import Captured


class Entry(msgspec.Struct, frozen=True):
    """One decoded frame or body, and where it is from.

    `start` is where its bytes begin in those of the input, of a capture in those of its direction; `captured` has the
    rest of what a capture says.
    """

    source: str
    line: int
    start: int
    data: bytes
    frame: Frame
    captured: Captured | None = None


class DecodeResult(Report, frozen=True):
    """What bytes came to: an entry for each frame or body, and the summary of a capture."""

    entries: tuple[Entry, ...] = ()
    capture: Mapping[str, Any] | None = None

    command = "decode"

    @property
    def values(self) -> list[dict[str, Any] | None]:
        """The values of all frames, None where nothing could be read."""
        return [entry.frame.value for entry in self.entries]


class _How(NamedTuple):
    """How inputs are to be read."""

    catalog: Catalog
    response: tuple[int, int] | None
    body: tuple[str, int] | None
    wanted: Wanted
    topic: str
    spans: bool


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
) -> DecodeResult:
    """Decode frames, bodies, streams and captures with the layouts of `sets`; the first that has a version counts.

    Requests name themselves. `response` (KEY@VERSION) says what request the frames answer, `body` (MESSAGE@VERSION)
    that they have no header. `defaults` adds absent tagged fields, `records` reads record batches; those of `topic`
    where no message says whose they are. `spans` keeps where each value stands. Raises UsageError and SourceError.
    """
    if response and body:
        raise UsageError("--response and --body exclude each other")
    catalog = open_catalog(sets, repository)
    message = chosen_message(catalog, body) if body else None
    how = _How(
        catalog,
        chosen_response(catalog, response) if response else None,
        (message[0].name, message[1]) if message else None,
        Wanted(defaults, records),
        topic,
        spans,
    )
    entries, summary = _read(how, inputs or ("-",), input_format)
    findings = tuple(_finding(entry, problem) for entry in entries for problem in entry.frame.problems)
    unread = tuple(catalog.broken)
    rules = {one.rule: _info(one.rule) for one in findings}
    return DecodeResult(
        status="error" if unread else "findings" if findings else "ok",
        findings=findings,
        files=len({entry.source for entry in entries}),
        messages=len(entries),
        rules=rules,
        broken=unread,
        entries=tuple(entries),
        capture=summary,
    )


def _read(
    how: _How, inputs: tuple[str | bytes, ...], input_format: InputFormat
) -> tuple[list[Entry], dict[str, Any] | None]:
    """The entries of all inputs, and the summary of the last capture among them."""
    entries: list[Entry] = []
    summary: dict[str, Any] | None = None
    with read_together():
        for given in read_inputs(inputs, input_format):
            if given.form == "capture":
                found, summary = _capture(how, given)
                entries += found
            else:
                entries += _entries(how, given)
    return entries, summary


def _entries(how: _How, given: Given) -> Iterator[Entry]:
    if given.form == "stream":
        for piece in split(given.data):
            if piece.problem:
                frame = Frame("", -1, None, None, None, len(piece.data), (_shifted(piece.problem, -piece.offset),))
                yield Entry(given.name, given.line, piece.offset, piece.data, frame)
            else:
                yield Entry(given.name, given.line, piece.offset + 4, piece.data, _frame(how, piece.data))
    elif given.form == "records":
        yield _records(how, given)
    elif given.form == "json":
        yield _line(how, given)
    else:
        yield _single(how, given)


def _single(how: _How, given: Given) -> Entry:
    """A frame, or a body; one that is given as text may have its length in front."""
    frame, data = _frame(how, given.data), given.data
    framed = len(data) >= 4 and int.from_bytes(data[:4], "big") == len(data) - 4
    if frame.problems and framed and given.form == "text-frame" and not how.body:
        return Entry(given.name, given.line, 4, data[4:], _frame(how, data[4:]))
    return Entry(given.name, given.line, 0, data, frame)


def _frame(how: _How, data: bytes) -> Frame:
    spans = how.spans or how.wanted.records
    if how.body:
        frame = decode_body(how.catalog, *how.body, data, spans=spans)
    elif how.response:
        frame = decode_response(how.catalog, *how.response, data, spans=spans)
    else:
        frame = decode_request(how.catalog, data, spans=spans)
    return finished(how.catalog, frame, how.wanted)


def _line(how: _How, given: Given) -> Entry:
    """One object of the JSON of bytes."""
    try:
        frame, data = read_object(how.catalog, given.data, spans=how.spans or how.wanted.records)
    except BadInput as error:
        problem = Problem("codec/input-invalid", 0, str(error))
        return Entry(given.name, given.line, 0, b"", Frame("", -1, None, None, None, 0, (problem,)))
    return Entry(given.name, given.line, 0, data, finished(how.catalog, frame, how.wanted))


def _records(how: _How, given: Given) -> Entry:
    """Record batches without a message around them, as in a segment of a log."""
    from kiplint.codec.records.batch import read_batches
    from kiplint.codec.records.topics import Meaning

    batches, problems = read_batches(given.data)
    Meaning(how.catalog).explain(how.topic, batches)
    frame = Frame("", -1, None, None, {"batches": batches}, len(given.data), problems)
    return Entry(given.name, given.line, 0, given.data, frame)


def _capture(how: _How, given: Given) -> tuple[list[Entry], dict[str, Any]]:
    from kiplint.codec.capture import UnreadableCapture, read_capture
    from kiplint.codec.summary import summarize

    try:
        capture = read_capture(how.catalog, given.data)
    except UnreadableCapture as error:
        raise UsageError(f"{given.name}: {error}") from None
    spans = how.spans or how.wanted.records
    entries = []
    for one in capture.frames:
        frame = one.decode(how.catalog, spans=how.wanted.records)
        if frame.problems and spans and not frame.spans:
            frame = one.decode(how.catalog, spans=True)
        # What was not captured to its end is no fault of who sent it.
        frame = frame if one.whole else msgspec.structs.replace(frame, problems=())
        frame = finished(how.catalog, frame, how.wanted)
        entries.append(Entry(given.name, 0, one.stream_offset + 4, one.data, frame, one))
    return entries, summarize(how.catalog, capture, [entry.frame for entry in entries])


def _shifted(problem: Problem, by: int) -> Problem:
    return msgspec.structs.replace(problem, offset=problem.offset + by)


def _finding(entry: Entry, problem: Problem) -> Finding:
    """A problem as a finding, for those that know only findings: bytes are columns, except in lines of text."""
    frame = entry.frame
    name = f"{frame.message} {frame.version}" if frame.message else "a frame"
    where = f", {problem.path}" if problem.path else ""
    column = 1 if entry.line else entry.start + problem.offset + 1
    line = max(entry.line, 1)
    who = f" from {entry.captured.client[0]}:{entry.captured.client[1]}" if entry.captured else ""
    place = (entry.source, str(entry.line), str(entry.start + problem.offset))
    return Finding(
        rule=problem.rule,
        severity=RULES[problem.rule].severity,
        message=f"{name}{where}{who}: {problem.message} (byte {problem.offset})",
        path=entry.source,
        span=Span(line, column, line, column + 1),
        pointer="",
        message_name=frame.message,
        source="",
        identity="\0".join((problem.rule, *place, frame.message)),
    )


def _info(rule: str) -> RuleInfo:
    known = RULES[rule]
    return RuleInfo(title=known.title, why=known.why, source=known.source, severity=known.severity, help=known.why)
