"""Bytes that other software wrote, or writes now."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from codec.proxy import Talk, proxy


@pytest.fixture(scope="session")
def shared_bytes(corpus: Path) -> Path:
    """The directory of real bytes, beside the corpus; the test is skipped without it."""
    path = corpus.parent / "bytes"
    if not path.is_dir():
        pytest.skip(f"the real bytes are not at {path}")
    return path


@pytest.fixture(scope="session")
def talks() -> list[Talk]:
    """What librdkafka's clients and its mock cluster say to each other, which takes four seconds.

    Two thirds of them the mock cluster waits for further members of the group.
    """
    from confluent_kafka.admin import AdminClient

    mock = AdminClient({"test.mock.num.brokers": 1, "bootstrap.servers": "mock"})
    node = next(iter(mock.list_topics("topic", timeout=60).brokers.values()))
    with proxy(node.host, node.port) as between:
        converse(f"127.0.0.1:{between.port}")
    return between.talks


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
