"""What each release can use of an RPC as a client, and what it offers as a broker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from kiplint.compat.negotiation.exchange import SOFTWARE
from kiplint.compat.negotiation.sides import API_VERSIONS
from kiplint.compat.roles import OF_CLIENTS, OF_KRAFT, OF_ZOOKEEPER, UPDATE_METADATA
from kiplint.pipeline.columns import Columns, array
from kiplint.pipeline.frame import Frame
from kiplint.pipeline.late import Window, f
from kiplint.pipeline.tables.messages import HEADERS, RANGES

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

RPC = ("request", "response")


class Offers(Frame):
    """One row for each content and RPC; a client uses `lowest` to `highest`, a broker offers up to `offered`.

    `offered` is null where a broker has the RPC but offers none of it: other listeners serve it, or its only version
    is unstable. `names_software` says that the request has ClientSoftwareName (KIP-511).
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
    }


def offers_of(trees: DataFrame, files: DataFrame, messages: DataFrame, fields: DataFrame) -> DataFrame:
    """The offers of each content, out of its set with the most RPCs."""
    of_trees = files.join(messages, "blob")
    main = _main_trees(trees, of_trees)
    halves = main.join(of_trees, "tree").where(f.col("type").isin(*RPC) & f.col("api_key").isNotNull())
    first = halves.groupBy("root", "type", "api_key").agg(f.min_by(f.struct(*halves.columns), "name").alias("one"))
    rpcs = first.groupBy("root", "api_key").pivot("type", list(RPC)).agg(f.first("one"))
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
    )


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
    said = (f.max(column).alias(name) for name, column in columns.items())
    return main.join(of_trees, "tree").groupBy("root").agg(*said)
