"""The matrix of sets: the same as a negotiation says of each pair."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product

import pytest

import kiplint
from conftest import ROOT
from kiplint.commands.negotiate.matrix.run import negotiate_all
from kiplint.compat.negotiation.releases import release_matrix
from kiplint.engine.errors import UsageError
from kiplint.model.schemas import SchemaSet
from tools import kiplint as run

from .test_served import both_modes, listening

NEGOTIATE = ROOT / "fixtures/negotiate"
SETS = (
    "telemetry/old-client",
    "telemetry/new-broker",
    "refused/client",
    "refused/broker",
    "kip-35/client",
    "kip-35/B1",
)


def test_every_pair_is_what_negotiate_says() -> None:
    matrix = negotiate_all(*(NEGOTIATE / name for name in SETS)).matrix
    names = [release.name for release in matrix.releases]
    for (client, broker), (ours, theirs) in zip(product(names, names), product(SETS, SETS), strict=True):
        negotiation = kiplint.negotiate(NEGOTIATE / ours, NEGOTIATE / theirs).negotiation
        rows = [(row.api_key, row.name, row.brokers[0].status, row.brokers[0].chosen) for row in negotiation.rpcs]
        assert list(matrix.pairs[client, broker]) == rows
        assert ((client, broker) in matrix.trouble) is negotiation.in_trouble
    assert len(matrix.trouble) == 3


def test_the_command() -> None:
    words = ("negotiate", "--matrix", "refused/client", "refused/broker")
    result = run(*words, cwd=NEGOTIATE)
    assert (result.code, result.err) == (1, "")
    assert result.out.splitlines()[0] == "Pairs in trouble"
    document = json.loads(run(*words, "--output-format", "json", cwd=NEGOTIATE).out)
    assert (document["version"], document["releases"]) == (1, ["refused/client", "refused/broker"])
    pairs = {(pair["client"], pair["broker"]): pair for pair in document["pairs"]}
    negotiation = kiplint.negotiate(NEGOTIATE / "refused/client", NEGOTIATE / "refused/broker").negotiation
    bad = pairs["refused/client", "refused/broker"]
    assert bad["statuses"] == Counter(row.brokers[0].status for row in negotiation.rpcs)
    assert bad["trouble"] == sorted(row.name for row in negotiation.rpcs if row.status == "refused")


def test_brokers_are_in_a_mode_that_they_have() -> None:
    sets = [("2.8.0", SchemaSet(both_modes())), ("4.0.0", SchemaSet(both_modes()[4:]))]
    modes = {
        mode: {release.name: release.mode for release in release_matrix(sets, mode=mode).releases}
        for mode in (None, "zookeeper")
    }
    assert modes == {
        None: {"2.8.0": "kraft", "4.0.0": "kraft"}, "zookeeper": {"2.8.0": "zookeeper", "4.0.0": "kraft"},
    }  # fmt: skip
    early = ("3.2.0", SchemaSet(both_modes(listening("DescribeQuorum", 55, "0", "broker"))))
    assert release_matrix([early, *sets]).note.endswith(
        " Brokers of 3.2.0 are in ZooKeeper mode, those of 2.8.0 are in KRaft mode; "
        "for ZooKeeper mode: --mode zookeeper and for KRaft mode: --mode kraft."
    )
    note = release_matrix(sets, mode="zookeeper").note
    assert note.endswith(" Brokers of 2.8.0 are in ZooKeeper mode; for KRaft mode: --mode kraft.")
    with pytest.raises(UsageError, match="4.0.0 cannot run in ZooKeeper mode"):
        release_matrix(sets[1:], mode="zookeeper")


def test_what_it_refuses() -> None:
    result = run("negotiate", "--matrix", "refused/client", "refused/broker", "--sasl", cwd=NEGOTIATE)
    assert (result.code, result.err) == (2, "error: --matrix goes with neither --feature nor --sasl\n")
    with pytest.raises(UsageError, match="is named twice"):
        negotiate_all(NEGOTIATE / "refused/client", NEGOTIATE / "refused/client")
