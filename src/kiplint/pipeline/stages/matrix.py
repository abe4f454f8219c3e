"""Every release as a client of every release as a broker (KIP-35, KIP-511, KIP-1313), as `negotiate` says.

What a content offers follows from the described messages of its main set; contents with the same messages offer the
same, and pairs of the same offers agree on the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from kiplint.compat.negotiation.negotiate import SOFTWARE, Offer, Side, agree, broker_side, client_side, exchange
from kiplint.compat.negotiation.result import Agreement
from kiplint.compat.roles import modes_of
from kiplint.model.headers import API_VERSIONS, WITH_INSTANCE_ID
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.model.spec import FieldSpec, MessageSpec
from kiplint.pipeline.lake.schema import Columns, batch, columns, ddl, table
from kiplint.pipeline.stage import Context
from kiplint.pipeline.tables import RPC, Fields, Files, Matrix, Messages, Offers, Revisions, Trees
from kiplint.pipeline.work import A_HANDFUL, Work
from kiplint.pipeline.workers import rows_of
from kiplint.versions import NONE, VersionRange

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

HALF: Columns = {
    "name": "string",
    **{name: kind for name, kind in Messages.COLUMNS.items() if name not in ("blob", "fields", "declares_headers")},
    "software": "boolean",
}
"""A request or response with the name of its file; `software` says that it has ClientSoftwareName."""
HALVES_SQL = f"""
WITH software AS (
  SELECT DISTINCT blob, true AS software FROM {{fields}} WHERE path = '{SOFTWARE[0]}' AND lowest IS NOT NULL
), of_trees AS (
  SELECT tree, struct({", ".join(name for name in HALF if name != "software")}, coalesce(software, false) AS software)
    AS half
  FROM (SELECT DISTINCT tree FROM {{trees}}) JOIN {{files}} USING (tree) JOIN {{messages}} USING (blob)
  LEFT JOIN software USING (blob) WHERE type IN {RPC!r}
), sets AS (
  SELECT tree, array_sort(collect_list(half)) AS halves, count(DISTINCT half.api_key) AS rpcs FROM of_trees
  GROUP BY tree
)
SELECT root, min_by(halves, struct(-rpcs, split(directory, '/'))) AS halves
FROM {{trees}} JOIN sets USING (tree) GROUP BY root
"""
"""The requests and responses of the set of each content that has the most RPCs, of several the first."""
OFFER_COLUMNS: Columns = {name: kind for name, kind in Offers.COLUMNS.items() if name != "root"}
OFFERS_BY_DIGEST: Columns = {"digest": "string", **OFFER_COLUMNS}
PAIRS_SQL = """
WITH defined AS (
  SELECT DISTINCT source, root FROM {revisions} WHERE release IS NOT NULL AND root IN (SELECT root FROM {trees})
)
SELECT DISTINCT c.root AS client_root, b.root AS broker_root FROM defined c JOIN defined b ON $across
LEFT ANTI JOIN {matrix} k ON k.client_root = c.root AND k.broker_root = b.root
"""
SIDES_SQL = f"""
WITH offers AS (
  SELECT root, array_sort(collect_list(struct({", ".join(OFFER_COLUMNS)}))) AS offers FROM {{offers}}
  LEFT SEMI JOIN (SELECT client_root AS root FROM {{pairs}} UNION SELECT broker_root FROM {{pairs}}) USING (root)
  GROUP BY root
)
SELECT root, offers, sha2(to_json(offers), 256) AS digest FROM offers
"""
MET_SQL = """
SELECT client, broker, any_value(broker_offers) AS broker_offers FROM (
  SELECT c.digest AS client, b.digest AS broker, b.offers AS broker_offers
  FROM {pairs} JOIN {sides} c ON c.root = client_root JOIN {sides} b ON b.root = broker_root
) GROUP BY client, broker
"""
AGREEMENTS: Columns = {
    **columns("client, broker"),
    **{name: kind for name, kind in Matrix.COLUMNS.items() if not name.endswith("_root")},
}
AGREED_SQL = f"""
SELECT {", ".join(Matrix.COLUMNS)} FROM {{pairs}} JOIN {{sides}} c ON c.root = client_root
JOIN {{sides}} b ON b.root = broker_root JOIN {{agreed}} ON client = c.digest AND broker = b.digest
"""


def run(work: Work, context: Context) -> None:
    """Make the offers of contents that are new, and the agreements of pairs of releases that are; or all anew."""
    parts, _ = work.unprocessed("matrix", Trees)
    if any(work.unprocessed("matrix", kind)[1] for kind in (Trees, Files, Messages, Fields)):
        parts = work.parts(Trees)
        work.clear(Offers, Matrix)
    if parts:
        work.append(Offers, _offers(work, work.table(Trees, parts=parts)))
    _put_agreements(work, across=context.across)


def _offers(work: Work, trees: DataFrame) -> DataFrame:
    """The offers of contents, computed once for those with the same requests and responses."""
    halves = work.stage(
        work.sql(
            HALVES_SQL,
            trees=trees,
            files=work.table(Files),
            messages=work.table(Messages),
            fields=work.table(Fields, "blob", "path", "lowest"),
        ).selectExpr("root", "halves", "sha2(to_json(halves), 256) AS digest")
    )
    distinct = halves.dropDuplicates(["digest"]).select("digest", "halves")
    offers = work.spread(distinct, work.parallelism * A_HANDFUL).mapInArrow(offers_in_arrow, ddl(OFFERS_BY_DIGEST))
    return halves.select("root", "digest").join(offers, "digest").select(*Offers.COLUMNS)


def _put_agreements(work: Work, *, across: bool) -> None:
    """Add what new pairs of releases agree on, computed once for those with the same offers."""
    pairs = work.stage(
        work.sql(
            PAIRS_SQL.replace("$across", "true" if across else "c.source = b.source"),
            revisions=work.table(Revisions, "source", "release", "root"),
            trees=work.table(Trees, "root"),
            matrix=work.table(Matrix, "client_root", "broker_root"),
        )
    )
    if pairs.isEmpty():
        work.append_none(Matrix)
        return
    sides = work.stage(work.sql(SIDES_SQL, pairs=pairs, offers=work.table(Offers)))
    brokers = work.sql(MET_SQL, pairs=pairs, sides=sides)
    clients = sides.selectExpr("digest AS client", "offers AS client_offers").dropDuplicates(["client"])
    by_client = [work.spread(df, work.parallelism * A_HANDFUL, "client").groupBy("client") for df in (clients, brokers)]
    agreements = by_client[0].cogroup(by_client[1]).applyInArrow(agree_in_arrow, ddl(AGREEMENTS))
    work.append(Matrix, work.sql(AGREED_SQL, pairs=pairs, sides=sides, agreed=agreements))


def offers_in_arrow(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Turn batches of (digest, halves) into rows of `OFFERS_BY_DIGEST`."""
    for rows in batches:
        for row in rows.to_pylist():
            yield batch(OFFERS_BY_DIGEST, ((row["digest"], *offer) for offer in _make_offers(row["halves"])))


def _make_offers(halves: Iterable[Mapping[str, Any]]) -> Iterator[tuple[Any, ...]]:
    """What a set with these requests and responses offers, as rows of `OFFER_COLUMNS`."""
    software = {half["api_key"] for half in halves if half["software"]}
    schemas = SchemaSet(tuple(_message(half) for half in halves))
    client, broker = client_side("", schemas), broker_side("", schemas)
    halves_by_key = {(half["type"], half["message_name"], half["api_key"]): half for half in halves}
    for key, offer in sorted(client.rpcs.items()):
        request, response = (halves_by_key[half.type, half.name, key] for half in (offer.request, offer.response))
        lowest = (offer.versions | offer.reserved_versions).lowest
        versions = broker.rpcs[key].versions
        yield (
            *(key, offer.name, lowest, offer.versions.highest if offer.versions else lowest - 1),
            *(versions.highest if versions else None, request["headers"], response["headers"], request["deprecated"]),
            *(key == API_VERSIONS and key in software, broker.mode if modes_of(schemas) else None),
        )


def agree_in_arrow(clients: pa.Table, brokers: pa.Table) -> pa.Table:
    """Turn the offers of a client, and those of the brokers that it meets, into rows of `AGREEMENTS`."""
    rows: list[tuple[Any, ...]] = []
    for digest, offers in rows_of(clients):
        ours = {offer["api_key"]: offer for offer in offers}
        client = _side(offers, "highest")
        for _, broker_digest, others in rows_of(brokers):
            theirs = {offer["api_key"]: offer for offer in others}
            rows += (
                tuple(cell.get(name) for name in AGREEMENTS)
                for cell in _cells(client, ours, _side(others, "offered"), theirs)
                for cell in [{**cell, "client": digest, "broker": broker_digest}]
            )
    return table(AGREEMENTS, rows)


def _cells(
    client: Side, ours: Mapping[int, Any], broker: Side, theirs: Mapping[int, Any]
) -> Iterator[Mapping[str, Any]]:
    connection = exchange(client, broker)
    for key in sorted({*client.offers, *broker.offers}):
        agreement = agree(key, client, broker, connection)
        mine, other = ours.get(key, {}), theirs.get(key, {})
        broker_highest = other.get("offered")
        offers = client.offers.get(key), broker.offers.get(key)
        common = offers[0].versions & offers[1].versions if offers[0] and offers[1] else NONE
        yield {
            "api_key": key,
            "name": mine.get("name") or other["name"],
            "lowest": common.lowest if common else None,
            "highest": common.highest if common else None,
            "chosen": agreement.chosen,
            "request_header": agreement.request_header,
            "response_header": agreement.response_header,
            "instance_id": (agreement.request_header or 0) >= WITH_INSTANCE_ID,
            "deprecated": agreement.deprecated,
            "status": agreement.status,
            "broker_name": other.get("name"),
            "client_lowest": mine.get("lowest"),
            "client_highest": mine.get("highest"),
            "broker_lowest": None if broker_highest is None else other["lowest"],
            "broker_highest": broker_highest,
            "mode": other.get("mode"),
            "reason": _reason(agreement, offers, mine.get("name"), other.get("name")),
        }


def _reason(
    agreement: Agreement, offers: tuple[Offer | None, Offer | None], client_name: str | None, broker_name: str | None
) -> str | None:
    """Why client and broker do not agree on an RPC; null where they do."""
    ours, theirs = offers
    if agreement.status == "no-common-version" and ours and theirs:
        return f"client {ours.versions}, broker {theirs.versions}"
    if agreement.status == "header-differs" and theirs and agreement.chosen is not None:
        headers = theirs.headers(agreement.chosen)
        mine = f"{agreement.request_header}/{agreement.response_header}"
        return f"the client's headers are {mine}, the broker's {'/'.join(map(str, headers))}"
    if agreement.status in REASONS:
        return REASONS[agreement.status]
    if client_name and broker_name and client_name != broker_name:
        return f"the broker's of this key is {broker_name}"
    return None


REASONS = {
    "refused": f"the first request had header {WITH_INSTANCE_ID}, and this one has not",
    "not-offered": "the broker has it for other listeners, or unstable",
    "client-only": "the broker has no such RPC",
    "broker-only": "the client has no such RPC",
}


def _side(offers: Iterable[Mapping[str, Any]], highest: str) -> Side:
    """Make a client (with versions up to `highest`) or a broker (up to `offered`) out of rows of `OFFER_COLUMNS`."""
    rpcs = {}
    for offer in offers:
        valid = {"lowest": offer["lowest"], "highest": max(offer["highest"], offer["offered"] or 0)}
        request, response = (
            _message(
                {
                    "message_name": f"{offer['name']}{kind.capitalize()}",
                    "type": kind,
                    "valid": _range(valid),
                    "api_key": offer["api_key"],
                    "headers": offer[f"{kind}_headers"],
                    "listeners": None,
                    "deprecated": offer["deprecated"],
                    "unstable": False,
                    "software": offer["names_software"],
                }
            )
            for kind in RPC
        )
        up_to = offer[highest]
        versions = NONE if up_to is None or up_to < offer["lowest"] else VersionRange.of(offer["lowest"], up_to)
        rpcs[offer["api_key"]] = Offer(offer["name"], request, response, versions)
    return Side("", SchemaSet(()), rpcs)


def _message(half: Mapping[str, Any]) -> Message:
    """A request or response without its fields, but for the one by which a side names its software."""
    software = FieldSpec(name=SOFTWARE[0], type="string", versions=half["valid"])
    spec = MessageSpec(
        name=half["message_name"],
        type=half["type"],
        valid_versions=half["valid"],
        api_key=half["api_key"],
        listeners=UNSET if half["listeners"] is None else half["listeners"],
        deprecated_versions=_range(half["deprecated"][0]) if half["deprecated"] else UNSET,
        header_versions={_range(entry): str(entry["header"]) for entry in half["headers"] if entry["header"] >= 0},
        latest_version_unstable=half["unstable"],
        fields=[software] if half["software"] else [],
    )
    return Message(spec, half.get("name", ""))


def _range(ends: Mapping[str, int]) -> str:
    return str(VersionRange.of(ends["lowest"], ends["highest"]))
