"""Decoding of frames, bodies, streams, captures and record batches, from text, files and standard input."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING

from msgspec.structs import asdict, replace

from kiplint.codec.capture import Capture, UnreadableCapture, read_capture
from kiplint.codec.catalog import chosen_message, chosen_response, having, open_catalog
from kiplint.codec.codec import fill_defaults
from kiplint.codec.connection import judge_capture, judged_values, problems_of, refused_versions
from kiplint.codec.conversation import Captured
from kiplint.codec.exchange import BadInput, read_object
from kiplint.codec.frames import (
    Direction,
    Frame,
    decode_body,
    decode_request,
    decode_response,
    split,
    unread_frame,
    with_readings,
)
from kiplint.codec.problems import RULES, ByteProblem
from kiplint.codec.records import is_exhausted, read_batches, read_together, refill
from kiplint.codec.secrets import API_KEYS, has_secrets, without_secrets
from kiplint.codec.summary import CaptureSummary, ConnectionFailure, connection_failures, offered_versions, summarize
from kiplint.codec.tcp import address_text
from kiplint.codec.topics import Meaning, with_records
from kiplint.commands.decode.inputs import DecodeInput, read_inputs
from kiplint.commands.decode.result import DecodedFrame, DecodeResult, FrameRow
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Span, fingerprint
from kiplint.engine.translate import condition
from kiplint.limits import Counter
from kiplint.model.error_codes import NONE
from kiplint.render.report import RuleInfo
from kiplint.text.words import plural

if TYPE_CHECKING:
    from kiplint.commands.decode.options import DecodeCommand


def decode(
    options: DecodeCommand,
    *,
    spans: bool = True,
    values: bool = True,
    detailed: bool = False,
    each: Callable[[DecodedFrame], object] | None = None,
) -> DecodeResult:
    """Decode frames, bodies, streams and captures with the layouts of `sets`; the first set that has a version counts.

    An input is text (hexadecimal or base64), the path of a file, `-` for standard input, or bytes. Requests state their
    message. `response` (KEY@VERSION) is the request that the frames answer; with `body` (MESSAGE@VERSION) the bytes
    have no header. `where` (an expression over the columns of `FrameRow`) and `frame` (a number) choose frames; `rows`
    keeps their rows. Secrets are overwritten unless `secrets` is set. `spans` keeps the places of values where text
    shows them: of a capture only in frames with problems; with `detailed` also in those with error codes, in their
    requests and those without a response, and with `rows` in all. Without `values` the frames of a capture have only
    the values that rules read. `each` takes every frame as soon as it is decoded; the result then has no frames and no
    summary, and of findings only those of connections. The status is `findings` where bytes have problems. Raises
    UsageError for invalid input and arguments, and SourceError for sets that cannot be opened.
    """
    if options.response and options.body:
        raise UsageError("response and body exclude each other: a body has no header")
    decoder = _Decoder(options, spans=spans, values=values, details=detailed, streaming=each is not None)
    entries: list[DecodedFrame] = []
    rows: list[FrameRow] = []
    rules: set[str] = set()
    is_limited = False
    with read_together(options.limit), _without_collector():
        for entry, row in decoder.selection():
            if entry.frame.problems:
                rules.update(problem.rule for problem in entry.frame.problems)
            if each is None:
                entries.append(entry)
                rows += [row] if row else []
            else:
                each(entry)
                is_limited = is_limited or is_exhausted()
                refill()
        is_limited = is_limited or is_exhausted()
    failures = decoder.failures
    rules.update(failure.rule for _, failure in failures)
    findings = [_finding(entry, problem) for entry in entries for problem in entry.frame.problems]
    findings += [_connection_finding(source, failure) for source, failure in failures]
    unread = tuple(decoder.catalog.broken)
    return DecodeResult(
        status="error" if unread else "findings" if any(RULES[rule].severity == "error" for rule in rules) else "ok",
        findings=tuple(findings),
        files=len({entry.source for entry in entries}),
        messages=len(entries),
        rules={rule: _info(rule) for rule in sorted(rules)},
        broken=unread,
        entries=tuple(entries),
        capture=decoder.summary(entries) if each is None else None,
        rows=tuple(rows),
        number=options.frame,
        offsets=options.offsets,
        limited=is_limited or decoder.frames.left < 0,
        notes=tuple(dict.fromkeys(decoder.notes)),
    )


@contextmanager
def _without_collector() -> Iterator[None]:
    """Decoded values have no cycles: with millions of them Python's collector takes a third of the time in vain."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


MOST_REMEMBERED = 2**14
"""How many different frames of a capture are remembered."""
_WITH_PLACES = 10
"""A frame decoded with the places of its values counts as this many: it takes ten times as long."""


class _Decoder:
    """Decodes the inputs of a run; `notes` are how they were read, `frames` how many may still be decoded."""

    def __init__(self, options: DecodeCommand, *, spans: bool, values: bool, details: bool, streaming: bool) -> None:
        self.options = options
        self.catalog = open_catalog(options.sets or (".",), options.repository)
        self.response = chosen_response(self.catalog, options.response) if options.response else None
        message = chosen_message(self.catalog, options.body) if options.body else None
        self.body = (message[0].name, message[1]) if message else None
        self.meaning = Meaning(self.catalog, secrets=options.secrets)
        self.frames = Counter(options.limit)
        self.notes: list[str] = []
        self.failures: list[tuple[str, ConnectionFailure]] = []
        self._spans = spans or options.offsets
        self._values = values
        self._details = details
        self._streaming = streaming
        """Whether frames are written as soon as they are decoded. Then only the frames of captures are counted."""
        self._capture: tuple[str, Capture, dict[int, str]] | None = None
        """The source of the last capture, the capture, and the versions that its servers offered."""
        self._may_have_secrets = cache(self._has_secrets)
        self._read_once = lru_cache(MOST_REMEMBERED)(self._read_content)

    def selection(self) -> Iterator[tuple[DecodedFrame, FrameRow | None]]:
        """The frames that --where and --frame choose, with their rows where the result has rows."""
        options, last = self.options, 0
        if not options.where and options.frame is None and not options.rows:
            yield from ((entry, None) for entry in self._entries())
            return
        holds = condition(options.where, FrameRow, "frame") if options.where else lambda row: True
        has_rows = options.rows or (options.where and options.frame is None)
        for entry, row in frame_rows(self._entries()):
            last = max(last, row.number)
            if options.frame in (None, row.number) and holds(row):
                yield entry, row if has_rows else None
        if options.frame is not None and not options.frame <= last:
            raise UsageError(f"there is no frame {options.frame}; the input has {plural(last, 'frame')}")

    def summary(self, entries: Iterable[DecodedFrame]) -> CaptureSummary | None:
        """The summary of the selected frames of the last capture."""
        if self._capture is None:
            return None
        source, capture, offers = self._capture
        pairs = [(entry.captured, entry.frame) for entry in entries if entry.captured and entry.source == source]
        failures = [failure for place, failure in self.failures if place == source]
        return summarize(self.catalog, capture, pairs, offers, failures)

    def _entries(self) -> Iterator[DecodedFrame]:
        """The frames of all inputs."""
        for piece in read_inputs(self.options):
            self.notes += [piece.note] if piece.note else []
            if piece.form == "capture":
                yield from self._frames_of_capture(piece)
                continue
            for entry in self._frames_of(piece):
                if not self._streaming and not self.frames.take(_WITH_PLACES if self._spans else 1):
                    return
                yield entry

    def _frames_of(self, piece: DecodeInput) -> Iterator[DecodedFrame]:
        if piece.form == "stream":
            for part in split(piece.data):
                if part.problem:
                    frame = unread_frame(part.problem, len(part.data))
                    yield DecodedFrame(piece.source, piece.line, part.offset, part.data, frame)
                else:
                    frame, data = self._frame(part.data)
                    yield DecodedFrame(piece.source, piece.line, part.offset + 4, data, frame)
        elif piece.form == "records":
            yield self._records(piece)
        elif piece.form == "json":
            yield self._line(piece)
        else:
            yield self._single(piece)

    def _single(self, piece: DecodeInput) -> DecodedFrame:
        """A frame or a body; a frame in text may begin with its length."""
        frame, data = self._frame(piece.data)
        has_length = len(data) >= 4 and int.from_bytes(piece.data[:4], "big") == len(data) - 4
        if frame.problems and has_length and piece.form == "text-frame" and not self.body:
            frame, data = self._frame(piece.data[4:])
            return DecodedFrame(piece.source, piece.line, 4, data, frame)
        return DecodedFrame(piece.source, piece.line, 0, data, frame)

    def _frame(self, data: bytes) -> tuple[Frame, bytes]:
        frame = self._read(data, spans=self._spans or self.options.records)
        if not self.body:
            frame = with_readings(self.catalog, frame, data, "response" if self.response else "request")
        frame, data = self._without_secrets(frame, data, partial(self._read, spans=True))
        return self._with_additions(frame), data

    def _read(self, data: bytes, *, spans: bool) -> Frame:
        if self.body:
            return decode_body(self.catalog, *self.body, data, spans=spans)
        if self.response:
            return decode_response(self.catalog, *self.response, data, spans=spans)
        return decode_request(self.catalog, data, spans=spans)

    def _line(self, piece: DecodeInput) -> DecodedFrame:
        """A line of JSON with bytes."""
        try:
            frame, data, read = read_object(self.catalog, piece.data, spans=self._spans or self.options.records)
        except BadInput as error:
            problem = ByteProblem("codec/input-invalid", 0, str(error))
            return DecodedFrame(piece.source, piece.line, 0, b"", unread_frame(problem, 0))
        frame, data = self._without_secrets(frame, data, read)
        return DecodedFrame(piece.source, piece.line, 0, data, self._with_additions(frame))

    def _records(self, piece: DecodeInput) -> DecodedFrame:
        """Record batches without a message around them, as in a segment of a log."""
        batches, problems = read_batches(piece.data)
        self.meaning.explain(self.options.topic or "", batches)
        frame = Frame("", -1, None, None, {"batches": batches}, len(piece.data), problems)
        return DecodedFrame(piece.source, piece.line, 0, piece.data, frame)

    def _frames_of_capture(self, piece: DecodeInput) -> Iterator[DecodedFrame]:
        options, catalog = self.options, self.catalog
        try:
            capture = read_capture(catalog, piece.data, max(self.frames.left, 0))
        except UnreadableCapture as error:
            raise UsageError(f"{piece.source}: {error}") from None
        self.frames.left = -1 if capture.limited else self.frames.left - len(capture.frames)
        pairs = [(raw_frame, self._frame_of_capture(raw_frame)) for raw_frame in capture.frames]
        failures = connection_failures(capture, pairs)
        if not capture.states and not failures:
            raise UsageError(f"{piece.source}: {_nothing(capture)}")
        if not options.where and options.frame is None:
            self.failures += [(piece.source, failure) for failure in failures]
        self._capture = piece.source, capture, offered_versions(pairs)
        breaches = judge_capture(pairs, capture.states)
        refused_numbers = refused_versions(pairs)
        faulty = {
            raw_frame.number: raw_frame.request
            for raw_frame, frame in pairs
            if breaches.get(raw_frame.number)
            or frame.problems
            or raw_frame.problem
            or (self._details and (frame.errors or raw_frame.is_unanswered))
        }
        requests = set(faulty.values()) if self._details else set()
        for raw_frame, plain in pairs:
            frame, data, own_breaches = plain, raw_frame.data, breaches.get(raw_frame.number, ())
            is_detailed = raw_frame.number in requests or (self._details and options.rows)
            if raw_frame.number in faulty or is_detailed or raw_frame.number == options.frame:
                frame = raw_frame.decode(catalog, spans=True) if own_breaches or self._spans else plain
                # A frame that was not captured to its end is not wrong.
                problems = frame.problems if raw_frame.whole and raw_frame.number not in refused_numbers else ()
                problems += ((raw_frame.problem,) if raw_frame.problem else ()) + problems_of(own_breaches, frame)
                frame = replace(frame, problems=problems)
            frame, data = self._without_secrets(frame, data, partial(self._read_again, raw_frame), raw_frame.api_key)
            frame = self._with_additions(frame) if self._values or frame.spans else frame
            yield DecodedFrame(piece.source, 0, raw_frame.stream_offset + 4, data, frame, raw_frame)

    def _frame_of_capture(self, raw_frame: Captured) -> Frame:
        """A frame, with the values that rules read if no others are needed."""
        if self._values or raw_frame.api_key < 0:
            return raw_frame.decode(self.catalog, spans=self.options.records or self.options.offsets)
        place = 4 if raw_frame.direction == "request" else 0
        content = raw_frame.data[:place] + raw_frame.data[place + 4 :]
        return self._read_once(raw_frame.direction, raw_frame.api_key, raw_frame.api_version, content)

    def _read_content(self, direction: Direction, api_key: int, version: int, content: bytes) -> Frame:
        """A frame of a capture from its bytes without the correlation id: brokers give many clients the same answer."""
        data = content[:4] + bytes(4) + content[4:] if direction == "request" else bytes(4) + content
        read = decode_request if direction == "request" else partial(decode_response, api_key=api_key, version=version)
        frame = read(self.catalog, data=data, spans=self.options.records)
        problems = self._with_additions(frame).problems if self.options.records else frame.problems
        return replace(frame, value=judged_values(frame.value), problems=problems, spans=())

    def _read_again(self, raw_frame: Captured, data: bytes) -> Frame:
        return replace(raw_frame, data=data).decode(self.catalog, spans=True)

    def _without_secrets(
        self, frame: Frame, data: bytes, read: Callable[[bytes], Frame], api_key: int = -1
    ) -> tuple[Frame, bytes]:
        """A frame and its bytes with secrets overwritten, unless the options show them; `read` decodes bytes again."""
        if self.options.secrets or not self._may_have_secrets(frame.message, frame.version, api_key):
            return frame, data
        front = 8 if frame.header_version is not None or api_key >= 0 else 0
        full_frame = frame if frame.spans else replace(read(data), problems=frame.problems)
        return without_secrets(full_frame, data, read, front)

    def _with_additions(self, frame: Frame) -> Frame:
        options = self.options
        if frame.value is None or not (options.defaults or options.records):
            return frame
        message = having(self.catalog.with_name(frame.message), frame.version)
        codec = self.catalog.codec(message, frame.version) if message else None
        if codec is None or codec.unusable:  # a message of the same name in another set
            return frame
        value, problems = frame.value, frame.problems
        if options.records:
            value, more = with_records(self.meaning, codec.body, value, frame.spans)
            problems = (*problems, *more)
        value = fill_defaults(codec.body, value) if options.defaults else value
        return replace(frame, value=value, problems=problems)

    def _has_secrets(self, name: str, version: int, api_key: int) -> bool:
        """Whether a message may have secrets; one that cannot be read may, if its RPC has."""
        messages = self.catalog.with_name(name) if name else []
        message = having(messages, version)
        if message is None:
            return api_key in API_KEYS or any(message.api_key in API_KEYS for message in messages)
        codec = self.catalog.codec(message, version)
        return not codec.unusable and has_secrets(codec.body)


_REMEDIES = {
    "VXLAN": "capture inside of the tunnel", "GRE": "capture inside of the tunnel",
    "TLS": "what TLS encrypts cannot be read: capture at a listener without it",
}  # fmt: skip


def _nothing(capture: Capture) -> str:
    """Why a capture has nothing to read."""
    parts = [f"{plural(count, 'packet')} of {name}" for name, count in capture.unread.most_common()]
    parts += [
        f"{plural(count, 'connection')} of {name or 'other protocols'}"
        for name, count in capture.protocols.most_common()
    ]
    if capture.unclear:
        parts.append(f"{plural(capture.unclear, 'connection')} whose client cannot be determined")
    remedies = [text for name, text in _REMEDIES.items() if name in capture.unread or name in capture.protocols]
    content = f"{plural(capture.packets, 'packet')}{' with ' if parts else ''}{', '.join(parts)}"
    return "; ".join([f"the capture has no request of Kafka: {content}", *dict.fromkeys(remedies)])


def _finding(entry: DecodedFrame, problem: ByteProblem) -> Finding:
    """A problem as a finding, whose columns are bytes, except for lines of text."""
    frame = entry.frame
    name = f"{frame.message} {frame.version}" if frame.message else "a frame"
    where = f", {problem.path}" if problem.path else ""
    client = f" from {address_text(entry.captured.client)}" if entry.captured else ""
    text = f"{name}{where}{client}: {problem.message} (byte {problem.offset})"
    column = 1 if entry.line else entry.start + problem.offset + 1
    place = (str(entry.line), str(entry.start + problem.offset), frame.message)
    return _make_finding(problem.rule, text, entry.source, max(entry.line, 1), column, frame.message, place)


def _connection_finding(source: str, failure: ConnectionFailure) -> Finding:
    ends = address_text(failure.client), address_text(failure.server)
    return _make_finding(failure.rule, f"{' to '.join(ends)}: {failure.message}", source, 1, 1, "", ends)


def _make_finding(
    rule: str, text: str, source: str, line: int, column: int, message_name: str, place: tuple[str, ...]
) -> Finding:
    """The finding of a rule at one byte; `place` tells it from the others of the rule in the source."""
    return Finding(
        rule=rule,
        severity=RULES[rule].severity,
        message=text,
        path=source,
        **asdict(Span(line, column, line, column + 1)),
        pointer="",
        message_name=message_name,
        source="",
        fingerprint=fingerprint(rule, source, *place),
        fixable=False,
    )


def _info(rule: str) -> RuleInfo:
    facts = RULES[rule]
    return RuleInfo(title=facts.title, why=facts.why, source=facts.source, severity=facts.severity, help=facts.why)


def frame_rows(entries: Iterable[DecodedFrame]) -> Iterator[tuple[DecodedFrame, FrameRow]]:
    """Frames with their rows, in order."""
    clients: dict[tuple[str, int], str] = {}
    for place, entry in enumerate(entries, 1):
        raw_frame, header = entry.captured, entry.frame.header or {}
        client_id = header.get("clientId") or ""
        if raw_frame and raw_frame.request is not None:
            client_id = clients.get((entry.source, raw_frame.request), "")
        elif raw_frame:
            clients[entry.source, raw_frame.number] = client_id
        yield entry, _row(entry, place, client_id)


def _row(entry: DecodedFrame, place: int, client_id: str) -> FrameRow:
    frame, raw_frame, header = entry.frame, entry.captured, entry.frame.header or {}
    api_key = raw_frame.api_key if raw_frame else header.get("requestApiKey", -1)
    names = tuple(dict.fromkeys([error.name for error in frame.errors])) if frame.errors else ()
    answer = frame.message.endswith("Response")
    return FrameRow(
        number=raw_frame.number if raw_frame else place,
        time=raw_frame.elapsed if raw_frame else 0.0,
        connection=raw_frame.connection if raw_frame else -1,
        direction=raw_frame.direction if raw_frame else "" if not header else "response" if answer else "request",
        api=frame.message.removesuffix("Response" if answer else "Request") or f"key {api_key}",
        api_key=api_key,
        version=raw_frame.api_version if raw_frame else frame.version,
        client_id=client_id,
        correlation_id=raw_frame.correlation_id if raw_frame else header.get("correlationId", -1),
        size=frame.length + 4,
        latency=raw_frame.latency if raw_frame and raw_frame.latency is not None else -1.0,
        error=names[0] if names else NONE,
        errors=names,
        problem=frame.problems[0].rule if frame.problems else "",
        answered=raw_frame is None or not raw_frame.is_unanswered,
        client=address_text(raw_frame.client) if raw_frame else "",
        server=address_text(raw_frame.server) if raw_frame else "",
        message=frame.message,
    )
