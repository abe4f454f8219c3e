"""What each release as a client agrees on with each release of its source as a broker, as `negotiate` says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

import pyarrow as pa
from msgspec.structs import asdict
from pyspark.sql import functions as F  # noqa: N812

from kiplint.compat.negotiation import TROUBLE, Side, agree, broker_side, client_side, exchange
from kiplint.compat.roles import is_between_nodes
from kiplint.compat.tree import make_tree
from kiplint.model.headers import WITH_INSTANCE_ID
from kiplint.pipeline.changes import files_by_root, texts_of
from kiplint.pipeline.rows import Row, arrow, cogroup, table
from kiplint.versions import NONE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kiplint.pipeline.lake import Lake
    from kiplint.pipeline.rules import Rules

PAIR: Final = ["client_root", "broker_root"]


def matrix(lake: Lake, rules: Rules) -> DataFrame:
    """The cells of the pairs of contents that are new; the pairs of a source are a group."""
    releases = lake.read("revisions").where("release IS NOT NULL").select("source", "root").distinct()
    releases = releases.join(lake.read("sets"), "root", "left_semi")
    clients, brokers = (releases.withColumnRenamed("root", name) for name in PAIR)
    pairs = clients.join(brokers, "source").groupBy(*PAIR).agg(F.min("source").alias("group"))
    pairs = lake.missing(pairs, "matrix", *PAIR, rules_id=rules.id)
    of_rpcs = lake.read("messages").where("type IN ('request', 'response', 'header')")
    texts = texts_of(lake, pairs, PAIR).join(of_rpcs, "blob", "left_semi")
    schema = lake.schemas["matrix"]
    return cogroup(pairs, texts, "group").applyInArrow(negotiate_in_arrow(rules, arrow(schema)), schema)


def negotiate_in_arrow(rules: Rules, schema: pa.Schema) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """The function that turns pairs of contents of one source, and their files, into cells."""

    def run(pairs: pa.Table, texts: pa.Table) -> pa.Table:
        sides: dict[str, tuple[Side, Side]] = {}
        for root, files in files_by_root(texts).items():
            schemas = make_tree(root, files.items()).main
            sides[root] = client_side("", schemas), broker_side("", schemas)
        rows: list[Row] = []
        for pair in pairs.to_pylist():
            client, broker = (sides[pair[name]] for name in PAIR)
            cells = list(negotiate_cells(client[0], broker[1]))
            rows += [{**pair, "rules_id": rules.id, **cell} for cell in cells or [{}]]
        return table(schema, rows)

    return run


def negotiate_cells(client: Side, broker: Side) -> Iterator[Row]:
    """A row for each RPC of a client or a broker."""
    opening = exchange(client, broker)
    for key in sorted({*client.offers, *broker.offers}):
        agreement = agree(key, client, broker, opening)
        ours, theirs = client.offers.get(key), broker.offers.get(key)
        common = ours.common_versions(theirs) if ours and theirs else NONE
        name = (client.rpcs.get(key) or broker.rpcs[key]).name
        yield {
            "api_key": key,
            "name": name,
            "lowest": common.lowest if common else None,
            "highest": common.highest if common else None,
            **asdict(agreement),
            "instance_id": (agreement.request_header or 0) >= WITH_INSTANCE_ID,
            "in_trouble": agreement.status in (("layout-differs",) if is_between_nodes(key, name) else TROUBLE),
        }
