"""Parts of honest captures say nothing that the whole does not say, whatever was cut off, lost or reordered."""

from __future__ import annotations

import itertools
import json
import os
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from codec.proxy import Talk
from codec.support import load_catalog
from kiplint.codec.capture import Packets, read_packets, read_segments
from kiplint.codec.catalog import Catalog
from kiplint.codec.connection import judge_capture, problems_of
from kiplint.codec.conversation import Captured
from kiplint.codec.frames import Frame
from kiplint.codec.tcp import ACK, SYN, Segment

CUTS = int(os.environ.get("KIPLINT_CUTS", "3"))
"""How many parts of each capture are read; 200 take a minute."""

Turn = tuple[str, bytes]
"""A direction and a frame without its length."""


def segments_of(talks: Iterable[Iterable[Turn]], size: int) -> list[Segment]:
    """Conversations of one server, a frame a millisecond, in segments of a size that may have several frames."""
    segments: list[Segment] = []
    server = ("10.0.0.2", 9092)
    for number, talk in enumerate(talks):
        ends = {"request": (("10.0.0.1", 50_000 + number), server), "response": (server, ("10.0.0.1", 50_000 + number))}
        places = {"request": 2**32 - 300, "response": 77}
        start = time = number / 100
        for direction, flags in (("request", SYN), ("response", SYN | ACK)):
            segments.append(Segment(start, *ends[direction], places[direction] - 1, flags, b"", places["request"]))
        for direction, turns in itertools.groupby(talk, key=lambda turn: turn[0]):
            other = "response" if direction == "request" else "request"
            data = b"".join(len(frame).to_bytes(4, "big") + frame for _, frame in turns)
            for pos in range(0, len(data), size):
                chunk, time = data[pos : pos + size], time + 0.001
                segments.append(Segment(time, *ends[direction], places[direction], ACK, chunk, places[other]))
                places[direction] = (places[direction] + len(chunk)) % 2**32
    return sorted(segments, key=lambda segment: segment.time)


def read_talks(shared_bytes: Path) -> Iterator[list[Turn]]:
    """The recorded frames that are right, a conversation for each client and peer; answers follow their requests."""
    rows = [json.loads(line) for line in (shared_bytes / "traffic.jsonl").read_text().splitlines()]
    answers: dict[object, list[bytes]] = defaultdict(list)
    talks: dict[object, list[Turn]] = defaultdict(list)
    honest = [row for row in rows if (row["verdict"], row["schema"]) == ("ok", "trunk")]
    ends = [(row["client"], row["peer"], row["correlation_id"], row["api_key"], row["api_version"]) for row in honest]
    for key, row in zip(ends, honest, strict=True):
        if row["direction"] == "response":
            answers[key].append(bytes.fromhex(row["hex"]))
    times: Counter[object] = Counter()
    for key, row in sorted(zip(ends, honest, strict=True), key=lambda item: item[0][2]):
        if row["direction"] == "request":
            talk = talks[*key[:2], times[key[:3]]]  # another talk where a correlation id comes again
            times[key[:3]] += 1
            talk.append(("request", bytes.fromhex(row["hex"])))
            talk += [("response", answers[key].pop())] if answers[key] else []
    yield from talks.values()


def turns_of(talk: Talk) -> list[Turn]:
    """Each request and its response."""
    answers = {data[:4]: data for data in talk.responses}
    pairs = ((("request", data), ("response", answers.get(data[4:8], b""))) for data in talk.requests)
    return [turn for pair in pairs for turn in pair if turn[1]]


@pytest.fixture(scope="module")
def captures(shared_bytes: Path, talks: list[Talk]) -> Mapping[str, Sequence[Segment]]:
    return {
        "clients and Tansu": read_packets((shared_bytes / "capture.pcapng").read_bytes()).segments,
        "recorded frames of six clients": segments_of(read_talks(shared_bytes), 536),
        "librdkafka and its mock cluster": segments_of(map(turns_of, talks), 1448),
    }


class Reading(NamedTuple):
    """What is read of a frame, and of the request that it answers."""

    raw_frame: Captured
    frame: Frame
    request: bytes | None


def identity(raw_frame: Captured) -> tuple[object, ...]:
    return raw_frame.client, raw_frame.server, raw_frame.direction, raw_frame.data


def readings(catalog: Catalog, segments: Sequence[Segment]) -> list[Reading]:
    capture = read_segments(catalog, Packets(segments, [segment.time for segment in segments], Counter()))
    frames = [raw_frame.decode(catalog, spans=True) for raw_frame in capture.frames]
    breaches = judge_capture(zip(capture.frames, frames, strict=True), capture.states)
    by_number = {raw_frame.number: raw_frame.data for raw_frame in capture.frames}
    return [
        Reading(
            raw_frame,
            replace(frame, problems=(*frame.problems, *problems_of(breaches.get(raw_frame.number, ()), frame))),
            by_number.get(raw_frame.request or 0),
        )
        for raw_frame, frame in zip(capture.frames, frames, strict=True)
    ]


def divide(segment: Segment, size: int) -> list[Segment]:
    """A segment as the pieces that a path with small packets makes of it."""
    data, sequence = segment.data, segment.sequence
    if len(data) <= size:
        return [segment]
    return [
        segment._replace(sequence=(sequence + pos) % 2**32, data=data[pos : pos + size])
        for pos in range(0, len(data), size)
    ]


def lossy(segments: Sequence[Segment], chance: random.Random) -> list[Segment]:
    """All segments in pieces of 37 bytes, of which a tenth is lost."""
    return [piece for segment in segments for piece in divide(segment, 37) if chance.random() > 0.1]


def part(segments: Sequence[Segment], chance: random.Random) -> list[Segment]:
    """Segments from some place to another, some divided, some lost, and some in another order."""
    ends = sorted(chance.choices(range(len(segments)), k=2))
    rest = list(segments[ends[0] if chance.random() < 0.8 else 0 : ends[1] + 1 if chance.random() < 0.5 else None])
    if chance.random() < 0.5:
        rest = [piece for segment in rest for piece in divide(segment, chance.choice([37, 100]))]
    if chance.random() < 0.7:
        share = chance.choice([0.01, 0.1, 0.4])
        rest = [segment for segment in rest if chance.random() > share]
    if chance.random() < 0.2 and rest:
        silent = chance.choice(rest).source
        rest = [segment for segment in rest if segment.source != silent]
    if chance.random() < 0.3:
        rest = [segment for segment in rest if not segment.flags & SYN]
    reach = chance.choice([0, 0, 1, 3, 20])
    order = sorted(range(len(rest)), key=lambda place: place + chance.uniform(0, reach))
    return [rest[place] for place in order]


def faults(whole: Mapping[tuple[object, ...], Reading], wholes: Sequence[Reading], part: Reading) -> Iterator[str]:
    """What a part says of a frame that the whole does not say."""
    raw_frame, frame, request = part
    if not raw_frame.whole:
        near = [
            reading
            for reading in wholes
            if identity(reading.raw_frame)[:3] == identity(raw_frame)[:3]
            and reading.raw_frame.data.startswith(raw_frame.data)
        ]
        kinds = {(reading.raw_frame.api_key, reading.raw_frame.api_version) for reading in near}
        if len(raw_frame.data) >= 8 and (raw_frame.api_key, raw_frame.api_version) not in kinds:
            yield "incomplete frame that the whole does not have"
        return
    reading = whole.get(identity(raw_frame))
    if reading is None:
        yield "a frame that the whole does not have"
    elif (replace(frame, problems=()), raw_frame.api_key, raw_frame.api_version) != (
        replace(reading.frame, problems=()), reading.raw_frame.api_key, reading.raw_frame.api_version,
    ):  # fmt: skip
        yield "read otherwise"
    elif not {*frame.problems} <= {*reading.frame.problems}:
        yield f"other problems: {frame.problems} for {reading.frame.problems}"
    elif request and not (reading.request or b"").startswith(request):
        yield "the answer of another request"
    elif raw_frame.answered is False and not raw_frame.pending and reading.raw_frame.answered is not False:
        yield "not answered"


@pytest.mark.parametrize(
    "name", ["clients and Tansu", "recorded frames of six clients", "librdkafka and its mock cluster"]
)
def test_a_part_says_nothing_that_the_whole_does_not_say(
    corpus: Path, captures: Mapping[str, Sequence[Segment]], name: str
) -> None:
    catalog, segments = load_catalog(str(corpus / "kafka-trunk-2026-08")), captures[name]
    wholes = readings(catalog, segments)
    whole = {identity(reading.raw_frame): reading for reading in wholes}
    count = 0
    parts = [lossy(segments, random.Random("lossy"))]
    parts += [part(segments, random.Random(f"cut {number}")) for number in range(CUTS)]
    for number, rest in enumerate(parts):
        result = readings(catalog, rest)
        assert [
            (fault, number, reading.raw_frame) for reading in result for fault in faults(whole, wholes, reading)
        ] == []
        count += len(result)
    print(f"{name}: {len(segments)} segments, {len(wholes)} frames; {count} frames of {CUTS} parts")
    assert count > CUTS * len(wholes) / 40
