"""The rules about connections: a conversation that breaks each, and conversations in order that break none."""

from __future__ import annotations

import socket
from io import StringIO
from pathlib import Path
from typing import Any

import dpkt
import pytest

from codec.support import load_catalog
from codec.test_capture import CLIENT, SERVER
from conftest import ROOT
from kiplint import decode
from kiplint.codec.capture import read_capture
from kiplint.codec.connection import RpcCall, ServerIdentity, judge, judge_capture, problems_of
from kiplint.codec.conversation import conversations, number_frames
from kiplint.codec.frames import Frame
from kiplint.codec.problems import RULES
from kiplint.codec.tcp import SYN, Segment, connections
from kiplint.codec.values import ZERO_UUID
from kiplint.commands.decode.text import write
from kiplint.commands.encode.objects import encode_object

PRODUCE, METADATA, SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE, TELEMETRY, PUSH = 0, 3, 17, 18, 36, 71, 72
OURS, OTHER = "AAAAAAAAAAAAAAAAAAAAAQ", "AAAAAAAAAAAAAAAAAAAAAg"
SOFTWARE = {"clientSoftwareName": "apache-kafka-java", "clientSoftwareVersion": "4.1.0"}
OFFER: dict[str, Any] = {"errorCode": 0, "apiKeys": [
    {"apiKey": key, "minVersion": low, "maxVersion": high}
    for key, low, high in ((0, 3, 14), (3, 0, 14), (17, 0, 1), (18, 0, 6), (71, 0, 1), (72, 0, 1))
]}  # fmt: skip
REFUSAL = {"errorCode": 35, "apiKeys": [{"apiKey": 18, "minVersion": 0, "maxVersion": 4}]}
Step = tuple[int, int, "str | None", dict[str, Any], "dict[str, Any] | None"]


def frame(version: int, header: int, values: dict[str, Any], **head: Any) -> Frame:
    return Frame("X", version, header, {"correlationId": 1, **head}, values, 0, ())


def talk(*steps: Step, opening: bool = True) -> list[RpcCall]:
    """Calls, each answered before the next; a step is key, version, instance id (for header 3), and both values."""
    return [
        RpcCall(
            key,
            version,
            frame(
                version, 2 if instance is None else 3, values, **({"clientInstanceId": instance} if instance else {})
            ),
            None if answer is None else frame(0 if answer is REFUSAL else version, 0, answer),
            sent=float(place),
            answered=place + 0.5,
            opening=opening and not place,
        )
        for place, (key, version, instance, values, answer) in enumerate(steps)
    ]


def api_versions(
    version: int = 6, instance: str | None = OURS, answer: dict[str, Any] | None = OFFER, **values: Any
) -> Step:
    ids = {"clusterId": None, "nodeId": -1} if version > 4 else {}
    return API_VERSIONS, version, instance, {**SOFTWARE, **ids, **values}, answer


def offering(*rows: tuple[int, int, int], code: int = 0) -> dict[str, Any]:
    keys = [{"apiKey": key, "minVersion": low, "maxVersion": high} for key, low, high in rows]
    return {"errorCode": code, "apiKeys": keys}


PLAIN: Step = (METADATA, 12, None, {}, {"clusterId": "abc-_1"})
NEW: Step = (METADATA, 14, OURS, {}, {"clusterId": "abc-_1"})
SASL_OFFER = {**OFFER, "apiKeys": [*OFFER["apiKeys"], {"apiKey": 36, "minVersion": 0, "maxVersion": 2}]}
IN_ORDER = {
    "with ids": talk(api_versions(), NEW, (PUSH, 1, OURS, {}, {}), (PRODUCE, 14, OURS, {}, None)),
    "without ids": talk(api_versions(4, None), PLAIN, (PUSH, 0, None, {"clientInstanceId": OURS}, {})),
    "an older broker": talk(api_versions(answer=REFUSAL), api_versions(4, None, offering((3, 0, 13), (18, 0, 4))), PLAIN),
    "back to version 0": talk(api_versions(answer=REFUSAL), api_versions(0, None, offering((3, 0, 13), (18, 0, 4))), PLAIN),
    "SASL": talk(api_versions(0, None, SASL_OFFER), (SASL_HANDSHAKE, 1, None, {}, {}), (SASL_AUTHENTICATE, 2, None, {}, {}), api_versions(), NEW),
    "SASL behind the first id": talk(api_versions(), (SASL_HANDSHAKE, 1, None, {}, {}), NEW),
    "a new telemetry id": talk(api_versions(4, None), (TELEMETRY, 0, None, {"clientInstanceId": ZERO_UUID}, {}),
                               (TELEMETRY, 0, None, {"clientInstanceId": OTHER}, {"clientInstanceId": OURS})),
    "both ids of the broker": talk(api_versions(clusterId="abc", nodeId=4)),
    "misrouted": talk(api_versions(clusterId="xyz", nodeId=4, answer={"errorCode": 129, "apiKeys": []})),
    "from the middle": talk(NEW, PLAIN, opening=False),
}  # fmt: skip
BREACHES = [
    ("instance-id-zero", talk(api_versions(instance=ZERO_UUID)), 0, "request"),
    ("instance-id-changed", talk(api_versions(), NEW, (METADATA, 14, OTHER, {}, {})), 2, "request"),
    ("instance-id-missing", talk(api_versions(), NEW, PLAIN), 2, "request"),
    ("instance-id-late", talk(api_versions(4, None), NEW), 0, "request"),
    ("telemetry-id", talk(api_versions(4, None), (PUSH, 0, None, {"clientInstanceId": ZERO_UUID}, {})), 1, "request"),
    ("telemetry-id", talk(NEW, (TELEMETRY, 0, None, {"clientInstanceId": OTHER}, {}), opening=False), 1, "request"),
    ("software-name", talk(api_versions(clientSoftwareName="my client")), 0, "request"),
    ("software-name", talk(api_versions(clientSoftwareVersion="")), 0, "request"),
    ("fallback-request", talk(api_versions(answer=REFUSAL), api_versions(5, None)), 1, "request"),
    ("versions-missing", talk(api_versions(answer=offering(code=35))), 0, "response"),
    ("misrouting-ids", talk(api_versions(clusterId="abc")), 0, "request"),
    ("misrouting-ids", talk(api_versions(nodeId=4)), 0, "request"),
    ("rebootstrap", talk(api_versions(clusterId="xyz", nodeId=4)), 0, "response"),
    ("rebootstrap", talk(api_versions(clusterId="abc", nodeId=5)), 0, "response"),
    ("rebootstrap", talk(api_versions(answer={"errorCode": 129, "apiKeys": []})), 0, "response"),
    (
        "rebootstrap",
        talk(api_versions(clusterId="abc", nodeId=4, answer={"errorCode": 129, "apiKeys": []})),
        0,
        "response",
    ),
    ("versions-inverted", talk(api_versions(answer=offering((18, 0, 6), (3, 5, 2)))), 0, "response"),
    ("api-key-twice", talk(api_versions(answer=offering((18, 0, 6), (3, 0, 2), (3, 0, 1)))), 0, "response"),
    ("api-versions-not-from-0", talk(api_versions(answer=offering((18, 3, 6)))), 0, "response"),
    ("answered-not-offered", talk(api_versions(answer=offering((18, 0, 4)))), 0, "response"),
    ("version-not-offered", talk(api_versions(), (METADATA, 15, OURS, {}, {})), 1, "request"),
    ("version-not-offered", talk(api_versions(), (1, 4, OURS, {}, {})), 1, "request"),
    ("sasl-handshake-version", talk((SASL_HANDSHAKE, 2, None, {}, {})), 0, "request"),
    ("sasl-handshake-version", talk(api_versions(answer=offering((18, 0, 6), (17, 0, 2)))), 0, "response"),
    ("cluster-id", talk(api_versions(4, None), (METADATA, 12, None, {}, {"clusterId": "a b"})), 1, "response"),
    ("cluster-id", talk(api_versions(clusterId="ä", nodeId=4, answer=None)), 0, "request"),
]
US = {"": ServerIdentity("abc", 4)}


@pytest.mark.parametrize("name", IN_ORDER)
def test_conversations_in_order(name: str) -> None:
    assert list(judge(IN_ORDER[name], US)) == []


@pytest.mark.parametrize(("rule", "calls", "place", "side"), BREACHES)
def test_each_rule_is_broken(rule: str, calls: list[RpcCall], place: int, side: str) -> None:
    breaches = list(judge(calls, US))
    assert [(breach.rule, breach.place, breach.side) for breach in breaches] == [(rule, place, side)]
    (problem,) = problems_of(breaches, frame(0, 0, {}))
    assert RULES[problem.rule].source.startswith("KIP-")


def test_requests_before_the_answer_are_not_judged_by_it() -> None:
    first, second = talk(api_versions(answer=offering((18, 0, 6))), (METADATA, 14, OURS, {}, {}))
    assert list(judge([first, second._replace(sent=0.4)], US)) == []
    assert [breach.rule for breach in judge([first, second], US)] == ["version-not-offered"]


def transmit(*talks: list[tuple[str, int, int, dict[str, Any]]]) -> list[Segment]:
    """Connections of a client to one server: direction, API key, version and values of each frame."""
    catalog = load_catalog(str(ROOT / "fixtures" / "sets" / "broker" / "clients"))
    segments: list[Segment] = []
    for number, steps in enumerate(talks):
        ends = (CLIENT[0], CLIENT[1] + number), SERVER
        segments += [Segment(10.0 * number, *ends, 0, SYN, b""), Segment(10.0 * number, *ends[::-1], 0, SYN, b"")]
        places, ids = [1, 1], [0, 0]
        for step, (direction, key, version, value) in enumerate(steps):
            side = int(direction == "response")
            ids[side] += 1
            head = {"correlationId": ids[side], **({} if side else {"clientId": "me"})}
            document = {"direction": direction, "api_key": key, "api_version": version, "header": head, "value": value}
            data = bytes.fromhex(encode_object(catalog, document).hex or "")
            data = len(data).to_bytes(4, "big") + data
            source, target = ends[:: -1 if side else 1]
            segments.append(Segment(10.0 * number + step + 1, source, target, places[side], 0, data))
            places[side] += len(data)
    return segments


def find_breaches(segments: list[Segment]) -> list[tuple[int, str, str]]:
    catalog = load_catalog(str(ROOT / "fixtures" / "sets" / "broker" / "clients"))
    frames = [
        frame for conversation in conversations(catalog, connections(segments)).spoken for frame in conversation.frames
    ]
    numbers = list(number_frames(sorted(frames, key=lambda frame: frame.time), 0.0))
    breaches = judge_capture([(item, item.decode(catalog)) for item in numbers])
    return [(number, breach.rule, breach.message) for number, group in breaches.items() for breach in group]


HELLO = ("request", 18, 3, {"clientSoftwareName": "me", "clientSoftwareVersion": "1"})
WELCOME = ("response", 18, 3, offering((18, 0, 4), (3, 0, 12)))


def cluster(name: str) -> list[tuple[str, int, int, dict[str, Any]]]:
    return [HELLO, WELCOME, ("request", 3, 12, {"topics": []}), ("response", 3, 12, {"clusterId": name})]


def test_two_clusters_behind_one_address() -> None:
    assert find_breaches(transmit(cluster("a"), cluster("a"))) == []
    assert find_breaches(transmit(cluster("a"), cluster("b"))) == [
        (8, "two-clusters", "the cluster is b; before, 10.0.0.2:9092 was in cluster a")
    ]


def test_a_capture_is_judged() -> None:
    talk = [HELLO, WELCOME, ("request", 3, 13, {"topics": []}), ("response", 3, 13, {"clusterId": "a b"})]
    assert find_breaches(transmit(talk)) == [
        (3, "version-not-offered", "version 13 was not offered; the broker offers 0 to 12"),
        (4, "cluster-id", 'the cluster id "a b" is malformed: it has letters, digits, _ and - only'),
    ]


def test_an_honest_capture_breaks_no_rule(corpus: Path, shared_bytes: Path) -> None:
    catalog = load_catalog(str(corpus / "kafka-trunk-2026-08"))
    capture = read_capture(catalog, (shared_bytes / "capture.pcapng").read_bytes())
    assert judge_capture((raw_frame, raw_frame.decode(catalog)) for raw_frame in capture.frames) == {}


def write_capture(segments: list[Segment], file: Path) -> str:
    """A capture of the segments."""
    with file.open("wb") as out:
        writer = dpkt.pcap.Writer(out, linktype=dpkt.pcap.DLT_RAW)
        for segment in segments:
            (source, sport), (target, dport) = segment.source, segment.target
            tcp = dpkt.tcp.TCP(
                sport=sport, dport=dport, seq=segment.sequence, ack=segment.acknowledged, flags=segment.flags,
                data=segment.data,
            )  # fmt: skip
            ends = {"src": socket.inet_aton(source), "dst": socket.inet_aton(target)}
            packet = dpkt.ip.IP(**ends, p=dpkt.ip.IP_PROTO_TCP, data=tcp)
            packet.len = len(packet)
            writer.writepkt(bytes(packet), ts=segment.time)
    return str(file)


def test_breaches_are_problems_of_their_frames(tmp_path: Path) -> None:
    talk = [HELLO, WELCOME, ("request", 3, 13, {"topics": []})]
    result = decode(write_capture(transmit(talk), tmp_path / "talk.pcap"), sets=[ROOT / "fixtures/sets/broker/clients"])
    assert result.status == "findings"
    assert [(finding.rule, finding.severity) for finding in result.findings] == [
        ("connection/version-not-offered", "error")
    ]
    (problem,) = result.entries[2].frame.problems
    assert (problem.offset, problem.path) == (2, "requestApiVersion")
    assert result.capture is not None
    assert [row.number for row in result.capture.problems] == [3]


def test_a_warning_alone_does_not_fail(tmp_path: Path) -> None:
    file = write_capture(transmit(cluster("a"), cluster("b")), tmp_path / "talk.pcap")
    result = decode(file, sets=[ROOT / "fixtures/sets/broker/clients"])
    assert [(finding.rule, finding.severity) for finding in result.findings] == [("connection/two-clusters", "warning")]
    assert result.status == "ok"
    out = StringIO()
    write(result, out, color=False)
    assert "\nwarning[connection/two-clusters] at byte " in out.getvalue()
