"""Every release as a client of every release as a broker: what they make of each RPC (KIP-35, KIP-511, KIP-1313).

The columns say what `compat.negotiation` says of two sets; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from kiplint.compat.negotiation.exchange import SOFTWARE
from kiplint.compat.negotiation.sides import API_VERSIONS, SASL_HANDSHAKE, WITH_INSTANCE_ID
from kiplint.compat.roles import OF_CLIENTS, OF_KRAFT, OF_ZOOKEEPER, UPDATE_METADATA
from kiplint.pipeline.functions import Window, f
from kiplint.pipeline.lake.schema import Columns, TableFrame, array
from kiplint.pipeline.tables.messages import HEADERS, RANGES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


RPC = ("request", "response")


class Offers(TableFrame):
    """One row for each content and RPC; a client uses `lowest` to `highest`, a broker offers up to `offered`.

    `offered` is null where a broker has the RPC but offers none of it: other listeners serve it, or its only version
    is unstable. `names_software` says that the request has ClientSoftwareName (KIP-511); `mode` is how a broker of
    that content runs: kraft where it can, else zookeeper, null where its messages do not tell.
    """

    NAME = "offers"
    ABOUT = "The versions of each RPC that a content has as a client, and offers as a broker."
    COLUMNS: ClassVar[Columns] = {
        "root": "string",
        "api_key": "int",
        "name": "string",
        "lowest": "int",
        "highest": "int",
        "offered": "int",
        "request_headers": array(HEADERS),
        "response_headers": array(HEADERS),
        "deprecated": array(RANGES),
        "names_software": "boolean",
        "mode": "string",
    }


def offers_of(trees: DataFrame, files: DataFrame, messages: DataFrame, fields: DataFrame) -> DataFrame:
    """The offers of each content, out of its set with the most RPCs."""
    of_trees = files.join(messages, "blob")
    main = _main_trees(trees, of_trees)
    halves = main.join(of_trees, "tree").where(f.col("type").isin(*RPC) & f.col("api_key").isNotNull())
    first = halves.groupBy("root", "type", "api_key").agg(f.min_by(f.struct(*halves.columns), "name").alias("half"))
    rpcs = first.groupBy("root", "api_key").pivot("type", list(RPC)).agg(f.first("half"))
    pairs = rpcs.where("request is not null and response is not null").join(_listening(main, of_trees), "root")
    lowest, highest = f.greatest("request.lowest", "response.lowest"), f.least("request.highest", "response.highest")
    common = pairs.withColumns({"lowest": lowest, "highest": highest}).where(
        "request.lowest is not null and response.lowest is not null and lowest <= highest"
    )
    software = fields.where((f.col("path") == SOFTWARE[0]) & f.col("lowest").isNotNull()).select("blob").distinct()
    named = common.join(
        software.select(f.col("blob").alias("software")), f.col("request.blob") == f.col("software"), "left"
    )
    return named.select(
        "root",
        "api_key",
        f.regexp_replace("request.message_name", "Request$", "").alias("name"),
        "lowest",
        _for_clients().alias("highest"),
        _offered().alias("offered"),
        f.col("request.headers").alias("request_headers"),
        f.col("response.headers").alias("response_headers"),
        f.col("request.deprecated").alias("deprecated"),
        ((f.col("api_key") == API_VERSIONS) & f.col("software").isNotNull()).alias("names_software"),
        _mode().alias("mode"),
    )


def _mode() -> Column:
    """How a broker runs: see `compat.roles.modes_of`; of two modes KRaft."""
    in_kraft = f.col("has_kraft") | ~(f.col("declares_listeners") | f.col("has_zookeeper"))
    return f.when(in_kraft, "kraft").when(f.col("has_zookeeper"), "zookeeper")


def _offered() -> Column:
    """The highest version that a broker offers: neither unstable, nor for other listeners only."""
    unstable = f.col("request.unstable") & (f.col("highest") == f.col("request.highest"))
    stable = f.when(unstable, f.col("highest") - 1).otherwise(f.col("highest"))
    return f.when(_served() & (stable >= f.col("lowest")), stable)


def _served() -> Column:
    """Whether a broker serves the RPC, in KRaft mode where its release has that: see `compat.roles.is_served`."""
    listener = f.when(f.col("has_kraft"), f.lit("broker")).otherwise(f.lit("zkBroker"))
    listens = f.array_contains(f.coalesce("request.listeners", f.array()), listener)
    in_kraft = listens & ~(f.col("has_kraft") & f.col("api_key").isin(*OF_ZOOKEEPER))
    not_enabled = f.col("has_zookeeper") & _is_one_of(OF_KRAFT)
    return f.when(f.col("declares_listeners"), in_kraft).otherwise(~not_enabled)


def _for_clients() -> Column:
    """The highest version, without those that brokers keep for themselves."""
    highest = f.col("highest")
    for key, (name, versions) in OF_CLIENTS.items():
        free = f.least(f.col("highest"), f.lit(versions.highest))
        highest = f.when(_is_one_of({key: name}), free).otherwise(highest)
    return highest


def _is_one_of(names: Mapping[int, str]) -> Column:
    pairs = [f"{key} {name}Request" for key, name in names.items()]
    return f.concat_ws(" ", f.col("api_key").cast("string"), f.col("request.message_name")).isin(pairs)


def _main_trees(trees: DataFrame, of_trees: DataFrame) -> DataFrame:
    """The set of each content that has the most RPCs, of several the first: root, tree."""
    rpcs = of_trees.where(f.col("type").isin(*RPC)).groupBy("tree").agg(f.countDistinct("api_key").alias("rpcs"))
    order = Window.partitionBy("root").orderBy(f.desc("rpcs"), f.split("directory", "/"))
    counted = trees.join(rpcs, "tree").withColumn("rank", f.row_number().over(order))
    return counted.where("rank = 1").select("root", "tree")


def _listening(main: DataFrame, of_trees: DataFrame) -> DataFrame:
    """Whether any message of a content says its listeners, as Kafka's do since 2.8, and the modes it has."""
    live = (f.col("type") == "request") & f.col("lowest").isNotNull()
    nodes = f.arrays_overlap(f.coalesce("listeners", f.array()), f.array(f.lit("broker"), f.lit("controller")))
    columns = {
        "declares_listeners": f.col("listeners").isNotNull(),
        "has_kraft": f.coalesce(live & nodes & ~f.col("api_key").isin(*OF_ZOOKEEPER), f.lit(False)),
        "has_zookeeper": f.coalesce(live & (f.col("api_key") == UPDATE_METADATA), f.lit(False)),
    }
    highest = (f.max(column).alias(name) for name, column in columns.items())
    return main.join(of_trees, "tree").groupBy("root").agg(*highest)


class Matrix(TableFrame):
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
    pairs = clients.crossJoin(brokers).where(inside & (f.col("client_fresh") | f.col("broker_fresh")))
    return pairs.join(agreements(pairs.select(*PAIR).distinct(), offers), list(PAIR)).select(*Matrix.COLUMNS)


def agreements(pairs: DataFrame, offers: DataFrame) -> DataFrame:
    """What client and broker make of each RPC, for pairs of contents."""
    ours, theirs = _side(offers, "client", "ours"), _side(offers, "broker", "theirs")
    begun = _exchanges(pairs, ours, theirs)
    left = begun.join(ours, "client_root").join(theirs, [*PAIR[1:], "api_key"], "left")
    right = begun.join(theirs, "broker_root").join(ours, [*PAIR[:1], "api_key"], "left")
    columns = [*PAIR, "api_key", "used", "checked", "ours", "theirs"]
    alone = right.where("ours is null and theirs.offered is not null")
    return _agreements(left.select(*columns).unionByName(alone.select(*columns)))


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


def _agreements(rows: DataFrame) -> DataFrame:
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
    reasons: dict[str, Column] = {
        "no-common-version": _text("client ", client, ", broker ", broker),
        "header-differs": _text("the client's headers are ", ours, ", the broker's ", theirs),
        "refused": _text("the first request had header 3, and this one has not"),
        "not-offered": _text("the broker has it for other listeners, or unstable"),
        "client-only": _text("the broker has no such RPC"),
        "broker-only": _text("the client has no such RPC"),
    }
    reason = f.when(two_names, _text("the broker's of this key is ", f.col("broker_name")))
    return f.coalesce(*(f.when(f.col("status") == status, text) for status, text in reasons.items()), reason)


def _text(*parts: str | Column) -> Column:
    return f.concat_ws("", *(f.lit(part) if isinstance(part, str) else part for part in parts))


def _range(lowest: str, highest: str) -> Column:
    low, high = f.col(lowest).cast("string"), f.col(highest).cast("string")
    return f.when(f.col(lowest) == f.col(highest), low).otherwise(f.concat_ws("-", low, high))


def _deprecated(side: str) -> Column:
    is_deprecated = f.exists(f"{side}.deprecated", lambda versions: _covers(versions, "chosen"))
    return f.coalesce(is_deprecated, f.lit(False))


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
    covering = f.filter(headers, lambda versions: _covers(versions, version))
    return f.when(f.col(version).isNotNull(), f.try_element_at(covering, f.lit(1))["header"])


def _covers(versions: Column, version: str) -> Column:
    return (versions["lowest"] <= f.col(version)) & (versions["highest"] >= f.col(version))
