"""The saved output of `kafka-broker-api-versions.sh`, as tools of Kafka 2.x to 4.x print it."""

from __future__ import annotations

import pytest

from kiplint.compat.broker_versions import OfferedRpc, offered_set, read_broker_versions
from kiplint.compat.negotiation import negotiate
from kiplint.model.schemas import SchemaSet
from tools import complaint, rpc

OLD = """localhost:9092 (id: 0 rack: null) -> (
\tProduce(0): 0 to 8 [usable: 8],
\tFetch(1): 0 to 11 [usable: 11],
\tControlledShutdown(7): 2 [usable: 2],
\tDescribeCluster(60): UNSUPPORTED
)
"""
NEW = """[2026-11-02 09:00:00,000] WARN The configuration 'a' is not known (org.apache.kafka)
b1.example:9092 (id: 1 rack: eu (west) isFenced: false) -> (
\tProduce(0): 0 to 13 [usable: 13],
\tFetch(1): 4 to 18 [usable: 17],
\tOffsetDelete(47): 0 [unusable: node too new],
\tGetTelemetrySubscriptions(71): UNSUPPORTED,
\tUNKNOWN(95): 0 to 1
)
b2.example:9092 (id: 2 rack: null isFenced: true) -> ERROR: org.apache.kafka.common.errors.DisconnectException
"""


def test_a_tool_before_4_0() -> None:
    offers, errors = read_broker_versions("b.txt", OLD)
    assert offers == {
        "localhost:9092": [
            OfferedRpc(0, "Produce", 0, 8),
            OfferedRpc(1, "Fetch", 0, 11),
            OfferedRpc(7, "ControlledShutdown", 2, 2),
        ]
    }
    assert errors == {}


def test_a_tool_from_4_0_on() -> None:
    offers, errors = read_broker_versions("b.txt", NEW.replace("\t", "    ").replace("\n", "\r\n"))
    assert offers == {
        "b1.example:9092": [
            OfferedRpc(0, "Produce", 0, 13),
            OfferedRpc(1, "Fetch", 4, 18),
            OfferedRpc(47, "OffsetDelete", 0, 0),
            OfferedRpc(95, "UNKNOWN", 0, 1),
        ]
    }
    assert errors == {"b2.example:9092": "org.apache.kafka.common.errors.DisconnectException"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "b.txt lists no broker versions, as kafka-broker-api-versions.sh prints them"),
        (NEW[NEW.index("b2") :], "b.txt lists no broker versions, as kafka-broker-api-versions.sh prints them"),
        (OLD[:-2], "b.txt: the output of kafka-broker-api-versions.sh is incomplete"),
        (OLD.replace("0 to 11", "0-11"), "b.txt:3: not a line that kafka-broker-api-versions.sh prints"),
        (OLD.replace("(1)", "(111111)"), "b.txt:3: not a line that kafka-broker-api-versions.sh prints"),
    ],
)
def test_what_is_no_such_output(text: str, says: str) -> None:
    assert complaint(lambda: read_broker_versions("b.txt", text)) == says


def test_a_broker_has_the_layouts_of_the_client() -> None:
    client = SchemaSet((*rpc("Produce", 0, "0-9"), *rpc("Fetch", 1, "0-12")))
    sets = [("b", offered_set(offers, client)) for offers in read_broker_versions("b.txt", OLD + NEW)[0].values()]
    old, new = ({line.api_key: line for line in negotiate(("c", client), [broker]).rpcs} for broker in sets)
    assert [(line.chosen, line.request_header) for line in (old[0], new[0], new[1])] == [(8, 2), (9, 2), (12, 2)]
    assert (old[7].name, new[95].name, new[95].status) == ("ControlledShutdown", "Api95", "broker-only")


def test_versions_of_produce_that_are_only_listed_are_left_out() -> None:
    client = SchemaSet(rpc("Produce", 0, "0-2"))
    sets = [("b", offered_set(offers, client)) for offers in read_broker_versions("b.txt", OLD + NEW)[0].values()]
    assert [negotiate(("c", client), [broker]).rpcs[0].status for broker in sets] == ["agreed", "no-common-version"]
