"""The conversation on a captured connection: its requests, the responses that belong to them, and its state."""

from __future__ import annotations

import itertools
import math
import struct
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from kiplint.codec.catalog import Catalog
from kiplint.codec.cut import Cut, Sign, cut, request_sign, response_sign
from kiplint.codec.frames import Direction, Frame, decode_request, decode_response
from kiplint.codec.problems import ByteProblem
from kiplint.codec.state import CLIENT, SERVER, ConnectionState, protocol_of
from kiplint.codec.tcp import Address, TcpConnection
from kiplint.limits import RECORDS

SASL_HANDSHAKE = 17
ENOUGH = 16
"""How many frames of a direction decide whether it has requests."""
LEAST_RESPONSE = 8
"""The bytes of the shortest response with its length: fewer missing bytes, or the FIN, hide no response."""


class Captured(msgspec.Struct, frozen=True):
    """One frame of a connection. `stream_offset` is where its length stands in the bytes of its direction.

    `answered` is true for a request whose response was captured, and None where the capture lacks the bytes that would
    show it. A request that is not answered is `pending` if the capture ended first: no later request is answered, and
    the connection was open. `whole` is false where the capture lacks bytes of the frame. `exchange` is the place of the
    request among those of the connection, for the request and its response; -1 where it is not known. `opening` marks
    the first request of a connection that was captured from its beginning. `problem` is what is wrong with the place of
    the frame in its stream; a frame whose API key is below 0 cannot be read.

    In a capture `number` counts the frames from 1 on, `elapsed` is in seconds since the first packet; a response has
    the number of its `request`, and the `latency` since then in milliseconds.
    """

    connection: int
    client: Address
    server: Address
    direction: Direction
    time: float
    stream_offset: int
    api_key: int
    api_version: int
    correlation_id: int
    data: bytes
    whole: bool
    answered: bool | None = False
    pending: bool = False
    problem: ByteProblem | None = None
    exchange: int = -1
    opening: bool = False
    number: int = 0
    elapsed: float = 0.0
    request: int | None = None
    latency: float | None = None

    @property
    def is_unanswered(self) -> bool:
        """Whether the frame is a request whose response is missing from the capture."""
        return self.direction == "request" and self.answered is False

    def decode(self, catalog: Catalog, *, spans: bool = False) -> Frame:
        """Read the frame; an incomplete frame has a header at most."""
        if self.api_key < 0 and self.problem:
            return Frame("", self.api_version, None, None, None, len(self.data), ())
        if self.direction == "request":
            return decode_request(catalog, self.data, spans=spans)
        return decode_response(catalog, self.api_key, self.api_version, self.data, spans=spans)


class Conversation(NamedTuple):
    """The frames of a connection, requests first, then responses; `unpaired` counts responses without their requests.

    These have no version, and cannot be read. Where the beginning of a connection was not captured, those before the
    first response that has its request are not counted separately.
    """

    frames: list[Captured]
    unpaired: int
    state: ConnectionState


class Conversations(NamedTuple):
    """The conversations of Kafka's connections.

    `others` are the states of the other connections that show which end is the client; `protocols` counts the
    protocols of all other connections, `unclear` those of Kafka that do not show which end is the client.
    """

    spoken: list[Conversation]
    others: list[ConnectionState]
    protocols: Counter[str]
    unclear: int


def conversations(catalog: Catalog, streams: Sequence[TcpConnection], limit: int = RECORDS) -> Conversations:
    """The requests and responses of every connection.

    Which end is the client is shown by who opened the connection, else by what reads and is answered, else by an
    address that serves other connections. A connection has the frames that the first `limit` of all can be; where
    there are more than twice as many, the last connections have fewer.
    """
    budget = 2 * limit + 2
    sign = request_sign(catalog)
    verdicts = [_verdict(catalog, connection, sign) for connection in streams]
    servers = {connection.ends[1 - verdict.client] for connection, verdict in zip(streams, verdicts, strict=True)
              if verdict.sure and verdict.client is not None}  # fmt: skip
    results: list[Conversation] = []
    others: list[ConnectionState] = []
    protocols: Counter[str] = Counter()
    unclear = 0
    for connection, verdict in zip(streams, verdicts, strict=True):
        client = verdict.client
        serving = [end in servers for end in connection.ends]
        if not verdict.sure and serving[0] != serving[1] and not connection.directions[serving[0]].synchronized:
            client = int(serving[0])
        if client is not None:
            most = min(limit + 1, budget)
            conversation = _Talk(connection, client, len(results)).conversation(catalog, sign, most)
            results.append(conversation)
            budget = max(budget - len(conversation.frames), 0)
        elif verdict.alike:
            unclear += 1
        else:
            starts = [protocol_of(runs[0].data) for runs in connection.runs if runs and not runs[0].offset]
            protocols[next(filter(None, starts), "")] += 1
            if connection.opener is not None:
                talk = _Talk(connection, connection.opener, -1)
                others.append(talk.state(0, talk.is_complete([], [])))
    return Conversations(results, others, protocols, unclear)


class _Verdict(NamedTuple):
    client: int | None
    sure: bool
    alike: bool


def _verdict(catalog: Catalog, connection: TcpConnection, sign: Sign) -> _Verdict:
    """The end that is the client: its frames decode as requests, and the other end answers them."""
    talks = [_Talk(connection, side, 0) for side in (0, 1)]
    opener = connection.opener
    if opener is not None and any(_alike(talks[opener], sign)):
        return _Verdict(opener, True, True)
    alike = [list(_alike(talk, sign)) for talk in talks]
    if opener is not None:
        return _Verdict(None, any(alike), any(alike))
    weights = [_weight(catalog, talk, requests, sign) for talk, requests in zip(talks, alike, strict=True)]
    client = 0 if weights[0] > weights[1] else 1
    strong, weak = weights[client], weights[1 - client]
    if strong == weak or (weak and strong < 3 * weak):
        return _Verdict(None, False, any(alike))
    return _Verdict(client, strong > 1, True)


def _alike(talk: _Talk, sign: Sign) -> Iterator[Captured]:
    """The first frames of an end that look like requests."""
    for request in itertools.islice(talk.requests(sign), ENOUGH):
        if request.whole and not request.problem and sign.test(request.data, 0, len(request.data)):
            yield request


def _weight(catalog: Catalog, talk: _Talk, requests: list[Captured], sign: Sign) -> int:
    """How many requests read to the last byte, or are answered, if some read or several are answered."""
    answers = response_sign(catalog, _by_correlation(requests))
    replies = sum(frame.whole and answers.reads(frame.data) for frame in itertools.islice(talk.cuts(answers), ENOUGH))
    reading = sum(sign.reads(request.data) for request in requests)
    return reading + replies if reading or replies > 1 else 0


def _by_correlation(requests: Sequence[Captured]) -> dict[int, list[tuple[int, int, int]]]:
    """The places, API keys and versions of requests by correlation id."""
    places: dict[int, list[tuple[int, int, int]]] = {}
    for place, request in enumerate(requests):
        places.setdefault(request.correlation_id, []).append((place, request.api_key, request.api_version))
    return places


class _Talk:
    """A connection of which one end, 0 or 1, is taken for the client; `number` is its place among those of Kafka."""

    def __init__(self, connection: TcpConnection, client: int, number: int) -> None:
        self.connection, self.number = connection, number
        self.sides = (client, 1 - client)
        self.client, self.server = connection.ends[client], connection.ends[1 - client]
        self.tokens = 0
        """How many more SASL tokens without headers the client sent than the server."""

    def cuts(self, sign: Sign) -> Iterator[Cut]:
        """The frames of the server."""
        side = self.sides[SERVER]
        runs = self.connection.runs[side]
        if runs and not runs[0].offset and protocol_of(runs[0].data):
            return iter(())
        return cut(runs, sign, synchronized=self.connection.directions[side].synchronized)

    def requests(self, sign: Sign) -> Iterator[Captured]:
        """The requests, without the tokens that come without headers after SaslHandshake 0."""
        side, after_handshake = self.sides[CLIENT], False
        synchronized = self.connection.directions[side].synchronized
        for frame in cut(self.connection.runs[side], sign, synchronized=synchronized):
            if after_handshake and not sign.test(frame.data, 0, len(frame.data)):
                self.tokens += 1
                continue
            ids = struct.unpack_from(">hhi", frame.data) if len(frame.data) >= 8 else (-1, -1, -1)
            after_handshake = after_handshake or ids[:2] == (SASL_HANDSHAKE, 0)
            yield self._make_frame("request", frame, ids)

    def _make_frame(
        self,
        direction: Direction,
        frame: Cut,
        ids: tuple[int, int, int],
        problem: ByteProblem | None = None,
        exchange: int = -1,
    ) -> Captured:
        place = direction, frame.time, frame.offset
        return Captured(
            self.number, self.client, self.server, *place, *ids, frame.data, frame.whole,
            problem=frame.problem or problem, exchange=exchange,
        )  # fmt: skip

    def conversation(self, catalog: Catalog, sign: Sign, most: int) -> Conversation:
        """Each response with the oldest unanswered request of its correlation id."""
        requests = list(itertools.islice(self.requests(sign), most))
        calls = _by_correlation(requests)
        waiting = {correlation: deque(places) for correlation, places in calls.items()}
        responses = list(itertools.islice(self.cuts(response_sign(catalog, calls)), most))
        complete = self.is_complete(requests, responses)
        answers: list[Captured] = []
        unpaired_count, latest = 0, -1
        for frame in responses:
            correlation = struct.unpack_from(">i", frame.data)[0] if len(frame.data) >= 4 else -1
            if frame.problem:
                answers.append(self._make_frame("response", frame, (-1, -1, -1)))
            elif waiting.get(correlation):
                place, api_key, version = waiting[correlation].popleft()
                problem = self._check_place(frame, requests[place], requests[latest] if place < latest else None)
                answers.append(self._make_frame("response", frame, (api_key, version, correlation), problem, place))
                latest = max(latest, place)
            elif self.tokens:
                self.tokens -= 1
            elif complete:
                _, api_key, version = calls[correlation][-1] if correlation in calls else (0, -1, -1)
                problem = _surplus(correlation, correlation in calls)
                answers.append(self._make_frame("response", frame, (api_key, version, correlation), problem))
            else:
                unpaired_count += 1
        answered_places = {answer.exchange for answer in answers}
        stream = self.connection.directions[self.sides[SERVER]]
        blind = _blind_until(responses, 0 if stream.has_beginning else -1, stream.reach)
        latest = len(requests) if self.connection.closed_by(self.sides[SERVER]) else latest
        opens = self.connection.directions[self.sides[CLIENT]].synchronized
        frames = (
            replace(
                request,
                exchange=place,
                opening=place == request.stream_offset == 0 and opens,
                answered=place in answered_places or (None if request.time < blind else False),
                pending=place > latest,
            )
            for place, request in enumerate(requests)
        )
        return Conversation([*frames, *answers], unpaired_count, self.state(len(requests), complete))

    def is_complete(self, requests: list[Captured], responses: list[Cut]) -> bool:
        """Whether all bytes of both directions were captured, as far as the connection goes."""
        for side in (0, 1):
            stream, runs = self.connection.directions[side], self.connection.runs[side]
            end = (len(runs[0].data) if runs else 0) + self.connection.has_finished(side)
            if not stream.synchronized or len(runs) > 1 or (runs and runs[0].offset) or stream.reach > end:
                return False
        return not any(request.problem for request in requests) and not any(frame.problem for frame in responses)

    def _check_place(self, frame: Cut, request: Captured, later: Captured | None) -> ByteProblem | None:
        """What is wrong with the place of a response; `later` is a later request that was answered before."""
        end = request.stream_offset + 4 + len(request.data)
        stream = self.connection.directions[self.sides[CLIENT]]
        is_early = frame.acknowledged and not stream.is_acknowledged(end, frame.acknowledged)
        if is_early and frame.time < request.time:
            return ByteProblem("connection/answer-early", 0, "the answer came before the request was sent")
        if later is not None:
            text = f"request {later.correlation_id}, which was sent later, was answered before"
            return ByteProblem("connection/answer-order", 0, text)
        return None

    def state(self, requests: int, complete: bool) -> ConnectionState:
        """The state of the connection at its end."""
        connection, (client, server) = self.connection, self.sides
        starts = [connection.runs[side][:1] for side in self.sides]
        first_bytes = [b"".join(run.data[:64] for run in runs if not run.offset) for runs in starts]
        ending = connection.ending
        return ConnectionState(
            client=self.client,
            server=self.server,
            has_syn=connection.opener == client,
            is_established=connection.is_established,
            first_bytes=(first_bytes[CLIENT], first_bytes[SERVER]),
            requests=requests,
            tokens=self.tokens,
            start=connection.first,
            end=ending.time if ending else math.inf,
            ended_by=None if ending is None else SERVER if ending.side == server else CLIENT,
            is_reset=ending is not None and ending.is_reset,
            until=connection.last,
            complete=complete,
        )


def _surplus(correlation: int, is_known: bool) -> ByteProblem:
    if is_known:
        text = f"the request with correlation id {correlation} was answered before"
        return ByteProblem("connection/answered-twice", 0, text)
    text = f"no request has correlation id {correlation}"
    return ByteProblem("connection/correlation-id", 0, text)


def _blind_until(responses: list[Cut], pos: int, reach: float) -> float:
    """Until when responses may be lost: the time of the frame after the last bytes that are in none.

    `pos` is where the first frame must begin, below 0 if it is unknown; bytes were sent up to `reach`.
    """
    until = -math.inf
    for frame in responses:
        until = until if frame.offset == pos else frame.time
        pos = frame.offset + 4 + len(frame.data) if frame.whole else -1
    return until if pos >= 0 and reach - pos < LEAST_RESPONSE else math.inf


def number_frames(frames: Sequence[Captured], start: float) -> Iterator[Captured]:
    """The frames of a capture, in their order, with their numbers; `start` is the time of the first packet."""
    requests = {
        (frame.connection, frame.exchange): (number, frame.time)
        for number, frame in enumerate(frames, 1)
        if frame.direction == "request"
    }
    for number, frame in enumerate(frames, 1):
        seconds = round(frame.time - start, 6)
        request = requests.get((frame.connection, frame.exchange)) if frame.direction == "response" else None
        if request is None:
            yield replace(frame, number=number, elapsed=seconds)
        else:
            latency = round(max(frame.time - request[1], 0) * 1000, 3)
            yield replace(frame, number=number, elapsed=seconds, request=request[0], latency=latency)
