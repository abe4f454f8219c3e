"""Mistakes of Kafka's that are known from its issues are found where they came in, where they went, and what shipped."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conftest import ROOT
from kiplint.pipeline.lake.lake import Lake
from tools import kiplint

from .thinned import RELEASES, REVISIONS, TAGS

LIFE = "introduced_time", "fixed_time", "first_release", "fixed_release"


@pytest.fixture(scope="module")
def report(kafka: Lake) -> dict[str, Any]:
    """The report, as `kiplint pipeline report --output-format json` writes it."""
    result = kiplint("pipeline", "report", str(kafka.path), "--output-format", "json", cwd=ROOT)
    assert (result.code, result.err) == (0, "")
    document: dict[str, Any] = json.loads(result.out)
    return document


def _spans(report: dict[str, Any], rule: str, message: str) -> list[tuple[str, ...]]:
    return [
        tuple((row[name] or "")[:10] for name in LIFE)
        for row in report["findings"]
        if (row["lineage"], row["rule"], row["message_name"]) == ("trunk", rule, message)
    ]


def test_ranges_beyond_the_valid_versions(report: dict[str, Any]) -> None:
    result = _spans(report, "versions/field-above-valid", "ConsumerGroupDescribeResponse")
    assert result == [("2023-09-07", "2023-09-28", "", "")]


@pytest.mark.parametrize("message", ["SaslHandshakeRequest", "SaslHandshakeResponse"])
def test_the_flexible_handshake(report: dict[str, Any], message: str) -> None:
    """KAFKA-9577."""
    result = _spans(report, "kip-1313/frozen-rpc", message)
    assert result == [("2020-01-14", "2020-02-22", "", "")]


def test_tokens_behind_the_definition(report: dict[str, Any]) -> None:
    result = _spans(report, "syntax/trailing-content", "DescribeProducersRequest")
    assert result == [("2021-01-30", "2021-05-17", "2.8.0", "3.0.0")]


def test_a_name_given_twice(report: dict[str, Any]) -> None:
    result = _spans(report, "syntax/duplicate-key", "DescribeTopicPartitionsRequest")
    assert {span[0] for span in result} == {"2024-01-24"}
    assert {span[2:] for span in result} == {("3.8.0", "confluent-")}


def test_versions_that_linkedin_took(report: dict[str, Any]) -> None:
    collisions = {
        (row["message_name"], row["lowest"], row["highest"])
        for row in report["collisions"]
        if row["source"] == "linkedin"
    }
    assert {collision for collision in collisions if collision[0].startswith("LeaderAndIsr")} == {
        ("LeaderAndIsrRequest", 3, 3),
        ("LeaderAndIsrRequest", 4, 4),
        ("LeaderAndIsrRequest", 5, 5),
        ("LeaderAndIsrResponse", 4, 4),
        ("LeaderAndIsrResponse", 5, 5),
    }
    assert {row["source"] for row in report["collisions"]} == {"linkedin"}


def test_what_broke_bytes_between_releases(report: dict[str, Any]) -> None:
    """The same two as docs/reference/releases.md, out of all releases."""
    broke = {
        (row["first_release"], row["message_name"], row["field"])
        for row in report["breaks"]
        if row["lineage"] == TAGS and row["breaks"] == "wire"
    }
    assert broke == {
        ("2.4.0", "RequestHeader", "ClientId"),
        ("2.8.0", "EndQuorumEpochRequest", "Topics.Partitions.ReplicaId"),
    }


def test_nothing_could_not_be_read(report: dict[str, Any]) -> None:
    assert report["problems"] == []
    assert [(row["source"], row["lineage"], row["sets"]) for row in report["sources"]] == [
        ("automq", "automq", 1),
        ("kafka", TAGS, RELEASES),
        ("kafka", "trunk", REVISIONS),
        ("linkedin", "linkedin", 1),
        ("redpanda", "redpanda", 1),
    ]
