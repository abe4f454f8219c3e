"""Every release as a client of every release as a broker: what they make of each RPC (KIP-35, KIP-511, KIP-1313).

The columns say what `compat.negotiation` says of two sets; a test compares them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kiplint.compat.negotiation.sides import API_VERSIONS, SASL_HANDSHAKE, WITH_INSTANCE_ID
from kiplint.pipeline.columns import Columns
from kiplint.pipeline.frame import Frame
from kiplint.pipeline.late import f
from kiplint.pipeline.tables.offers import Offers

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


class Matrix(Frame):
    """`lowest` to `highest` are the versions in common, `chosen` is the one used, `status` as in `negotiate`.

    `name` is the client's, `broker_name` the broker's: two messages may claim one API key. `mode` is that of the
    broker, kraft or zookeeper; `reason` says in words why they do not agree.
    """

    NAME = "matrix"
    ABOUT = "For each pair of releases, client and broker, and each RPC: what they agree on."
    COLUMNS: ClassVar[Columns] = {
        "client_source": "string",
        "client": "string",
        "broker_source": "string",
        "broker": "string",
        "api_key": "int",
        "name": "string",
        "lowest": "int",
        "highest": "int",
        "chosen": "int",
        "request_header": "int",
        "response_header": "int",
        "instance_id": "boolean",
        "deprecated": "boolean",
        "status": "string",
        "broker_name": "string",
        "client_lowest": "int",
        "client_highest": "int",
        "broker_lowest": "int",
        "broker_highest": "int",
        "mode": "string",
        "reason": "string",
    }


PAIR = ("client_root", "broker_root")


RELEASES: Columns = {"source": "string", "release": "string", "root": "string", "fresh": "boolean"}


def matrix_of(releases: DataFrame, offers: DataFrame, *, across: bool) -> DataFrame:
    """The matrix of releases (`RELEASES`) with those that are fresh; pairs with the same contents are worked out once.

    A source's releases are held against each other, `across` sources too if that is asked for.
    """
    clients, brokers = (
        releases.select(
            f.col("source").alias(f"{side}_source"),
            f.col("release").alias(side),
            f.col("root").alias(f"{side}_root"),
            f.col("fresh").alias(f"{side}_fresh"),
        )
        for side in ("client", "broker")
    )
    inside = f.lit(True) if across else f.col("client_source") == f.col("broker_source")
    asked = clients.crossJoin(brokers).where(inside & (f.col("client_fresh") | f.col("broker_fresh")))
    return asked.join(agreements(asked.select(*PAIR).distinct(), offers), list(PAIR)).select(*Matrix.COLUMNS)


def agreements(pairs: DataFrame, offers: DataFrame) -> DataFrame:
    """What client and broker make of each RPC, for pairs of contents."""
    ours, theirs = _side(offers, "client", "ours"), _side(offers, "broker", "theirs")
    begun = _exchanges(pairs, ours, theirs)
    left = begun.join(ours, "client_root").join(theirs, [*PAIR[1:], "api_key"], "left")
    right = begun.join(theirs, "broker_root").join(ours, [*PAIR[:1], "api_key"], "left")
    columns = [*PAIR, "api_key", "used", "checked", "ours", "theirs"]
    alone = right.where("ours is null and theirs.offered is not null")
    return _told(left.select(*columns).unionByName(alone.select(*columns)))


def _side(offers: DataFrame, side: str, name: str) -> DataFrame:
    return offers.select(f.col("root").alias(f"{side}_root"), "api_key", f.struct(*Offers.COLUMNS).alias(name))


def _exchanges(pairs: DataFrame, ours: DataFrame, theirs: DataFrame) -> DataFrame:
    """The ApiVersions exchange of each pair: the version `used`, and whether later headers are `checked`.

    A version that the broker has not is answered in version 0; both sides must know KIP-511 to do better than that.
    """
    first = f.col("api_key") == API_VERSIONS
    sides = pairs.join(ours.where(first).drop("api_key"), "client_root", "left")
    sides = sides.join(theirs.where(first).drop("api_key"), "broker_root", "left")
    tried, lowest = f.col("ours.highest"), f.greatest("ours.lowest", "theirs.lowest")
    highest = f.least("ours.highest", "theirs.offered")
    known = (tried >= f.col("theirs.lowest")) & (tried <= f.col("theirs.offered"))
    second = f.when(
        f.col("ours.names_software") & f.col("theirs.names_software"), f.when(lowest <= highest, highest)
    ).otherwise(f.when(lowest == 0, f.lit(0)))
    used = f.when(known, tried).when(f.col("theirs.offered").isNotNull(), second)
    return sides.withColumn("used", used).select(
        *PAIR,
        "used",
        f.coalesce(_header("theirs.request_headers", "used") >= WITH_INSTANCE_ID, f.lit(False)).alias("checked"),
    )


def _told(rows: DataFrame) -> DataFrame:
    offered = f.col("theirs.offered").isNotNull() & f.col("ours").isNotNull()
    lowest, highest = f.greatest("ours.lowest", "theirs.lowest"), f.least("ours.highest", "theirs.offered")
    shared = offered & (lowest <= highest)
    chosen = f.when(f.col("api_key") == API_VERSIONS, f.col("used")).otherwise(highest)
    picked = rows.withColumns(
        {
            "lowest": f.when(shared, lowest),
            "highest": f.when(shared, highest),
            "chosen": f.when(shared, chosen),
            "name": f.coalesce("ours.name", "theirs.name"),
            "broker_name": f.col("theirs.name"),
            "client_lowest": f.col("ours.lowest"),
            "client_highest": f.col("ours.highest"),
            "broker_lowest": f.when(f.col("theirs.offered").isNotNull(), f.col("theirs.lowest")),
            "broker_highest": f.col("theirs.offered"),
            "mode": f.col("theirs.mode"),
        }
    )
    headers = {
        "request_header": _header("ours.request_headers", "chosen"),
        "response_header": _header("ours.response_headers", "chosen"),
        "their_request": _header("theirs.request_headers", "chosen"),
        "their_response": _header("theirs.response_headers", "chosen"),
    }
    return (
        picked.withColumns(headers)
        .withColumns(
            {
                "instance_id": f.coalesce(f.col("request_header") >= WITH_INSTANCE_ID, f.lit(False)),
                "deprecated": _deprecated("ours") | _deprecated("theirs"),
                "status": _status(),
            }
        )
        .withColumn("reason", _reason())
    )


def _reason() -> Column:
    """Why a status is no agreement, in words, and where an agreement is one on two different messages."""
    client, broker = _range("client_lowest", "client_highest"), _range("broker_lowest", "broker_highest")
    ours = f.concat_ws("/", "request_header", "response_header")
    theirs = f.concat_ws("/", "their_request", "their_response")
    two_names = f.col("ours.name") != f.col("broker_name")
    said: dict[str, Column] = {
        "no-common-version": _text("client ", client, ", broker ", broker),
        "header-differs": _text("the client's headers are ", ours, ", the broker's ", theirs),
        "refused": _text("the first request had header 3, and this one has not"),
        "not-offered": _text("the broker has it for other listeners, or unstable"),
        "client-only": _text("the broker has no such RPC"),
        "broker-only": _text("the client has no such RPC"),
    }
    reason = f.when(two_names, _text("the broker's of this key is ", f.col("broker_name")))
    return f.coalesce(*(f.when(f.col("status") == status, text) for status, text in said.items()), reason)


def _text(*parts: str | Column) -> Column:
    return f.concat_ws("", *(f.lit(part) if isinstance(part, str) else part for part in parts))


def _range(lowest: str, highest: str) -> Column:
    low, high = f.col(lowest).cast("string"), f.col(highest).cast("string")
    return f.when(f.col(lowest) == f.col(highest), low).otherwise(f.concat_ws("-", low, high))


def _deprecated(side: str) -> Column:
    found = f.exists(f"{side}.deprecated", lambda one: _covers(one, "chosen"))
    return f.coalesce(found, f.lit(False))


def _status() -> Column:
    """Of one RPC with one broker, as `negotiation_rows.agree` has it."""
    differs = (f.col("request_header") != f.col("their_request")) | (
        f.col("response_header") != f.col("their_response")
    )
    exempt = f.col("api_key").isin(API_VERSIONS, SASL_HANDSHAKE)
    refused = f.col("checked") & (f.col("request_header") < WITH_INSTANCE_ID) & ~exempt
    return (
        f.when(f.col("theirs").isNull(), "client-only")
        .when(f.col("ours").isNull(), "broker-only")
        .when(f.col("theirs.offered").isNull(), "not-offered")
        .when(f.col("chosen").isNull(), "no-common-version")
        .when(differs, "header-differs")
        .when(refused, "refused")
        .otherwise("agreed")
    )


def _header(headers: str, version: str) -> Column:
    """The header of a version, null without a version."""
    found = f.filter(headers, lambda one: _covers(one, version))
    return f.when(f.col(version).isNotNull(), f.try_element_at(found, f.lit(1))["header"])


def _covers(one: Column, version: str) -> Column:
    return (one["lowest"] <= f.col(version)) & (one["highest"] >= f.col(version))
