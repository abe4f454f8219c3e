"""Captures, real and made up: what they hold is found although segments are lost, repeated, or out of order."""

from __future__ import annotations

import io
import json
import random
import runpy
import socket
import struct
from functools import cache
from pathlib import Path

import dpkt
import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from codec.support import catalog_of, load_catalog
from conftest import ROOT
from kiplint.codec.capture import UnreadableCapture, read_capture, read_packets
from kiplint.codec.catalog import Catalog
from kiplint.codec.conversation import Captured, conversations
from kiplint.codec.summary import offered_versions, summarize
from kiplint.codec.tcp import ACK, FIN, RST, SYN, Segment, connections
from tools import USUAL, field, message, rpc

CLIENT, SERVER = ("10.0.0.1", 50000), ("10.0.0.2", 9092)
HEADER = {"type": "header", "validVersions": "0-2", "apiKey": None}
seeds = st.integers(0, 2**63)


@cache
def echo() -> Catalog:
    """One RPC, Echo, with versions 0 and 1, neither flexible, and no fields."""
    names = [
        field("RequestApiKey", "int16"),
        field("RequestApiVersion", "int16"),
        field("CorrelationId"),
        field("ClientId", "string"),
    ]
    headers = [message(*names, name="RequestHeader", **HEADER), message(names[2], name="ResponseHeader", **HEADER)]
    return catalog_of(*rpc("Echo", 7, "0-1", flexibleVersions="none"), *headers)


def request(correlation: int, version: int = 0) -> bytes:
    return struct.pack(">ihhih", 13, 7, version, correlation, 3) + b"me!"


def response(correlation: int) -> bytes:
    return struct.pack(">ii", 4, correlation)


def segments_of(count: int, rng: random.Random, start: int = 1000) -> list[Segment]:
    """A conversation of some requests and responses in segments of random sizes, both directions begun by a SYN."""
    requests = b"".join(request(number, number % 2) for number in range(count))
    responses = b"".join(response(number) for number in range(count))
    result = [Segment(0.0, *ends, start % 2**32, SYN, b"") for ends in ((CLIENT, SERVER), (SERVER, CLIENT))]
    for ends, data in (((CLIENT, SERVER), requests), ((SERVER, CLIENT), responses)):
        pos = 0
        while pos < len(data):
            size = rng.randint(1, 30)
            result.append(Segment(1.0 + pos, *ends, (start + 1 + pos) % 2**32, 0, data[pos : pos + size]))
            pos += size
    return result


def read(segments: list[Segment], catalog: Catalog | None = None) -> list[Captured]:
    return [
        frame
        for conversation in conversations(catalog or echo(), connections(segments)).spoken
        for frame in conversation.frames
    ]


def describe(frames: list[Captured]) -> list[tuple[str, int, int, int, bool]]:
    return sorted(
        (frame.direction, frame.api_version, frame.correlation_id, frame.stream_offset, frame.whole) for frame in frames
    )


def test_the_capture_of_the_guide_is_what_its_script_writes(tmp_path: Path) -> None:
    runpy.run_path(str(ROOT / "scripts" / "make_capture.py"))["main"](tmp_path)
    for name in ("client.pcap", "hung-up.pcap"):
        assert (tmp_path / name).read_bytes() == (ROOT / "fixtures" / "bytes" / name).read_bytes()


def test_the_real_capture(corpus: Path, shared_bytes: Path) -> None:
    catalog = load_catalog(str(corpus / "kafka-trunk-2026-08"))
    expected = json.loads((shared_bytes / "capture.json").read_text())
    capture = read_capture(catalog, (shared_bytes / expected["file"]).read_bytes())
    pairs = [(frame, frame.decode(catalog)) for frame in capture.frames]
    result = msgspec.to_builtins(summarize(catalog, capture, pairs, offered_versions(pairs)))
    for name in ("by_api", "problems"):
        keys = [key for key in expected[name][0] if key not in ("at_fault", "detail", "verdict")]
        rows = [{key: entry[key] for key in keys} for entry in result[name]]
        assert rows == [{key: entry[key] for key in keys} for entry in expected[name]]
    assert [problem["rule"] for problem in result["problems"]] == ["codec/trailing-bytes", "codec/null-not-allowed"]
    plain = expected.keys() - {"by_api", "problems", "file", "schema"}
    assert {key: result[key] for key in plain} == {key: expected[key] for key in plain}


@settings(max_examples=2 * USUAL)
@given(seeds, st.sampled_from([1000, 2**32 - 1, 2**32 - 20]))
def test_repeated_and_reordered_segments_change_nothing(seed: int, start: int) -> None:
    rng = random.Random(seed)
    count = rng.randint(1, 8)
    segments = segments_of(count, rng, start)
    expected = [("request", n % 2, n, 17 * n, True) for n in range(count)]
    expected += [("response", n % 2, n, 8 * n, True) for n in range(count)]
    assert describe(read(segments)) == sorted(expected)
    again = [*segments, *rng.sample(segments, rng.randint(0, len(segments)))]
    rng.shuffle(again)
    assert describe(read(again)) == sorted(expected)


@settings(max_examples=2 * USUAL)
@given(seeds)
@example(4995981)  # the lost length stands before a correlation id that leads, as a length, to the next frame
def test_lost_segments_cost_only_the_frames_they_are_of(seed: int) -> None:
    rng = random.Random(seed)
    segments = segments_of(20, rng)
    lost_segment = rng.choice([segment for segment in segments if segment.data and segment.source == CLIENT])
    hole = range(lost_segment.sequence - 1001, lost_segment.sequence - 1001 + len(lost_segment.data))
    lost_frames = {place // 17 for place in hole}
    (conversation,) = conversations(
        echo(), connections([segment for segment in segments if segment is not lost_segment])
    ).spoken
    assert conversation.unpaired == 20 - sum(frame.direction == "response" for frame in conversation.frames)
    result = [frame for frame in conversation.frames if frame.direction == "request"]
    whole = {frame.correlation_id for frame in result if frame.whole}
    assert whole <= set(range(20)) - lost_frames
    # Where a length was lost, the next frame is found again by what it looks like.
    assert set(range(20)) - lost_frames - {max(lost_frames) + 1} <= whole
    assert not any(frame.problem for frame in result)


@settings(max_examples=USUAL)
@given(seeds)
def test_a_capture_may_begin_in_the_middle(seed: int) -> None:
    rng = random.Random(seed)
    segments = segments_of(20, rng)
    first = rng.randint(3, 10)
    cut = [
        segment for segment in segments[2:] if segment.source == SERVER or segment.sequence >= 1001 + first * 17 - 16
    ]
    requests = [frame.correlation_id for frame in read(cut) if frame.direction == "request" and frame.whole]
    assert set(range(first + 1, 20)) <= set(requests) <= set(range(first, 20))
    # Responses to requests that were not captured have no version to be read in.
    responses = [frame.correlation_id for frame in read(cut) if frame.direction == "response"]
    assert set(responses) == {frame.correlation_id for frame in read(cut) if frame.direction == "request"}


def test_an_address_may_be_used_again() -> None:
    rng = random.Random(1)
    assert len(connections([*segments_of(2, rng), *segments_of(3, rng, start=2**31)])) == 2
    assert len(read([*segments_of(2, rng), *segments_of(3, rng, start=2**31)])) == 10


@pytest.mark.parametrize("data", [b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00", b"\0" * 40, b"\xff" * 40])
def test_other_protocols_are_left_alone(data: bytes) -> None:
    assert read([Segment(0.0, CLIENT, SERVER, 5, 0, data), Segment(0.1, SERVER, CLIENT, 9, 0, data)]) == []


def test_a_length_that_cannot_be_is_a_problem_and_the_next_frame_is_found() -> None:
    data = request(1) + b"\xff\xff\xff\xf0" + request(2) + request(3)
    result = read([Segment(0.0, CLIENT, SERVER, 5, SYN, b""), Segment(0.0, CLIENT, SERVER, 6, 0, data)])
    assert [(frame.correlation_id, frame.problem and frame.problem.rule) for frame in result] == [
        (1, None),
        (-1, "codec/length-negative"),
        (2, None),
        (3, None),
    ]


def make_capture(*, six: bool = False, vlan: bool = False) -> bytes:
    """A pcap file of one request and its response over Ethernet."""
    out = io.BytesIO()
    writer = dpkt.pcap.Writer(out)
    family, address = (socket.AF_INET6, "fd00::{}") if six else (socket.AF_INET, "10.0.0.{}")
    for time, (source, target, data) in enumerate(((1, 2, request(5)), (2, 1, response(5)))):
        ports = (50000, 9092) if source == 1 else (9092, 50000)
        tcp = dpkt.tcp.TCP(sport=ports[0], dport=ports[1], seq=7, data=data)
        ends = {
            "src": socket.inet_pton(family, address.format(source)),
            "dst": socket.inet_pton(family, address.format(target)),
        }
        ip = dpkt.ip6.IP6(nxt=6, plen=len(tcp), data=tcp, **ends) if six else dpkt.ip.IP(p=6, data=tcp, **ends)
        kind = 0x86DD if six else 0x0800
        frame = bytes(dpkt.ethernet.Ethernet(type=kind, data=ip))
        if vlan:
            frame = frame[:12] + b"\x81\x00\x00\x05" + frame[12:]
        writer.writepkt(frame, ts=time)
    return out.getvalue()


@pytest.mark.parametrize("six", [False, True])
@pytest.mark.parametrize("vlan", [False, True])
def test_packets_of_the_internet_and_its_successor(six: bool, vlan: bool) -> None:
    result = read_capture(echo(), make_capture(six=six, vlan=vlan))
    assert [(frame.direction, frame.correlation_id, frame.server[1]) for frame in result.frames] == [
        ("request", 5, 9092),
        ("response", 5, 9092),
    ]
    assert (result.packets, len(result.states), result.seconds) == (2, 1, 1.0)


@pytest.mark.parametrize("size", [0, 3, 23, 24, 30, 60, 100])
def test_a_capture_that_was_cut_off_is_read_as_far_as_it_goes(size: int) -> None:
    try:
        result = read_capture(echo(), make_capture()[:size])
    except UnreadableCapture as error:
        assert "cannot read the capture" in str(error)
    else:
        assert result.frames == ()


def test_captures_are_hostile() -> None:
    rng = random.Random(4)
    good = make_capture()
    for _ in range(300):
        data = bytearray(good)
        for _ in range(rng.randint(1, 6)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            result = read_capture(echo(), bytes(data))
        except UnreadableCapture:
            continue
        for frame in result.frames:
            frame.decode(echo(), spans=True)


def flexible() -> Catalog:
    """Echo, and an RPC 0 whose requests a response with a small correlation id may resemble."""
    headers = [*echo().with_name("RequestHeader"), *echo().with_name("ResponseHeader")]
    small = rpc("Small", 0, "0-9", flexibleVersions="none")
    return catalog_of(*rpc("Echo", 7, "0-1", flexibleVersions="none"), *small, *headers)


def test_an_address_that_serves_others_is_the_server() -> None:
    """Only a response of the connection was captured, and it reads as a request."""
    like = struct.pack(">ihhih", 10, 0, 5, 0, 0)  # also: correlation id 5, throttle time 0, error 0
    alone = [Segment(9.0, SERVER, ("10.0.0.9", 1), 5, 0, like)]
    result = conversations(flexible(), connections(alone))
    assert [frame.client for conversation in result.spoken for frame in conversation.frames] == [SERVER]
    talks = conversations(flexible(), connections([*segments_of(3, random.Random(0)), *alone]))
    assert [len(conversation.frames) for conversation in talks.spoken] == [6, 0]


def test_a_connection_that_does_not_show_its_client() -> None:
    ends = [(CLIENT, SERVER), (SERVER, CLIENT)]
    both = [Segment(0.0, *pair, 5, 0, request(number)) for number, pair in enumerate(ends)]
    talks = conversations(echo(), connections(both))
    assert (talks.spoken, talks.others, talks.unclear) == ([], [], 1)
    segments = [Segment(0.0, SERVER, CLIENT, 4, SYN | ACK, b""), *both]
    assert [frame.client for frame in read(segments)] == [CLIENT]


def test_a_response_whose_bytes_were_lost_is_not_missing() -> None:
    talk = [Segment(0.0, CLIENT, SERVER, 4, SYN, b""), Segment(0.0, SERVER, CLIENT, 4, SYN | ACK, b"", 5)]
    talk += [Segment(1.0 + number, CLIENT, SERVER, 5 + 17 * number, ACK, request(number), 5) for number in range(3)]
    answer = Segment(5.0, SERVER, CLIENT, 13, ACK, response(1), 30)
    assert [frame.answered for frame in read(talk)] == [False] * 3
    assert [frame.answered for frame in read([*talk, answer])] == [None, True, None, False]  # the last is the response


@pytest.mark.parametrize(
    ("flags", "answers", "pending"),
    [
        ([], [], [True, True]),
        ([], [1], [False]),
        ([(CLIENT, FIN)], [], [True, True]),
        ([(SERVER, FIN)], [], [False, False]),
        ([(CLIENT, RST)], [], [True, True]),
        ([(CLIENT, FIN), (CLIENT, RST)], [0], [False]),
    ],
)
def test_a_request_is_pending_if_the_capture_ends_first(
    flags: list[tuple[tuple[str, int], int]], answers: list[int], pending: list[bool]
) -> None:
    """A reset answers data of the server; a later answer, and the end of the connection, show that none comes."""
    other = {CLIENT: SERVER, SERVER: CLIENT}
    segments = [Segment(0.0, CLIENT, SERVER, 4, SYN, b""), Segment(0.0, SERVER, CLIENT, 4, SYN | ACK, b"", 5)]
    segments += [Segment(1.0 + number, CLIENT, SERVER, 5 + 17 * number, ACK, request(number), 5) for number in range(2)]
    segments += [Segment(4.0, end, other[end], 39 if end == CLIENT else 5, flag, b"") for end, flag in flags[:1]]
    segments += [Segment(5.0, SERVER, CLIENT, 5, ACK, response(number), 39) for number in answers]
    segments += [Segment(6.0, end, other[end], 39, flag, b"") for end, flag in flags[1:]]
    assert [
        frame.pending for frame in read(segments) if frame.answered is False and frame.direction == "request"
    ] == pending


def block(kind: int, body: bytes) -> bytes:
    """A block of pcapng."""
    size = (12 + len(body) + -len(body) % 4).to_bytes(4, "little")
    return kind.to_bytes(4, "little") + size + body + bytes(-len(body) % 4) + size


SECTION = block(0x0A0D0D0A, bytes.fromhex("4d3c2b1a 0100 0000 ffffffffffffffff"))


@pytest.mark.parametrize("option", [9, 14])
def test_an_empty_option_of_pcapng(option: int) -> None:
    """The resolution and the offset of times, which have 1 and 8 bytes."""
    data = SECTION + block(1, bytes.fromhex("0100 0000 00000000") + option.to_bytes(4, "little") + bytes(4))
    assert read_packets(data).times == []


def test_interfaces_of_pcapng() -> None:
    """Each has its link type, and the unit and the offset of its times: here Ethernet in ns, and IP in s from 100 on."""
    first, second = list(dpkt.pcap.Reader(io.BytesIO(make_capture())))
    interfaces = block(1, bytes.fromhex("0100 0000 00000000 0900 0100 09000000"))
    interfaces += block(1, bytes.fromhex("6500 0000 00000000 0900 0100 00000000 0e00 0800 6400000000000000"))
    packets = b""
    for number, (time, packet) in enumerate(((10**9, first[1]), (3, second[1][14:]))):
        packets += block(6, struct.pack("<IIIII", number, 0, time, len(packet), len(packet)) + packet)
    result = read_packets(SECTION + interfaces + packets)
    assert [(segment.time, segment.source[1]) for segment in result.segments] == [(1.0, 50000), (103.0, 9092)]
    assert [frame.direction for frame in read_capture(echo(), SECTION + interfaces + packets).frames] == [
        "request",
        "response",
    ]
