"""Decoding of frames, bodies, streams, captures and record batches, from text, files and standard input."""

from __future__ import annotations

import binascii
import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal, NamedTuple

from msgspec.structs import replace

from kiplint.codec.capture import CaptureSummary, UnreadableCapture, read_capture, summarize
from kiplint.codec.catalog import Catalog, chosen_message, chosen_response, open_catalog
from kiplint.codec.exchange import Additions, BadInput, complete, read_object
from kiplint.codec.frames import Frame, decode_body, decode_request, decode_response, split
from kiplint.codec.problems import RULES, ByteProblem
from kiplint.codec.records import MOST_RECORDS, is_exhausted, read_together, refill
from kiplint.commands.decode.result import DecodedFrame, DecodeResult
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Span
from kiplint.render.report import RuleInfo
from kiplint.text.files import read_file, standard_input

InputFormat = Literal["auto", "hex", "base64", "frame", "stream", "capture", "records", "jsonl"]
MOST_INPUT = 2**30
"""The largest input that is read, in bytes."""
STDIN: Final = "-"
CAPTURES = (
    b"\x0a\x0d\x0d\x0a", b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1",
)  # fmt: skip
"""How pcapng begins, and pcap in both orders of bytes, with times in micro- or nanoseconds."""


class _How(NamedTuple):
    """How to decode the inputs."""

    catalog: Catalog
    response: tuple[int, int] | None
    body: tuple[str, int] | None
    additions: Additions
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
    limit: int = MOST_RECORDS,
    each: Callable[[DecodedFrame], object] | None = None,
) -> DecodeResult:
    """Decode frames, bodies, streams and captures with the layouts of `sets`; the first set that has a version counts.

    An input is text (hexadecimal or base64), the path of a file, `-` for standard input, or bytes. Requests state their
    message. `response` (KEY@VERSION) is the request that the frames answer; with `body` (MESSAGE@VERSION) the bytes
    have no header. `defaults` adds absent tagged fields; `records` decodes record batches, with the messages of `topic`
    where the batches stand alone. `spans` keeps the place of each value. At most `limit` records are
    read, and ten times as many elements of arrays. `each` takes every frame as soon as it is decoded; the result then
    has no frames and no findings. The status is `findings` where bytes have problems. Raises UsageError for invalid
    input and arguments, and SourceError for sets that cannot be opened.
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
        spans,
    )
    if limit < 1:
        raise UsageError("the limit must be at least 1")
    entries: list[DecodedFrame] = []
    summaries: list[CaptureSummary] = []
    rules: set[str] = set()
    limited = False
    with read_together(limit):
        for entry in _read(how, inputs or ("-",), input_format, summaries):
            rules.update(problem.rule for problem in entry.frame.problems)
            limited = limited or is_exhausted()
            if each is None:
                entries.append(entry)
            else:
                each(entry)
                refill()
    findings = tuple(_finding(entry, problem) for entry in entries for problem in entry.frame.problems)
    unread = tuple(catalog.broken)
    return DecodeResult(
        status="error" if unread else "findings" if rules else "ok",
        findings=findings,
        files=len({entry.source for entry in entries}),
        messages=len(entries),
        rules={rule: _info(rule) for rule in sorted(rules)},
        broken=unread,
        entries=tuple(entries),
        capture=summaries[-1] if summaries else None,
        limited=limited,
    )


def _read(
    how: _How, inputs: tuple[str | bytes, ...], input_format: InputFormat, summaries: list[CaptureSummary]
) -> Iterator[DecodedFrame]:
    """The frames of all inputs; the summaries of captures among them are added to `summaries`."""
    for piece in _read_inputs(inputs, input_format):
        if piece.form == "capture":
            frames, summary = _capture(how, piece)
            summaries.append(summary)
            yield from frames
        else:
            yield from _entries(how, piece)


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
        capture = read_capture(how.catalog, piece.data)
    except UnreadableCapture as error:
        raise UsageError(f"{piece.source}: {error}") from None
    spans = how.spans or how.additions.records
    entries = []
    for captured in capture.frames:
        frame = captured.decode(how.catalog, spans=how.additions.records)
        if frame.problems and spans and not frame.spans:
            frame = captured.decode(how.catalog, spans=True)
        # A frame that was not captured to its end is not wrong.
        frame = frame if captured.whole else replace(frame, problems=())
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
    place = (entry.source, str(entry.line), str(entry.start + problem.offset))
    return Finding(
        rule=problem.rule,
        severity=RULES[problem.rule].severity,
        message=f"{name}{where}{client}: {problem.message} (byte {problem.offset})",
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


_HEX = re.compile(rb"(?:0x|[0-9a-fA-F\s:])+")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_\s-]+=*\s*")


class DecodeInput(NamedTuple):
    """A piece of an input: its source, its line or 0, the form of its bytes, and the bytes."""

    source: str
    line: int
    form: Literal["frame", "text-frame", "stream", "capture", "records", "json"]
    data: bytes


def _read_inputs(inputs: tuple[str | bytes, ...], form: InputFormat) -> Iterator[DecodeInput]:
    """The pieces of all inputs. Raises UsageError."""
    for number, word in enumerate(inputs, 1):
        if isinstance(word, bytes):
            yield from _pieces("bytes", word, form)
        elif word == STDIN:
            yield from _pieces(
                "standard input", _bounded(standard_input().read(MOST_INPUT + 1), "standard input"), form
            )
        elif form in ("auto", "hex", "base64") and not os.path.lexists(word):
            yield _typed(word, number, form)
        else:
            yield from _pieces(word, _file(word), form)


def _typed(word: str, number: int, form: InputFormat) -> DecodeInput:
    """Text that is not the path of a file."""
    data = word.encode()
    if form != "base64" and _HEX.fullmatch(data):
        return DecodeInput(f"argument {number}", 0, "text-frame", _hex(data, f"argument {number}"))
    if form != "hex" and _BASE64.fullmatch(data):
        return DecodeInput(f"argument {number}", 0, "text-frame", _base64(data, f"argument {number}"))
    kinds = {"hex": "hexadecimal", "base64": "base64"}
    raise UsageError(f"{word[:60]} is not a file, and not {kinds.get(form, 'hexadecimal or base64')}")


def _pieces(name: str, data: bytes, form: InputFormat) -> Iterator[DecodeInput]:
    form = _form(data) if form == "auto" else form
    if form == "frame":
        yield DecodeInput(name, 0, "frame", data)
    elif form in ("stream", "capture", "records"):
        yield DecodeInput(name, 0, form, data)
    else:
        for line, text in enumerate(data.splitlines(), 1):
            if not text.strip():
                continue
            if form == "jsonl":
                yield DecodeInput(name, line, "json", text)
            else:
                decode = _hex if form == "hex" else _base64
                yield DecodeInput(name, line, "text-frame", decode(text, f"{name}, line {line}"))


def _form(data: bytes) -> InputFormat:
    """The form that the bytes appear to have."""
    if data[:4] in CAPTURES:
        return "capture"
    start = data[:4096]
    if start.lstrip()[:1] == b"{":
        return "jsonl"
    if start.strip() and _HEX.fullmatch(start):
        return "hex"
    if start.strip() and _BASE64.fullmatch(start):
        return "base64"
    size = int.from_bytes(data[:4], "big", signed=True)
    return "stream" if len(data) >= 12 and 8 <= size <= len(data) - 4 and not _is_request(data) else "frame"


def _is_request(data: bytes) -> bool:
    """Whether the bytes are a request without its length: its client id then ends inside them."""
    length = int.from_bytes(data[8:10], "big", signed=True)
    text = data[10 : 10 + max(length, 0)]
    return -1 <= length <= len(data) - 10 and data[0] == 0 and data[2] == 0 and text.isascii() and length > 0


def _hex(text: bytes, where: str) -> bytes:
    digits = re.sub(rb"[\s:]", b"", text.strip().removeprefix(b"0x"))
    try:
        return binascii.a2b_hex(digits)
    except ValueError:
        raise UsageError(f"{where}: not pairs of hexadecimal digits") from None


def _base64(text: bytes, where: str) -> bytes:
    plain = re.sub(rb"\s", b"", text).replace(b"-", b"+").replace(b"_", b"/").rstrip(b"=")
    try:
        return binascii.a2b_base64(plain + b"=" * (-len(plain) % 4), strict_mode=True)
    except ValueError:
        raise UsageError(f"{where}: not base64") from None


def _file(path: str) -> bytes:
    if os.path.lexists(path) and not os.path.isfile(path):
        raise UsageError(f"{path} is not a file")
    try:
        return read_file(path, MOST_INPUT)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > MOST_INPUT:
        raise UsageError(f"{name} has more than {MOST_INPUT} bytes")
    return data
