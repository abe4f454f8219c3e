"""What rules give as their reasons is what happened, and all that speak of one thing say the same of it."""

from __future__ import annotations

import pytest

from kiplint.commands.rules import rule_of
from kiplint.engine.rule import Rule


def why(name: str) -> str:
    return rule_of(name).spec.why


@pytest.mark.parametrize("name", ["kip-1313/frozen-rpc", "compat/frozen-bumped"])
def test_kafka_9577_was_about_clients_up_to_2_4(name: str) -> None:
    rule: Rule = rule_of(name)
    assert "KAFKA-9577" in rule.source
    assert rule.spec.why.startswith("Clients up to 2.4 send the highest version that both sides have")
    assert "broker" not in rule.spec.why.lower()


def test_where_the_encoding_of_the_client_id_comes_from() -> None:
    assert rule_of("kip-511/client-id-encoding").source == "RequestHeader's own comment, KIP-1313"


def test_the_kip_has_the_cluster_id_as_a_string_and_kafka_nullable() -> None:
    assert "The KIP specifies a plain string. Kafka makes it nullable" in why("kip-78/cluster-id")


def test_an_old_broker_reads_the_id_as_negotiate_reports() -> None:
    """`negotiate` says the same of a first request (tests/compat/test_served.py)."""
    text = why("kip-1313/v3-on-released")
    assert text.endswith("It reads an untagged instance id as tagged fields and body, and skips a tagged instance id.")
