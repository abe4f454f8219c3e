"""The stage `matrix`: what `negotiate` says of each release as a client with each release of its source as a broker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Final

from msgspec.structs import asdict
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from kiplint.compat.negotiation import Side, agree, broker_side, client_side, exchange, is_trouble
from kiplint.compat.roles import is_between_nodes
from kiplint.compat.tree import make_tree
from kiplint.model.headers import HEADER_WITH_ID
from kiplint.pipeline.changes import files_by_root, texts_of
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.rows import Row, map_cogroups
from kiplint.pipeline.rules import Rules
from kiplint.versions import NONE

PAIR: Final = ["client_root", "broker_root"]


def matrix(lake: Lake, rules: Rules) -> DataFrame:
    """The new rows of the table `matrix`: of the pairs of roots that were not negotiated yet.

    Reads `revisions`, `sets`, `files`, `blobs` and `messages`. The key is (client_root, broker_root, api_key), where a
    root is the content of a release.
    """
    releases = lake.read("revisions").where("release IS NOT NULL").select("source", "root").distinct()
    releases = releases.join(lake.read("sets"), "root", "left_semi")
    clients = releases.withColumnRenamed("root", "client_root")
    brokers = releases.withColumnRenamed("root", "broker_root")
    pairs = clients.join(brokers, "source").groupBy(*PAIR).agg(F.min("source").alias("batch"))
    new_pairs = lake.missing(pairs, "matrix", *PAIR, rules_id=rules.id)
    rpc_messages = lake.read("messages").where("type IN ('request', 'response', 'header')")
    texts = texts_of(lake, new_pairs, PAIR).join(rpc_messages, "blob", "left_semi")
    return map_cogroups(new_pairs, texts, partial(negotiate_pairs, rules), lake.schemas["matrix"], "batch")


def negotiate_pairs(rules: Rules, pairs: Sequence[Row], texts: Sequence[Row]) -> Iterator[Row]:
    """The rows of the table `matrix` of the pairs of roots of one source; `texts_of` describes its texts."""
    clients: dict[str, Side] = {}
    brokers: dict[str, Side] = {}
    for root, files in files_by_root(texts).items():
        schemas = make_tree(root, files.items()).main
        clients[root] = client_side("", schemas)
        brokers[root] = broker_side("", schemas)
    for pair in pairs:
        cells = [*negotiate_cells(clients[pair["client_root"]], brokers[pair["broker_root"]])]
        no_rpc: Row = {}
        for cell in cells or [no_rpc]:
            yield {**pair, "rules_id": rules.id, **cell}


def negotiate_cells(client: Side, broker: Side) -> Iterator[Row]:
    """The columns of the table `matrix` for each RPC that a client or a broker has."""
    opening = exchange(client, broker)
    for key in sorted({*client.offers, *broker.offers}):
        agreement = agree(key, client, broker, opening)
        ours, theirs = client.offers.get(key), broker.offers.get(key)
        common = ours.versions_with_same_bytes(theirs) if ours and theirs else NONE
        name = (client.rpcs.get(key) or broker.rpcs[key]).name
        yield {
            "api_key": key,
            "name": name,
            "lowest": common.lowest if common else None,
            "highest": common.highest if common else None,
            **asdict(agreement),
            "instance_id": (agreement.request_header or 0) >= HEADER_WITH_ID,
            "in_trouble": is_trouble(agreement.status, between_nodes=is_between_nodes(key, name)),
        }
