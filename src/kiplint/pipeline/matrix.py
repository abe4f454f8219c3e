"""The stage `matrix`: what `negotiate` says of each release as a client with each release of its source as a broker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Final

from msgspec.structs import asdict
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import ArrayType, StringType, StructType

from kiplint.compat.negotiation import Exchange, agree, exchange, is_trouble
from kiplint.compat.sides import Offer, Side, broker_side, client_side
from kiplint.compat.tree import make_tree
from kiplint.model.headers import HEADER_WITH_ID
from kiplint.model.schemas import SchemaSet
from kiplint.pipeline.changes import batch_of, files_by_root, texts_of
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.rows import Row, map_cogroups
from kiplint.pipeline.rules import Rules
from kiplint.versions import NONE

PAIR: Final = ["client_root", "broker_root"]
Cells = dict[tuple[Hashable, ...], Row]
"""The columns of the table `matrix` for an RPC, by all that they depend on."""
NO_RPC: Final = ("no RPC",)
"""The key of a pair without any RPC."""


def matrix(lake: Lake, rules: Rules) -> DataFrame:
    """The new rows of the table `matrix`: of the pairs of roots that were not negotiated yet.

    Reads `revisions`, `sets`, `files`, `blobs` and `messages`. The key is (client_root, broker_root, api_key), where a
    root is the content of a release. A batch has some of the clients of a source, with all their brokers.
    """
    releases = lake.read("revisions").where("release IS NOT NULL").join(lake.read("sets"), "root", "left_semi")
    first_use = F.min(F.struct("source", "position")).alias("first_use")
    clients = releases.groupBy("source", F.col("root").alias("client_root")).agg(first_use)
    brokers = releases.select("source", F.col("root").alias("broker_root")).distinct()
    pairs = clients.join(brokers, "source").groupBy(*PAIR).agg(F.min("first_use").alias("first_use"))
    new_pairs = lake.missing(pairs, "matrix", *PAIR, rules_id=rules.id)
    new_pairs = new_pairs.select(batch_of("first_use.source").alias("batch"), *PAIR)
    rpc_messages = lake.read("messages").where("type IN ('request', 'response', 'header')")
    texts = texts_of(lake, new_pairs, PAIR).join(rpc_messages, "blob", "left_semi")
    fields = [field for field in lake.schemas["matrix"] if field.name != "broker_root"]
    schema = StructType(fields).add("broker_roots", ArrayType(StringType()))
    cells = map_cogroups(new_pairs, texts, partial(negotiate_pairs, rules), schema, "batch")
    return cells.withColumn("broker_root", F.explode("broker_roots"))


def negotiate_pairs(rules: Rules, pairs: Sequence[Row], texts: Sequence[Row]) -> Iterator[Row]:
    """The rows of the table `matrix` of the pairs of roots of one batch; `texts_of` describes its texts.

    A row has the `broker_roots` with which a client has the same cell: of 200 releases, that is a row in place of 50.
    """
    files = files_by_root(texts)
    clients = {root: client_side("", _main_set(files[root])) for root in {pair["client_root"] for pair in pairs}}
    cells: Cells = {NO_RPC: {}}
    brokers_by_cell: dict[tuple[str, tuple[Hashable, ...]], list[str]] = defaultdict(list)
    for broker_root, broker_pairs in groupby(sorted(pairs, key=itemgetter(*reversed(PAIR))), itemgetter("broker_root")):
        broker = broker_side("", _main_set(files[broker_root]))  # which is let go after its clients, to save memory
        for pair in broker_pairs:
            client_root = pair["client_root"]
            for content in [*negotiate_cells(clients[client_root], broker, cells)] or [NO_RPC]:
                brokers_by_cell[client_root, content].append(broker_root)
    for (client_root, content), broker_roots in brokers_by_cell.items():
        yield {"client_root": client_root, "broker_roots": broker_roots, "rules_id": rules.id, **cells[content]}


def _main_set(files: Mapping[str, Sequence[tuple[str, bytes]]]) -> SchemaSet:
    return make_tree("", files.items()).main


def negotiate_cells(client: Side, broker: Side, cells: Cells) -> Iterator[tuple[Hashable, ...]]:
    """The keys in `cells` of the columns of the table `matrix`, for each RPC that a client or a broker has.

    `cells` has those of other pairs: most pairs of releases have most of their RPCs in common. This adds the others.
    """
    opening = exchange(client, broker)
    for key in sorted({*client.offers, *broker.offers}):
        content = (opening, key, _content(client.rpcs.get(key)), _content(broker.rpcs.get(key)))
        if content not in cells:
            cells[content] = _cell(key, client, broker, opening)
        yield content


def _content(offer: Offer | None) -> tuple[Hashable, ...] | None:
    """What an agreement on an RPC depends on, of one side."""
    if offer is None:
        return None
    return offer.request.data, offer.response.data, str(offer.versions), str(offer.versions_between_nodes)


def _cell(key: int, client: Side, broker: Side, opening: Exchange) -> Row:
    agreement = agree(key, client, broker, opening)
    ours, theirs = client.offers.get(key), broker.rpcs.get(key)
    is_compared = agreement.versions and not agreement.problem
    common = ours.versions_with_same_bytes(theirs) if ours and theirs and is_compared else NONE
    between_nodes = client.is_between_nodes(key) or broker.is_between_nodes(key)
    return {
        "api_key": key,
        "name": (client.rpcs.get(key) or broker.rpcs[key]).name,
        "between_nodes": between_nodes,
        "lowest": common.lowest if common else None,
        "highest": common.highest if common else None,
        **asdict(agreement),
        "instance_id": (agreement.request_header or 0) >= HEADER_WITH_ID,
        "in_trouble": is_trouble(agreement.status, between_nodes=between_nodes),
    }
