"""From lines of history to revisions, schema sets, files and their contents. What a lake has is not read again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, cast

from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from kiplint.pipeline.history import AT_ONCE, HISTORY, Line, read_blobs, read_histories
from kiplint.pipeline.rows import map_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kiplint.pipeline.lake import Lake

WALKED: Final = {"blobs", "files", "sets", "revisions"}
"""The tables of what git has, in the order of their commits: what is known of a revision is in all of them."""
LINE: Final = "source STRING, lineage STRING"


def ingest(lake: Lake, lines: Sequence[Line]) -> tuple[int, dict[tuple[str, str], str]]:
    """Bring the tables of revisions and contents up to lines; the number of new rows, and why lines cannot be read."""
    history = list_histories(lake, lines).persist()
    failures = history.where("position IS NULL").select("source", "lineage", "problem").collect()
    problems = {(row["source"], row["lineage"]): row["problem"] for row in failures}
    sets = history.where("sets IS NOT NULL").select("location", "root", F.inline("sets"))
    files = sets.where("files IS NOT NULL").select("location", "tree", F.inline("files"))
    count = lake.add("blobs", new_blobs(lake, files))
    count += lake.add("files", new_files(lake, files))
    with_definitions = sets.join(lake.read("files").select("tree").distinct(), "tree", "left_semi")
    new_sets = lake.missing(with_definitions.select("root", "directory", "tree").distinct(), "sets", "root")
    count += lake.add("sets", new_sets)
    if keys := sorted({line.key for line in lines} - problems.keys()):
        count += lake.replace("revisions", new_revisions(lake, history, keys), {source for source, _ in keys})
    history.unpersist()
    return count, problems


def list_histories(lake: Lake, lines: Sequence[Line]) -> DataFrame:
    """The revisions of lines as rows of `HISTORY`; each line is a task."""
    rows = lake.spark.createDataFrame([line[:3] for line in lines], f"{LINE}, location STRING")
    known_roots = lake.read("revisions", {line.source for line in lines})
    if not lake.tables.keys() >= WALKED:  # somebody has deleted one, and all revisions are needed to make it again
        known_roots = known_roots.limit(0)
    known_roots = known_roots.groupBy("source", "lineage").agg(
        F.collect_set(F.struct("git_tree", "root")).alias("known_roots")
    )
    rows = rows.join(known_roots, ["source", "lineage"], "left").repartition(len(lines), "source", "lineage")
    return map_rows(rows, read_histories, cast(StructType, StructType.fromDDL(HISTORY)), 64)


def new_blobs(lake: Lake, files: DataFrame) -> DataFrame:
    """The contents that the lake lacks, each read from one of the repositories that have it."""
    repositories = files.groupBy("blob").agg(F.min("location").alias("location"))
    missing = lake.missing(repositories, "blobs", "blob").repartition("location")
    return map_rows(missing.sortWithinPartitions("location"), read_blobs, lake.schemas["blobs"], AT_ONCE)


def new_files(lake: Lake, files: DataFrame) -> DataFrame:
    """The definitions of the sets that the lake lacks: beside a definition, also what is meant to be one."""
    kinds = lake.read("blobs").select("blob", "kind")
    rows = lake.missing(files.select("tree", "name", "blob").distinct(), "files", "tree").join(kinds, "blob")
    beside = rows.where("kind = 'definition'").select("tree").distinct()
    is_meant = F.col("kind").isin("definition", "malformed", "broken")
    return rows.where(is_meant).join(beside, "tree", "left_semi")


def new_revisions(lake: Lake, history: DataFrame, keys: Sequence[tuple[str, str]]) -> DataFrame:
    """The revisions of changed lines, and those of the other lines of their sources."""
    rows = history.where("position IS NOT NULL").select(*lake.schemas["revisions"].names)
    lines = lake.spark.createDataFrame(list(keys), LINE)
    others = lake.read("revisions", {source for source, _ in keys})
    return rows.union(others.join(lines, ["source", "lineage"], "left_anti").select(*rows.columns))
