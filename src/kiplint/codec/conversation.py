"""What two ends of a connection say to each other: requests, and the responses that belong to them."""

from __future__ import annotations

import itertools
import struct
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from kiplint.codec.catalog import Catalog
from kiplint.codec.frames import Direction, Frame, decode_request, decode_response
from kiplint.codec.problems import Problem
from kiplint.codec.sync import Cut, Sign, cut, request_sign, response_sign
from kiplint.codec.tcp import Address, Connection, Run

SASL_HANDSHAKE = 17
ENOUGH = 4
"""How many frames of a direction are looked at to tell whether it has requests."""


class Captured(msgspec.Struct, frozen=True):
    """One frame of a connection. `stream_offset` is where its length stands in the bytes of its direction.

    `answered` says of a request whether its response was captured. `whole` is false where the capture lacks bytes.
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
    answered: bool = False
    problem: Problem | None = None

    def decode(self, catalog: Catalog, *, spans: bool = False) -> Frame:
        """Read the frame; one that was not captured to its end has a header at most."""
        if self.problem:
            return Frame("", self.api_version, None, None, None, len(self.data), (self.problem,))
        if self.direction == "request":
            return decode_request(catalog, self.data, spans=spans)
        return decode_response(catalog, self.api_key, self.api_version, self.data, spans=spans)


class _Sides(NamedTuple):
    client: Address
    server: Address
    requests: list[Run]
    responses: list[Run]
    synchronized: tuple[bool, bool]


class Conversation(NamedTuple):
    """The frames of a connection, requests first, then responses; `unpaired` counts responses without their requests.

    These have no version, and cannot be read. Where the beginning of a connection was not captured, those before the
    first response that has its request are not told apart.
    """

    frames: list[Captured]
    unpaired: int


def conversation(catalog: Catalog, number: int, connection: Connection) -> Conversation | None:
    """What the two ends of a connection say; None when it is not Kafka's protocol."""
    sign = request_sign(catalog.api_keys)
    sides = _sides(connection, sign)
    if sides is None:
        return None
    requests = list(_requests(sides, number, sign))
    known = frozenset(one.correlation_id for one in requests)
    responses = list(cut(sides.responses, response_sign(known), synchronized=sides.synchronized[1]))
    return _paired(sides, number, requests, responses)


def _sides(connection: Connection, sign: Sign) -> _Sides | None:
    """Which end is the client: the one whose first frames look like requests."""
    runs = [direction.runs() for direction in connection.directions]
    known = [direction.synchronized for direction in connection.directions]
    scores = [_score(*pair, sign) for pair in zip(runs, known, strict=True)]
    if not max(scores):
        return None
    client = 0 if scores[0] >= scores[1] else 1
    ends, server = connection.ends, 1 - client
    return _Sides(ends[client], ends[server], runs[client], runs[server], (known[client], known[server]))


def _score(runs: list[Run], synchronized: bool, sign: Sign) -> int:
    """How many of the first frames look like requests, up to one that does not."""
    whole = (one for one in cut(runs, sign, synchronized=synchronized) if one.whole)
    looks = (not one.problem and sign.test(one.data, 0, len(one.data)) for one in itertools.islice(whole, ENOUGH))
    return sum(itertools.takewhile(bool, looks))


def _requests(sides: _Sides, number: int, sign: Sign) -> Iterator[Captured]:
    tokens = False
    for one in cut(sides.requests, sign, synchronized=sides.synchronized[0]):
        if tokens and not sign.test(one.data, 0, len(one.data)):
            continue  # after SaslHandshake 0 the mechanism's tokens come without headers
        key, version, correlation = struct.unpack_from(">hhi", one.data) if len(one.data) >= 8 else (-1, -1, -1)
        tokens = tokens or (key, version) == (SASL_HANDSHAKE, 0)
        yield _captured(sides, number, "request", one, (key, version, correlation))


def _paired(sides: _Sides, number: int, requests: list[Captured], responses: list[Cut]) -> Conversation:
    """Each response beside the oldest request with its correlation id that is not answered yet."""
    waiting: dict[int, deque[int]] = {}
    for place, request in enumerate(requests):
        waiting.setdefault(request.correlation_id, deque()).append(place)
    found: list[Captured] = []
    unpaired = 0
    for one in responses:
        if one.problem:
            found.append(_captured(sides, number, "response", one, (-1, -1, -1)))
            continue
        correlation = struct.unpack_from(">i", one.data)[0] if len(one.data) >= 4 else -1
        if not waiting.get(correlation):
            unpaired += 1
            continue
        place = waiting[correlation].popleft()
        request = requests[place]
        requests[place] = msgspec.structs.replace(request, answered=True)
        found.append(_captured(sides, number, "response", one, (request.api_key, request.api_version, correlation)))
    return Conversation([*requests, *found], unpaired)


def _captured(sides: _Sides, number: int, direction: Direction, one: Cut, named: tuple[int, int, int]) -> Captured:
    return Captured(
        number, sides.client, sides.server, direction, one.time, one.offset, *named, one.data, one.whole,
        problem=one.problem,
    )  # fmt: skip
