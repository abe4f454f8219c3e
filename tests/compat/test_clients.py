"""Released clients: the data against its sources, and what they can do with real brokers."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest

from kiplint.compat.negotiation.clients import (
    ClientCell,
    ClientUse,
    client_use,
    release_named,
    released_side,
    releases,
    releases_named,
    use_of_clients,
)
from kiplint.compat.negotiation.negotiate import negotiate
from kiplint.compat.negotiation.sides import Offered, drop_unserved, offered_set
from kiplint.compat.tree import load
from kiplint.engine.errors import UsageError
from kiplint.model.schemas import SchemaSet


@cache
def schemas(history: Path, tag: str) -> SchemaSet:
    return load(f"{tag}:", str(history)).main


def uses(history: Path, tag: str) -> dict[str, ClientUse]:
    rows = use_of_clients(releases(), [(tag, schemas(history, tag))])
    return {use.name: use for row in rows for use in row.brokers[0].releases}


def lost_names(use: ClientUse) -> list[str]:
    """The names of lost RPCs, with an asterisk if only a path is lost."""
    return [f"{rpc.name}{'*' if rpc.unserved else ''}" for rpc in use.lost]


def numbers(text: str) -> list[int]:
    pairs = (part.partition("-") for part in text.split(", "))
    return [version for low, _, high in pairs for version in range(int(low), int(high or low) + 1)]


def test_the_data_is_that_of_the_sources(corpus: Path) -> None:
    folder = corpus.parent / "clients"
    if not folder.is_dir():
        pytest.skip(f"no versions of clients at {folder}")
    read = [json.loads(file.read_text("utf-8")) for file in folder.glob("*.json")]
    expected = {
        f"{row['client']}@{row['version']}": (
            row["released"],
            row["negotiates"],
            {name: row.get("only", {}).get(name, [*range(low, high + 1)]) for name, (low, high) in row["apis"].items()},
            row.get("fixed", {}),
            row.get("conn_choices", {}),
            row.get("default_sends", {}),
        )
        for row in read
    }
    ours = {
        release.name: (
            release.released,
            release.negotiates,
            *({name: numbers(text) for name, text in ranges.items()}
              for ranges in (release.apis, release.fixed, release.picks, release.usual)),
        )
        for release in releases()
    }  # fmt: skip
    assert len(ours) == 48
    assert ours == {
        name: (*parts[:3], *({api: sorted({*versions}) for api, versions in part.items()} for part in parts[3:]))
        for name, parts in expected.items()
    }
    for row in read:
        files = " ".join(release_named(f"{row['client']}@{row['version']}").source)
        for source in row["source"]:
            assert all(part in files for part in source.split(": ", 1))


WITH_4_0 = {
    "librdkafka@0.9.5": ["Produce", "Fetch", "ListOffsets*", "OffsetCommit", "JoinGroup"],
    "librdkafka@0.11.6": ["ListOffsets*", "OffsetCommit", "JoinGroup"],
    "librdkafka@1.3.0": ["ListOffsets*"],
    "librdkafka@1.6.1": ["ListOffsets*"],
    "sarama@1.27.2": ["OffsetCommit*", "JoinGroup", "DescribeLogDirs"],
    "sarama@1.30.1": ["OffsetCommit*", "JoinGroup", "DescribeLogDirs"],
    "kafka-go@0.4.8": ["JoinGroup", "CreateTopics*", "DeleteTopics*"],
    "kafka-go@0.4.25": ["JoinGroup", "CreateTopics*", "DeleteTopics*"],
    "kafkajs@1.4.6": ["ListOffsets", "JoinGroup", "CreateTopics", "DeleteTopics", "DescribeConfigs"],
}
"""What whoever read the sources found to have no common version with 4.0; an asterisk stands for a fixed path."""
MORE_WITH_4_0 = {
    "kafka-go@0.3.10": ["JoinGroup", "CreateTopics", "DeleteTopics"],
    "kafka-go@0.4.47": ["JoinGroup*", "CreateTopics*", "DeleteTopics*"],
    "kafka-python@2.1.5": ["DescribeLogDirs"],
    "kafka-python@2.3.0": ["DescribeLogDirs"],
    "sarama@1.20.0": ["OffsetCommit*", "JoinGroup", "DescribeAcls", "CreateAcls", "DeleteAcls", "DescribeConfigs"],
    "sarama@1.24.1": ["OffsetCommit*", "JoinGroup", "DescribeConfigs"],
}
"""What follows from the same data in the same way, and no list named: JoinGroup 0-1, DescribeLogDirs 0 and so on."""


def test_what_clients_lose_with_4_0(history: Path) -> None:
    result = {name: lost_names(use) for name, use in uses(history, "confluent-8.0.0").items() if use.lost}
    assert result == WITH_4_0 | MORE_WITH_4_0


@pytest.mark.parametrize("tag", ["2.4.0", "3.6.0"])
def test_old_brokers_lose_no_client_but_the_one_without_negotiation(history: Path, tag: str) -> None:
    result = {name for name, use in uses(history, tag).items() if use.lost}
    assert {"platformatic-kafka@1.0.0"} <= result <= {"platformatic-kafka@1.0.0", "platformatic-kafka@1.20.0"}


KIP_896 = {"librdkafka": "1.8.2", "kafkajs": "1.15.0", "sarama": "1.30.1", "kafka-python": "2.0.2"}
"""The releases whose versions KIP-896 ("Public Interfaces") keeps: the newest of each client at the end of 2021."""


def test_the_clients_of_kip_896_work_with_4_0(history: Path) -> None:
    result = uses(history, "confluent-8.0.0")
    working = {client: result[f"{client}@{version}"].status for client, version in KIP_896.items()}
    # Sarama declares JoinGroup up to 5 and OffsetCommit up to 4; consumer_group.go and offset_manager.go send 0-1 and 1.
    assert working == {"librdkafka": "works", "kafkajs": "works", "sarama": "fails", "kafka-python": "works"}
    before = {name: result[name].status for name in ("librdkafka@1.6.1", "kafkajs@1.12.0", "kafka-python@1.4.7")}
    # The KIP looked at no older release: those two of kafkajs and kafka-python send nothing that 4.0 has removed.
    assert before == {"librdkafka@1.6.1": "fails", "kafkajs@1.12.0": "works", "kafka-python@1.4.7": "works"}


def test_core_rpcs_are_apart_from_optional_ones(history: Path) -> None:
    result = uses(history, "confluent-8.0.0")
    assert {name for name, use in result.items() if use.status == "core"} == {
        "kafka-python@2.1.5",
        "kafka-python@2.3.0",
    }


def test_releases_that_fail_between_others_are_named(history: Path) -> None:
    """Releases are compared in their order; what fails between the lowest and the newest that work is named."""
    by_name = uses(history, "confluent-8.0.0")
    names = ("librdkafka@0.9.5", "librdkafka@1.8.2", "librdkafka@1.3.0", "librdkafka@2.8.0")
    cell = ClientCell("b", "1.8.2", "2.8.0", tuple(by_name[name] for name in names))
    assert cell.failing_between == ["1.3.0"]


def test_versions_that_are_only_advertised(history: Path) -> None:
    with_4_0 = uses(history, "confluent-8.0.0")
    (produce,) = (rpc for rpc in with_4_0["librdkafka@0.9.5"].lost if rpc.name == "Produce")
    assert produce.message.endswith("brokers list version 0-1 for old clients, and refuse it (KAFKA-18659)")
    gssapi = "the client tests for JoinGroup 0, and confluent-8.0.0 lists 2-9"
    assert [(loss.what, loss.why) for loss in with_4_0["librdkafka@2.8.0"].losses] == [("SASL GSSAPI", gssapi)]
    assert not with_4_0["librdkafka@2.15.0"].losses


def test_a_probed_4_0_lists_produce_0_and_refuses_it(history: Path) -> None:
    rows = [Offered(0, "Produce", 0, 12), Offered(1, "Fetch", 4, 17), Offered(3, "Metadata", 0, 13)]
    old, new = (released_side(release_named(f"librdkafka@{version}")) for version in ("0.9.5", "2.8.0"))
    broker = ("b:9092", offered_set(drop_unserved(rows), old.schemas))
    statuses = {row.name: row.status for row in negotiate(old, [broker]).rpcs}
    assert (statuses["Produce"], statuses["Fetch"]) == ("no-common-version", "no-common-version")
    assert not negotiate(new, [broker]).losses  # compression stays, as Produce 0 is listed


def test_no_compression_where_produce_0_is_not_listed() -> None:
    side = released_side(release_named("librdkafka@2.8.0"))
    broker = ("b:9092", offered_set([Offered(0, "Produce", 4, 12)], side.schemas))
    assert [loss.what for loss in negotiate(side, [broker]).losses] == ["gzip, snappy and lz4 compression"]


def test_default_settings(history: Path) -> None:
    (loss,) = uses(history, "confluent-8.0.0")["sarama@1.30.1"].losses
    assert loss.what == "OffsetCommit, DescribeAcls, CreateAcls, DeleteAcls, DescribeConfigs by default"
    assert loss.why.startswith("with Config.Version 1.0.0.0 the client sends OffsetCommit 1, DescribeAcls 0")


def test_a_client_that_ignores_the_lowest_version(history: Path) -> None:
    release = release_named("kafkajs@1.4.6")
    use = client_use(release, negotiate(released_side(release), [("4.0", schemas(history, "confluent-8.0.0"))]))
    (join,) = (rpc for rpc in use.lost if rpc.name == "JoinGroup")
    assert join.message == (
        "the client has 0, 4.0 2-9: no version in common; it sends version 0 anyway, and the broker refuses it"
    )


def test_sets_with_holes(history: Path) -> None:
    side = released_side(release_named("librdkafka@1.3.0"))
    rows = {row.name: row for row in negotiate(side, [("3.6", schemas(history, "3.6.0"))]).rpcs}
    assert (rows["Fetch"].client, rows["Fetch"].chosen) == ("0-2, 4, 11", 11)
    assert (rows["Metadata"].chosen, rows["Metadata"].request_header) == (2, 1)


@pytest.mark.parametrize(
    ("name", "rpc", "paths"),
    [
        ("aiokafka@0.12.0", "Metadata", {"consumer": 1, "producer": 0, "admin": 5}),
        ("kafka-python@2.0.2", "OffsetFetch", {"consumer": 1, "admin": 3}),
        ("librdkafka@2.8.0", "ListGroups", {"admin": 4, "list_groups": 0}),
        ("librdkafka@2.8.0", "DescribeGroups", {"admin": 4, "list_groups": 0}),
        ("librdkafka@2.15.0", "Metadata", {"consumer": 12, "authorized_operations": 10}),
        ("sarama@1.24.1", "OffsetCommit", {"consumer": 1, "retention": 2}),
        ("sarama@1.27.2", "OffsetFetch", {"consumer": 1, "admin": 2}),
        ("sarama@1.30.1", "Produce", {"producer": 3, "zstd": 7}),
    ],
)
def test_the_versions_of_each_path(history: Path, name: str, rpc: str, paths: dict[str, int]) -> None:
    """What the notes of a release say is what is chosen, on the main path first."""
    rows = {
        row.name: row for row in negotiate(released_side(release_named(name)), [("b", schemas(history, "3.6.0"))]).rpcs
    }
    assert (rows[rpc].chosen, rows[rpc].paths) == (next(iter(paths.values())), paths)


def test_the_first_exchange_of_a_client(history: Path) -> None:
    broker = [("2.2.0", schemas(history, "2.2.0"))]
    (first,) = negotiate(released_side(release_named("librdkafka@2.8.0")), broker).exchanges
    assert (first.tried, first.tried_header, first.answer, first.used, first.client_software) == (3, 2, 0, 0, False)
    (first,) = negotiate(released_side(release_named("sarama@1.20.0")), broker).exchanges
    assert (first.tried, first.notes[-1]) == (None, release_named("sarama@1.20.0").note)


@pytest.mark.parametrize(
    ("names", "says"),
    [
        (
            "librdkafka@1.3.1",
            "no release 1.3.1 of librdkafka is known: name one such as librdkafka@2.15.0; known are 0.9",
        ),
        ("librdkafak@1.3.0", "no client librdkafak is known; did you mean librdkafka@1.3.0?"),
        ("franzgo@1.0.1", "no client franzgo is known; did you mean franz-go?"),
        ("zzz@1", "no client zzz is known; known are aiokafka, franz-go,"),
        ("java@3.6.0", "a Java client has the schemas of its Kafka release: name the set, such as 3.6.0:"),
        (",", "no client is named: name all, or releases such as librdkafka@2.8.0,sarama@1.42.1"),
    ],
)
def test_unknown_names(names: str, says: str) -> None:
    with pytest.raises(UsageError) as error:
        releases_named(names)
    assert says in str(error.value)


def test_a_list_of_releases() -> None:
    assert [release.name for release in releases_named("rskafka, kafkajs@2.2.4,rskafka@0.2.0")] == [
        "kafkajs@2.2.4", "rskafka@0.2.0", "rskafka@0.3.0", "rskafka@0.5.0", "rskafka@0.6.0",
    ]  # fmt: skip
    assert releases_named("all") == releases()
