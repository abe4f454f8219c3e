"""The readers over real releases: what they were generated of gives them no trouble, and what history knows, does."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from kiplint.commands.readers.result import ReadersResult
from kiplint.commands.readers.run import check_readers

TRUNK = "kafka-trunk-2026-08/clients"
FINE = {
    "envoy": ["3.4.1", "3.5.1", "3.6.1"],
    "kafka-protocol-rs": ["3.9.0-rc3", "confluent-8.1.0"],
    "kio": ["3.5.1", "3.9.0-rc3"],
    "librdkafka": ["2.8.1", "3.9.0-rc3"],
    "nisshi": ["3.8.0", "confluent-8.1.0"],
    "platformatic": ["3.9.0-rc3"],
}
"""The releases that readers got through, as they were generated of them or of their neighbours."""


def read(corpus: Path, source: str, name: str = "*", since: str | None = None) -> ReadersResult:
    bundle = corpus / "kafka-schema-history.bundle"
    return check_readers(source, since=since, repository=bundle, select=[f"readers/{name}"], config={})


@pytest.mark.parametrize(("name", "release"), [(name, release) for name, some in FINE.items() for release in some])
def test_what_a_reader_was_generated_of_is_fine(name: str, release: str, corpus: Path) -> None:
    result = read(corpus, f"{release}:clients", name)
    assert [finding.message for finding in result.findings] == []
    assert result.rows[0].reads > 30


def test_text_behind_describe_producers_request(corpus: Path) -> None:
    stumble = {"envoy", "kafka-protocol-rs", "kafka-python", "kio", "nisshi", "platformatic", "redpanda"}
    result = read(corpus, "2.8.0:clients", since="2.7.2")
    hit = [finding for finding in result.findings if finding.message_name == "DescribeProducersRequest"]
    assert {finding.rule.removeprefix("readers/") for finding in hit} == stumble
    assert {finding.message.rpartition(": ")[2] for finding in hit} == {"text follows the definition"}
    assert {finding.path.rpartition("/")[2] for finding in hit} == {"DescribeProducersRequest.json"}
    assert {finding.span.line for finding in hit} == {31}
    after = read(corpus, "3.0.0:clients")
    assert "DescribeProducersRequest" not in {finding.message_name for finding in after.findings}


@pytest.mark.parametrize("release", ["3.6.2", "3.7.0", "3.9.0-rc3", "confluent-8.1.0"])
def test_tags_in_quotes(release: str, corpus: Path) -> None:
    """BrokerHeartbeatRequest had one from 3.7.0 on, and a number again in 4.1."""
    (row,) = read(corpus, f"{release}:clients", "kafka-python").rows
    (other,) = read(corpus, f"{release}:clients", "kafka-protocol-rs").rows  # which has learned to take them
    quoted = release in ("3.7.0", "3.9.0-rc3")
    assert [(misread.finding.message_name, misread.reading.versions) for misread in row.misreads] == (
        [("BrokerHeartbeatRequest", "1")] if quoted else []
    )
    assert other.fails == other.misreads == ()


def test_the_trunk(corpus: Path) -> None:
    result = check_readers(corpus / TRUNK, select=["readers"], config={})
    assert Counter(finding.rule for finding in result.findings) == {"readers/envoy": 22, "readers/redpanda": 14}
    assert {row.profile.name: row.reads for row in result.rows} == {
        "envoy": 188, "kafka-protocol-rs": 203, "kafka-python": 182, "kio": 193,
        "librdkafka": 40, "nisshi": 158, "platformatic": 95, "redpanda": 88,
    }  # fmt: skip


def test_header_versions_on_the_trunk(corpus: Path, tmp_path: Path) -> None:
    from kiplint.cli.reader import read as command

    for file in (corpus / TRUNK).glob("*.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    call = command(["migrate", "kip-1313", str(tmp_path), "--output-format", "json"])
    assert call
    assert call.command.run(call.options) == 0
    result = check_readers(tmp_path, select=["readers"], config={})
    rows = {
        row.profile.name: (
            sum(fail.reading.why == "it knows no property headerVersions" for fail in row.fails),
            sum(misread.reading.what == "header" for misread in row.misreads),
        )
        for row in result.rows
    }
    assert rows == {
        "envoy": (0, 82), "kafka-protocol-rs": (182, 0), "kafka-python": (0, 90), "kio": (0, 90),
        "librdkafka": (0, 0), "nisshi": (0, 78), "platformatic": (0, 0), "redpanda": (85, 0),
    }  # fmt: skip
    assert {misread.reading.taken for row in result.rows for misread in row.misreads} == {"request header 2"}
