"""What librdkafka's clients and its mock cluster say to each other is read to the last byte."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from codec.proxy import Talk, proxy
from codec.support import catalog
from codec.test_real_bytes import assert_covers
from kiplint.codec.connection import RpcCall, judge
from kiplint.codec.frames import Frame, decode_request, decode_response

FAULTS = {
    # Surplus byte: see the traffic that was recorded elsewhere. The other is an array with one element and a count of none.
    ("MetadataResponse", 13): "codec/trailing-bytes",
    ("ApiVersionsResponse", 0): "codec/fallback-version",
}
"""What the mock cluster writes wrongly, whatever it is asked."""


def converse(address: str) -> None:
    """Produce, plainly and in a transaction; consume in a group; commit."""
    from confluent_kafka import Consumer, Producer, TopicPartition

    at = {"bootstrap.servers": address}
    producer = Producer({**at, "compression.type": "lz4"})
    for number in range(5):
        producer.produce("topic", f"value {number}", headers={"h": b"x"})
    assert producer.flush(60) == 0
    transactional = Producer({**at, "transactional.id": "t"})
    transactional.init_transactions(60)
    transactional.begin_transaction()
    transactional.produce("topic", "value")
    transactional.commit_transaction(60)
    consumer = Consumer({**at, "group.id": "g", "auto.offset.reset": "earliest", "enable.auto.commit": False})
    consumer.subscribe(["topic"])
    end = time.monotonic() + 120
    while consumer.poll(0.5) is None:
        assert time.monotonic() < end
    consumer.commit(asynchronous=False)
    consumer.committed([TopicPartition("topic", 0)])
    consumer.close()


@pytest.fixture(scope="module")
def talks() -> list[Talk]:
    """Two thirds of these four seconds the mock cluster waits for further members of the group."""
    from confluent_kafka.admin import AdminClient

    mock = AdminClient({"test.mock.num.brokers": 1, "bootstrap.servers": "mock"})
    node = next(iter(mock.list_topics("topic", timeout=60).brokers.values()))
    with proxy(node.host, node.port) as between:
        converse(f"127.0.0.1:{between.port}")
    return between.talks


def read(set_path: Path, talks: list[Talk]) -> Iterator[Frame]:
    known = catalog(str(set_path))
    for talk in talks:
        asked = {}
        for data in talk.requests:
            request = decode_request(known, data, spans=True)
            asked[data[4:8]] = (int.from_bytes(data[:2], "big"), int.from_bytes(data[2:4], "big"))
            yield request
        for data in talk.responses:
            yield decode_response(known, *asked[data[:4]], data, spans=True)


def test_every_frame_is_read(corpus: Path, talks: list[Talk]) -> None:
    seen: Counter[tuple[str, int]] = Counter()
    for frame in read(corpus / "kafka-trunk-2026-08", talks):
        place = (frame.message, frame.version)
        seen[place] += 1
        if not frame.problems:
            assert_covers(frame)
        else:
            assert frame.problems[0].rule == FAULTS.get(place), (place, frame.problems)
    names = {name for name, _ in seen}
    assert names >= {
        f"{name}{half}"
        for name in (
            "ApiVersions",
            "Metadata",
            "Produce",
            "Fetch",
            "FindCoordinator",
            "JoinGroup",
            "SyncGroup",
            "EndTxn",
        )
        for half in ("Request", "Response")
    }
    assert len(seen) >= 30


def test_no_rule_about_connections_is_broken(corpus: Path, talks: list[Talk]) -> None:
    known = catalog(str(corpus / "kafka-trunk-2026-08"))
    for talk in talks:
        answers = {data[:4]: data for data in talk.responses}
        calls = []
        for number, data in enumerate(talk.requests):
            api = int.from_bytes(data[:2], "big"), int.from_bytes(data[2:4], "big")
            request, answer = decode_request(known, data), answers.get(data[4:8])
            response = decode_response(known, *api, answer) if answer else None
            asked = None if request.problems else request
            answered = None if response is None or response.problems else response
            calls.append(RpcCall(*api, asked, answered, float(number), number + 0.5, opening=not number))
        assert [*judge(calls, {})] == []
