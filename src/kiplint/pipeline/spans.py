"""The stage `spans`: when each finding and change was introduced and ended on a line of history, and its releases."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import Final, cast

import networkx as nx
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType, StructField, StructType

from kiplint.pipeline.attribution import attribute
from kiplint.pipeline.changes import with_old_root
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.rows import Row, map_cogroups, map_groups

LINE: Final = ["source", "lineage"]
RPC_TYPES: Final = ("request", "response")
PATH: Final = "concat_ws('/', nullif(directory, ''), name)"


def spans(lake: Lake, sources: Collection[str]) -> DataFrame:
    """All rows of the table `spans` of some sources, and one with a `problem` for each whose releases git cannot read.

    Reads `revisions`, `sets`, `files`, `messages`, `findings` and `changes`. Time is counted in steps, which are the
    revisions whose content is not that of the one before, numbered along their line from 1.
    """
    revisions = with_old_root(lake.read("revisions", sources), lake.read("sets"))
    step = F.row_number().over(Window.partitionBy(*LINE).orderBy("position"))
    steps = lake.persist(revisions.where("NOT old_root <=> root").withColumn("step", step))
    changes = steps.join(lake.read("changes").where("rule IS NOT NULL"), ["old_root", "root"])
    names = last_names(changes)
    findings = with_endings(lake, finding_spans(lake, steps, names), steps, changes)
    rows = findings.unionByName(change_spans(changes, names), allowMissingColumns=True)
    history = revisions.select(*LINE, "position", "commit", "time", "release")
    locations = {line.key: line.location for line in lake.lines}
    schema = StructType([StructField(field.name, field.dataType) for field in lake.schemas["spans"]])
    schema = schema.add("problem", StringType())
    return map_cogroups(rows, history, partial(attribute, locations), schema, "source")


def span_key(type_column: str, *columns: str) -> Column:
    """An id that a finding or change has wherever its file lies, and whatever its message is called.

    It is a digest of the rule, the message and some columns. An RPC counts by its API key, any other message by the
    last of its names.
    """
    is_rpc = F.col(type_column).isin(*RPC_TYPES) & F.col("api_key").isNotNull()
    name = F.coalesce("last_name", "message_name")
    message = F.when(is_rpc, F.concat_ws(" ", type_column, "api_key")).otherwise(name)
    return F.substring(F.sha2(F.concat_ws("\0", "rule", message, *columns), 256), 1, 32)


def last_names(changes: DataFrame) -> DataFrame:
    """The last name of each message that was renamed: `source`, `message_name` and `last_name`. RPCs are ignored."""
    old_name = F.get_json_object("old", "$.name").alias("old_name")
    renames = (
        changes.where("kind = 'message-renamed'")
        .where(~F.col("message_type").isin(*RPC_TYPES))
        .select("source", "time", "position", old_name, F.col("message_name").alias("new_name"))
    )
    schema = cast(StructType, StructType.fromDDL("source STRING, message_name STRING, last_name STRING"))
    return F.broadcast(map_groups(renames, follow_renames, schema, "source"))


def follow_renames(renames: Sequence[Row]) -> Iterator[Row]:
    """The rows of `last_names` of one source: of `A` renamed to `B` renamed to `C`, each has the last name `C`."""
    in_order = sorted(renames, key=itemgetter("time", "position"))
    graph = nx.Graph([(rename["old_name"], rename["new_name"]) for rename in in_order])
    for names in nx.connected_components(graph):
        new_names = [rename["new_name"] for rename in in_order if rename["new_name"] in names]
        for name in names:
            yield {"source": in_order[0]["source"], "message_name": name, "last_name": new_names[-1]}


def finding_spans(lake: Lake, steps: DataFrame, names: DataFrame) -> DataFrame:
    """The spans of findings: from `first_step`, the first with the finding, to `step_after`, the first without it.

    The other columns are those of the finding in the last step of the span.
    """
    findings = lake.read("findings").where("rule IS NOT NULL")  # a row without a rule says that nothing was found
    # What a file has by itself has no tree: it is in each tree with this file.
    file_findings = findings.where("tree IS NULL").drop("tree").join(lake.read("files"), ["name", "blob"])
    messages = lake.read("messages").select("blob", "type", "api_key")
    all_findings = file_findings.unionByName(findings.where("tree IS NOT NULL")).join(messages, "blob", "left")
    hint = F.when(F.col("instead") == "", "").otherwise(F.concat(F.lit("; write "), "instead"))
    message = F.concat("message", hint).alias("message")
    details = F.struct(F.expr(PATH).alias("path"), "rule", "severity", "message_name", message, "blob")
    step_findings = (
        steps.join(lake.read("sets"), "root")
        .join(all_findings, "tree")
        .join(names, ["source", "message_name"], "left")
        .select(*LINE, "step", span_key("type", "place").alias("key"), details.alias("details"))
    )
    # Gaps and islands: along steps without a gap, the step and its rank among those of the key grow alike.
    rank = F.dense_rank().over(Window.partitionBy(*LINE, "key").orderBy("step"))
    islands = step_findings.withColumn("island", F.col("step") - rank).groupBy(*LINE, "key", "island")
    # Several findings of a step can have one key: the order of the details decides, so that all runs show the same.
    newest_first = F.struct(-F.col("step"), "details")
    rows = islands.agg(
        F.min("step").alias("first_step"),
        (F.max("step") + 1).alias("step_after"),
        F.min_by("details", newest_first).alias("details"),
    )
    what, field = F.lit("finding").alias("what"), F.lit("").alias("field")
    return rows.select(*LINE, what, "key", "first_step", "step_after", field, "details.*")


def change_spans(changes: DataFrame, names: DataFrame) -> DataFrame:
    """The spans of changes: each is introduced by the step that makes it, and has no end."""
    return changes.join(names, ["source", "message_name"], "left").select(
        *LINE,
        F.lit("change").alias("what"),
        span_key("message_type", "kind", "versions", "field").alias("key"),
        *("rule", "severity", "breaks", "message_name", "field", "path", "message"),
        *revision_columns("introduced"),
    )


def revision_columns(prefix: str) -> list[Column]:
    """The columns of the revision of a step, as `introduced_position` and so on for the prefix `introduced`."""
    return [F.col(name).alias(f"{prefix}_{name}") for name in ("position", "commit", "time", "release")]


def with_endings(lake: Lake, spans: DataFrame, steps: DataFrame, changes: DataFrame) -> DataFrame:
    """The spans of findings with the revisions that introduced and fixed them, and how they `ended`.

    The first revision without a finding decides whether it was fixed, suppressed, or removed with its message or
    version: it may still have a file with the same path or message, the ignore comments in that file may name the rule,
    and it may drop versions. A finding that the newest revision has is not fixed there, and has not ended.
    """
    first_steps = steps.select(*LINE, F.col("step").alias("first_step"), *revision_columns("introduced"))
    steps_after = steps.select(*LINE, F.col("step").alias("step_after"), "root", *revision_columns("fixed"))
    messages = lake.read("messages").select("blob", F.col("message_name").alias("new_message_name"), "ignores")
    new_files = (
        lake.read("sets")
        .join(lake.read("files"), "tree")
        .join(messages, "blob", "left")
        .select(F.col("root").alias("new_root"), F.expr(PATH).alias("new_path"), "new_message_name", "ignores")
    )
    old_ignores = messages.select("blob", F.col("ignores").alias("old_ignores"))
    dropped_versions = (
        changes.where("rule = 'compat/version-dropped'")
        .select(*LINE, F.col("step").alias("step_after"), "message_name", F.lit(True).alias("is_dropped"))
        .distinct()
    )
    is_same_file = "path = new_path OR (message_name = new_message_name AND message_name <> '')"
    rows = (
        spans.join(first_steps, [*LINE, "first_step"])
        .join(steps_after, [*LINE, "step_after"], "left")
        .join(new_files, F.expr(f"root = new_root AND ({is_same_file})"), "left")
        .join(old_ignores, "blob", "left")  # of the file that had the finding
        .join(dropped_versions, [*LINE, "step_after", "message_name"], "left")
    )
    is_suppressed = "array_contains(ignores, rule) AND NOT array_contains(coalesce(old_ignores, array()), rule)"
    ended = (
        F.when(F.max("fixed_position").isNull(), None)
        .when(F.max("new_path").isNull(), "message removed")
        .when(F.bool_or("is_dropped"), "version removed")
        .when(F.bool_or(F.expr(is_suppressed)), "suppressed")
        .otherwise("fixed")
    )
    names = [name for name in rows.columns if name not in {*LINE, "key", "first_step", *new_files.columns}]
    columns = F.any_value(F.struct(*names)).alias("columns")
    groups = rows.groupBy(*LINE, "key", "first_step").agg(ended.alias("ended"), columns)
    return groups.select(*LINE, "key", "ended", "columns.*")
