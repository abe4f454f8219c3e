"""What each release as a client agrees on with each release of its source as a broker, as `negotiate` says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from msgspec.structs import asdict
from pyspark.sql import functions as F  # noqa: N812

from kiplint.compat.negotiation import Agreement, Offer, Side, agree, broker_side, client_side, exchange
from kiplint.compat.roles import modes_of
from kiplint.compat.tree import make_tree
from kiplint.model.headers import WITH_INSTANCE_ID
from kiplint.pipeline.changes import files_by_root
from kiplint.pipeline.rows import Row, arrow, cogroup, table
from kiplint.versions import NONE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kiplint.pipeline.lake import Lake
    from kiplint.pipeline.rules import Rules

PAIR: Final = ["client_root", "broker_root"]


def matrix(lake: Lake, rules: Rules) -> DataFrame:
    """The cells of the pairs of contents that are new; the pairs of a source are a group."""
    sets = lake.read("sets")
    releases = lake.read("revisions").where("release IS NOT NULL").select("source", "root").distinct()
    releases = releases.join(sets, "root", "left_semi")
    clients, brokers = (releases.withColumnRenamed("root", name) for name in PAIR)
    pairs = clients.join(brokers, "source").groupBy(*PAIR).agg(F.min("source").alias("source"))
    pairs = lake.missing(pairs, "matrix", *PAIR, rules_id=rules.id)
    roots = pairs.select("source", F.explode(F.array(*PAIR)).alias("root")).distinct()
    of_rpcs = lake.read("messages").where("type IN ('request', 'response', 'header')").select("blob")
    uses = roots.join(sets, "root").join(lake.read("files").join(of_rpcs, "blob", "left_semi"), "tree")
    uses = uses.groupBy("source", "blob").agg(F.collect_list(F.struct("root", "directory", "name")).alias("uses"))
    texts = uses.join(lake.read("blobs").select("blob", "data"), "blob")
    schema = lake.schemas["matrix"]
    return cogroup(pairs, texts, "source").applyInArrow(negotiate_in_arrow(rules, arrow(schema)), schema)


def negotiate_in_arrow(rules: Rules, schema: pa.Schema) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """The function that turns pairs of contents of one source, and their files, into cells."""

    def run(pairs: pa.Table, texts: pa.Table) -> pa.Table:
        sides: dict[str, tuple[Side, Side]] = {}
        for root, files in files_by_root(texts).items():
            schemas = make_tree(root, files.items()).main
            sides[root] = client_side("", schemas), broker_side("", schemas)
        facts = {root: tuple(map(_facts, both)) for root, both in sides.items()}
        cells: dict[Any, list[Row]] = {}
        rows: list[Row] = []
        for pair in pairs.to_pylist():
            client, broker = (pair[name] for name in PAIR)
            key = facts[client][0], facts[broker][1]
            if key not in cells:
                cells[key] = list(negotiate_cells(sides[client][0], sides[broker][1], sides[broker][0]))
            rows += [{**pair, "rules_id": rules.id, **cell} for cell in cells[key] or [{}]]
        return table(schema, rows)

    return run


def _facts(side: Side) -> Any:
    """What the agreements of a side depend on: equal sides agree on the same with any other."""
    return tuple(
        (
            (key, offer.name, offer.versions, offer.reserved_versions),
            (offer.request.data, offer.response.data),
        )
        for key, offer in sorted(side.rpcs.items())
    )


def negotiate_cells(client: Side, broker: Side, as_client: Side) -> Iterator[Row]:
    """A row for each RPC of a client or a broker; `as_client` is the broker's set as a client has it."""
    opening = exchange(client, broker)
    mode = broker.mode if modes_of(broker.schemas) else None
    for key in sorted({*client.offers, *broker.offers}):
        agreement = agree(key, client, broker, opening)
        ours, theirs = client.rpcs.get(key), broker.rpcs.get(key)
        usable = client.offers.get(key), broker.offers.get(key)
        common = usable[0].common_versions(usable[1]) if usable[0] and usable[1] else NONE
        own = _client_versions(ours) if ours else (None, None)
        offered = theirs.versions.highest if theirs and theirs.versions else None
        yield {
            "api_key": key,
            "name": ours.name if ours else theirs.name if theirs else None,
            "lowest": common.lowest if common else None,
            "highest": common.highest if common else None,
            **asdict(agreement),
            "instance_id": (agreement.request_header or 0) >= WITH_INSTANCE_ID,
            "broker_name": theirs.name if theirs else None,
            "client_lowest": own[0],
            "client_highest": own[1],
            "broker_lowest": None if offered is None else _client_versions(as_client.rpcs[key])[0],
            "broker_highest": offered,
            "mode": mode if theirs else None,
            "reason": _reason(agreement, usable, ours, theirs),
        }


def _client_versions(offer: Offer) -> tuple[int, int]:
    lowest = (offer.versions | offer.reserved_versions).lowest
    return lowest, offer.versions.highest if offer.versions else lowest - 1


REASONS: Final = {
    "refused": f"the first request had header {WITH_INSTANCE_ID}, and this one has not",
    "not-offered": "the broker has it for other listeners, or unstable",
    "client-only": "the broker has no such RPC",
    "broker-only": "the client has no such RPC",
}


def _reason(
    agreement: Agreement, usable: tuple[Offer | None, Offer | None], client: Offer | None, broker: Offer | None
) -> str | None:
    """Why client and broker do not agree on an RPC; None where they do."""
    ours, theirs = usable
    if agreement.differing:
        return f"other bytes in {agreement.differing}"
    if agreement.status == "no-common-version" and ours and theirs:
        return f"client {ours.versions}, broker {theirs.versions}"
    if agreement.status == "header-differs" and theirs and agreement.chosen is not None:
        headers = theirs.headers(agreement.chosen)
        mine = f"{agreement.request_header}/{agreement.response_header}"
        return f"the client's headers are {mine}, the broker's {'/'.join(map(str, headers))}"
    if agreement.status in REASONS:
        return REASONS[agreement.status]
    if client and broker and client.name != broker.name:
        return f"the broker's of this key is {broker.name}"
    return None
