"""Tables of versions: the output of `kafka-broker-api-versions.sh` of Kafka 2.x to 4.x, and JSON."""

from __future__ import annotations

import pytest

from kiplint.compat.negotiation import negotiate
from kiplint.compat.version_tables import TableRow, VersionTable, broker_set, read_tables
from kiplint.model.schemas import SchemaSet
from kiplint.versions import VersionRange
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


def read(text: str, name: str = "b.txt") -> list[VersionTable]:
    return read_tables(name, text, lambda: {"Produce": 0, "Fetch": 1, "JoinGroup": 11}).tables


def row(api_key: int, name: str, versions: str, fixed: str = "") -> TableRow:
    return TableRow(api_key, name, VersionRange.of_text(versions), VersionRange.of_text(fixed))


NO_VERSIONS = (
    "b.txt lists no versions: neither as kafka-broker-api-versions.sh prints them, nor as a JSON object such as "
    '{"Fetch": [4, 11]}'
)


def test_a_tool_before_4_0() -> None:
    rows = [row(0, "Produce", "0-8"), row(1, "Fetch", "0-11"), row(7, "ControlledShutdown", "2")]
    assert read_tables("b.txt", OLD, dict) == ([VersionTable("localhost:9092", rows)], [])


def test_a_tool_from_4_0_on() -> None:
    text = NEW.replace("\t", "    ").replace("\n", "\r\n")
    assert read_tables("b.txt", text, dict) == (
        [
            VersionTable(
                "b1.example:9092",
                [
                    row(0, "Produce", "0-13"),
                    row(1, "Fetch", "4-18"),
                    row(47, "OffsetDelete", "0"),
                    row(95, "UNKNOWN", "0-1"),
                ],
            )
        ],
        ["b2.example:9092 is skipped: org.apache.kafka.common.errors.DisconnectException"],
    )


def test_lines_without_a_block() -> None:
    assert read("Fetch(1): 4 to 11\n\nJoinGroup(11): 0\n") == [
        VersionTable("b.txt", [row(1, "Fetch", "4-11"), row(11, "JoinGroup", "0")])
    ]


def test_json() -> None:
    assert read('{"Fetch": [4, 11], "95": [0, 0]}', "c.json") == [
        VersionTable("c.json", [row(1, "Fetch", "4-11"), row(95, "UNKNOWN", "0")])
    ]


def test_json_of_a_client() -> None:
    text = """{"client": "lib", "version": "1.2", "apis": {"JoinGroup": [0, 5], "Fetch": [0, 4]}, "note": "a",
        "only": {"JoinGroup": [0, 1, 5]}, "fixed": {"Fetch": [0]}}"""
    assert read(text) == [VersionTable("lib 1.2", [row(11, "JoinGroup", "0-1, 5"), row(1, "Fetch", "0-4", "0")])]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", NO_VERSIONS),
        (NEW[NEW.index("b2") :], NO_VERSIONS),
        (OLD[:-2], "b.txt: the output of kafka-broker-api-versions.sh is incomplete"),
        (OLD.replace("0 to 11", "0-11"), "b.txt:3: not a line that kafka-broker-api-versions.sh prints"),
        (OLD.replace("(1)", "(111111)"), "b.txt:3: not a line that kafka-broker-api-versions.sh prints"),
        ('{"Fetch": [11, 4]}', "b.txt: the range of Fetch is inverted: write [4, 11]"),
        (
            '{"Fetsh": [4, 11]}',
            "b.txt: no RPC has the name Fetsh: give its API key instead; did you mean Fetch?",
        ),
        ('{"Fetch": [4]}', "b.txt is not a table of versions: Expected `array` of length 2, got 1 - at `$.apis[...]`"),
        (
            '{"Fetch": [4, 40000]}',
            "b.txt is not a table of versions: Expected `int` <= 32767 - at `$.apis[...][1]`",
        ),
        ('{"Fetch"', "b.txt is not a table of versions: Input data was truncated"),
    ],
)
def test_what_is_no_such_output(text: str, says: str) -> None:
    assert complaint(lambda: read(text)) == says


def test_a_broker_has_the_layouts_of_the_client() -> None:
    client = SchemaSet((*rpc("Produce", 0, "0-9"), *rpc("Fetch", 1, "0-12")))
    sets = [(table.name, broker_set(table.rows, client)) for table in read(OLD + NEW)]
    old, new = ({line.api_key: line for line in negotiate(("c", client), [broker]).rpcs} for broker in sets)
    assert [(line.chosen, line.request_header) for line in (old[0], new[0], new[1])] == [(8, 2), (9, 2), (12, 2)]
    assert (old[7].name, new[95].name, new[95].status) == ("ControlledShutdown", "Api95", "broker-only")


def test_versions_of_produce_that_are_only_listed_are_left_out() -> None:
    client = SchemaSet(rpc("Produce", 0, "0-2"))
    sets = [(table.name, broker_set(table.rows, client)) for table in read(OLD + NEW)]
    assert [negotiate(("c", client), [broker]).rpcs[0].status for broker in sets] == ["agreed", "no-common-version"]
