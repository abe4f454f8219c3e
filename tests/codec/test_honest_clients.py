"""What clients of other people say to a broker in order is read without a report, from brokers old and new."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from codec.broker import broker
from codec.support import load_catalog
from codec.test_connection import write_capture
from kiplint import decode
from kiplint.compat.negotiation.sides import broker_side
from kiplint.compat.tree import load

SURPLUS = (
    "MetadataRequest 12: 3 bytes follow after the end of the message; as version 10 the body reads to its last byte"
)
"""What librdkafka writes wrongly where it asks for all topics, in every release up to now."""


def kafka_python(address: str) -> None:
    from kafka import KafkaConsumer, KafkaProducer

    producer = KafkaProducer(bootstrap_servers=address, client_id="producer")
    producer.send("t", b"value").get(30)
    producer.close()
    consumer = KafkaConsumer("t", bootstrap_servers=address, client_id="consumer", group_id="g")
    end = time.monotonic() + 30
    while not consumer.assignment() and time.monotonic() < end:
        consumer.poll(100)
    consumer.poll(300)
    consumer.close()


def librdkafka(address: str) -> None:
    from confluent_kafka import Consumer, Producer, TopicPartition

    producer = Producer({"bootstrap.servers": address, "client.id": "producer"})
    producer.produce("t", b"value")
    assert producer.flush(30) == 0
    consumer = Consumer({"bootstrap.servers": address, "client.id": "consumer", "group.id": "g"})
    consumer.subscribe(["t"])
    end = time.monotonic() + 30
    while not consumer.assignment() and time.monotonic() < end:
        consumer.poll(0.1)
    consumer.poll(0.5)
    consumer.commit(offsets=[TopicPartition("t", 0, 1)], asynchronous=False)
    consumer.close()


@pytest.mark.filterwarnings("ignore:(read|open)_text is deprecated:DeprecationWarning")
@pytest.mark.parametrize("tag", ["2.4.0", "confluent-8.0.0"])
@pytest.mark.parametrize("client", [kafka_python, librdkafka])
def test_honest_clients_have_no_report(history: Path, tmp_path: Path, client: Callable[[str], None], tag: str) -> None:
    side = broker_side(tag, load(f"{tag}:", str(history)).main)
    with broker(load_catalog(f"{tag}:", history), side) as running:
        client(f"127.0.0.1:{running.port}")
        segments = [*running.segments]
    result = decode(write_capture(segments, tmp_path / "talk.pcap"), sets=(f"{tag}:",), repository=str(history))
    assert result.capture is not None
    assert {f"{cause.subject}: {cause.message}" for cause in result.capture.causes} <= {SURPLUS}
    assert {"Produce", "Fetch", "JoinGroup", "SyncGroup", "OffsetFetch"} <= {row.name for row in result.capture.by_api}
