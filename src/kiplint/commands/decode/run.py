"""What bytes are given as: hexadecimal or base64 text, files, standard input; one frame, a stream, a capture, lines."""

from __future__ import annotations

import binascii
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import msgspec

from kiplint.codec.catalog import Catalog, chosen_message, chosen_response, open_catalog
from kiplint.codec.exchange import Additions, BadInput, finished, read_object
from kiplint.codec.frames import Frame, decode_body, decode_request, decode_response, split
from kiplint.codec.problems import RULES, ByteProblem
from kiplint.codec.records import read_together
from kiplint.engine.configure import Path
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Span
from kiplint.render.report import Report, RuleInfo
from kiplint.text.files import read_file, standard_input

if TYPE_CHECKING:
    from kiplint.codec.conversation import Captured


InputFormat = Literal["auto", "hex", "base64", "frame", "stream", "capture", "records", "jsonl"]
MOST_INPUT = 2**30
"""The largest input that is read, in bytes."""
STDIN = "-"
CAPTURES = (
    b"\x0a\x0d\x0d\x0a", b"\xa1\xb2\xc3\xd4", b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x4d\x3c\xb2\xa1",
)  # fmt: skip
"""How pcapng begins, and pcap in both orders of bytes, with times in micro- or nanoseconds."""

_HEX = re.compile(rb"(?:0x|[0-9a-fA-F\s:])+")
_BASE64 = re.compile(rb"[A-Za-z0-9+/_\s-]+=*\s*")


class Given(NamedTuple):
    """One input: what to call it, the line that it stands on where that is known, what its bytes are, and these."""

    name: str
    line: int
    form: Literal["frame", "text-frame", "stream", "capture", "records", "json"]
    data: bytes


def read_inputs(words: tuple[str | bytes, ...], form: InputFormat) -> Iterator[Given]:
    """The inputs that words stand for; bytes stand for themselves. Raises UsageError."""
    for number, word in enumerate(words, 1):
        if isinstance(word, bytes):
            yield from _given("bytes", word, form)
        elif word == STDIN:
            yield from _given("standard input", _bounded(standard_input().read(MOST_INPUT + 1), "standard input"), form)
        elif form in ("auto", "hex", "base64") and not os.path.lexists(word):
            yield _typed(word, number, form)
        else:
            yield from _given(word, _file(word), form)


def _typed(word: str, number: int, form: InputFormat) -> Given:
    """Text on the command line that is no file."""
    data = word.encode()
    if form != "base64" and _HEX.fullmatch(data):
        return Given(f"argument {number}", 0, "text-frame", _hex(data, f"argument {number}"))
    if form != "hex" and _BASE64.fullmatch(data):
        return Given(f"argument {number}", 0, "text-frame", _base64(data, f"argument {number}"))
    kinds = {"hex": "hexadecimal", "base64": "base64"}
    raise UsageError(f"{word[:60]} is no file, and not {kinds.get(form, 'hexadecimal or base64')}")


def _given(name: str, data: bytes, form: InputFormat) -> Iterator[Given]:
    form = _form(data) if form == "auto" else form
    if form == "frame":
        yield Given(name, 0, "frame", data)
    elif form in ("stream", "capture", "records"):
        yield Given(name, 0, form, data)
    else:
        for line, text in enumerate(data.splitlines(), 1):
            if not text.strip():
                continue
            if form == "jsonl":
                yield Given(name, line, "json", text)
            else:
                decode = _hex if form == "hex" else _base64
                yield Given(name, line, "text-frame", decode(text, f"{name}, line {line}"))


def _form(data: bytes) -> InputFormat:
    """What bytes are by the look of them."""
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
    """Whether the bytes are one request without its length: its client id then ends inside them."""
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
        raise UsageError(f"{path} is no file")
    try:
        return read_file(path, MOST_INPUT)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def _bounded(data: bytes, name: str) -> bytes:
    if len(data) > MOST_INPUT:
        raise UsageError(f"{name} has more than {MOST_INPUT} bytes")
    return data


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
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.decode.text",
        "json": "kiplint.commands.decode.result",
        "markdown": "kiplint.commands.decode.markdown",
    }
    unread = "left out"

    @property
    def values(self) -> list[dict[str, Any] | None]:
        """The values of all frames, None where nothing could be read."""
        return [entry.frame.value for entry in self.entries]


class _How(NamedTuple):
    """How inputs are to be read."""

    catalog: Catalog
    response: tuple[int, int] | None
    body: tuple[str, int] | None
    wanted: Additions
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
        Additions(defaults, records),
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
        problem = ByteProblem("codec/input-invalid", 0, str(error))
        return Entry(given.name, given.line, 0, b"", Frame("", -1, None, None, None, 0, (problem,)))
    return Entry(given.name, given.line, 0, data, finished(how.catalog, frame, how.wanted))


def _records(how: _How, given: Given) -> Entry:
    """Record batches without a message around them, as in a segment of a log."""
    from kiplint.codec.records import read_batches
    from kiplint.codec.topics import Meaning

    batches, problems = read_batches(given.data)
    Meaning(how.catalog).explain(how.topic, batches)
    frame = Frame("", -1, None, None, {"batches": batches}, len(given.data), problems)
    return Entry(given.name, given.line, 0, given.data, frame)


def _capture(how: _How, given: Given) -> tuple[list[Entry], dict[str, Any]]:
    from kiplint.codec.capture import UnreadableCapture, read_capture, summarize

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


def _shifted(problem: ByteProblem, by: int) -> ByteProblem:
    return msgspec.structs.replace(problem, offset=problem.offset + by)


def _finding(entry: Entry, problem: ByteProblem) -> Finding:
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
