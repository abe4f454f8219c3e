"""The stage `revisions`: from lines of history to revisions, schema sets, files and their contents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, cast

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StructType

from kiplint.pipeline.history import HISTORY, Line, read_blobs, read_histories
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.rows import map_rows
from kiplint.text.words import plural

CONTENT_TABLES: Final = {"revisions", "sets", "files", "blobs"}
LINE: Final = ["source", "lineage"]
LINE_SCHEMA: Final = "source STRING, lineage STRING"


def ingest(lake: Lake, lines: Sequence[Line]) -> tuple[int, dict[tuple[str, str], str]]:
    """Bring `blobs`, `files`, `sets` and `revisions` up to date with some lines of history.

    Returns the number of new rows, and by source and lineage why a line cannot be read. The tables are committed in
    this order so that, even where a run was killed, a revision in the lake has all its contents there. Of a line with a
    content that was not read, no row is kept but contents.
    """
    history = lake.persist(list_histories(lake, lines))
    count = lake.add("blobs", new_blobs(lake, history, F.array(F.min("location"))))
    problems = find_problems(lake, history)
    if problems:
        count += lake.add("blobs", new_blobs(lake, history, F.collect_set("location")))
        problems = find_problems(lake, history)
    keys = sorted({line.key for line in lines} - problems.keys())
    if keys:
        history = history.join(F.broadcast(lake.spark.createDataFrame(keys, LINE_SCHEMA)), LINE, "left_semi")
        sets = history.where("sets IS NOT NULL").select("root", F.inline("sets"))
        count += lake.add("files", new_files(lake, sets.where("files IS NOT NULL").select("tree", F.inline("files"))))
        count += lake.add("sets", new_sets(lake, sets))
        count += lake.replace("revisions", new_revisions(lake, history, keys), {source for source, _ in keys})
    return count, problems


def list_histories(lake: Lake, lines: Sequence[Line]) -> DataFrame:
    """The revisions of lines as rows of `HISTORY`, read by a task for each line.

    A task reads no contents of the roots that the lake has, unless one of `CONTENT_TABLES` has been deleted.
    """
    line_rows = lake.spark.createDataFrame(
        [(line.source, line.lineage, line.location) for line in lines], f"{LINE_SCHEMA}, location STRING"
    )
    revisions = lake.read("revisions", {line.source for line in lines})
    has_all_contents = lake.tables.keys() >= CONTENT_TABLES
    if not has_all_contents:
        revisions = revisions.limit(0)
    lake_roots = F.collect_set(F.struct("git_tree", "root")).alias("lake_roots")
    roots_by_line = revisions.groupBy("source", "lineage").agg(lake_roots)
    tasks = line_rows.join(roots_by_line, ["source", "lineage"], "left").repartition(len(lines), "source", "lineage")
    return map_rows(tasks, read_histories, cast(StructType, StructType.fromDDL(HISTORY)))


def files_of(history: DataFrame) -> DataFrame:
    """The files of the trees that a history lists: its line and location, and `name` and `blob`."""
    line = [*LINE, "location"]
    sets = history.where("sets IS NOT NULL").select(*line, F.inline("sets"))
    return sets.where("files IS NOT NULL").select(*line, F.inline("files"))


def new_blobs(lake: Lake, history: DataFrame, locations: Column) -> DataFrame:
    """The new rows of the table `blobs`, each read from one of the `locations` of those that have it.

    The key is (blob).
    """
    repositories = files_of(history).groupBy("blob").agg(locations.alias("locations"))
    missing_blobs = lake.missing(repositories, "blobs", "blob").repartition(F.col("locations")[0])
    return map_rows(missing_blobs, read_blobs, lake.schemas["blobs"])


def find_problems(lake: Lake, history: DataFrame) -> dict[tuple[str, str], str]:
    """By line: why git cannot list it, or which contents of its files the table `blobs` lacks."""
    failures = history.where("position IS NULL").select(*LINE, "location", "problem", F.lit(None).alias("blob"))
    unread = lake.missing(files_of(history), "blobs", "blob").select(*LINE, "location", F.lit(None), "blob")
    columns = [F.max("problem"), F.countDistinct("blob"), F.min("blob")]
    rows = failures.union(unread).groupBy(*LINE, "location").agg(*columns).collect()
    return {
        (source, lineage): problem
        or f"git cannot read {plural(count, 'file')} of {location}, such as the blob {example}; kiplint fetches "
        "nothing, so for a clone that was made with --filter run `git fetch --refetch --no-filter`"
        for source, lineage, location, problem, count, example in rows
    }


def new_files(lake: Lake, files: DataFrame) -> DataFrame:
    """The new rows of the table `files`: definitions and malformed files of new trees with at least one definition."""
    kinds = lake.read("blobs").select("blob", "kind")
    missing_files = lake.missing(files.select("tree", "name", "blob").distinct(), "files", "tree").join(kinds, "blob")
    trees_with_definitions = missing_files.where("kind = 'definition'").select("tree").distinct()
    definitions = missing_files.where("kind IN ('definition', 'malformed')")
    return definitions.join(trees_with_definitions, "tree", "left_semi")


def new_sets(lake: Lake, sets_of_history: DataFrame) -> DataFrame:
    """The new rows of the table `sets`: of each root that it lacks, all sets that have files in the lake."""
    trees = lake.read("files").select("tree").distinct()
    sets_with_files = sets_of_history.join(trees, "tree", "left_semi").select("root", "directory", "tree").distinct()
    return lake.missing(sets_with_files, "sets", "root")


def new_revisions(lake: Lake, history: DataFrame, keys: Sequence[tuple[str, str]]) -> DataFrame:
    """The rows of the table `revisions` of the sources in `keys`, which are pairs of source and lineage.

    The rows of these lines are those of `history`; the rows of other lines of the sources are as they were.
    """
    rows = history.where("position IS NOT NULL").select(*lake.schemas["revisions"].names)
    lines = lake.spark.createDataFrame(list(keys), LINE_SCHEMA)
    revisions = lake.read("revisions", {source for source, _ in keys})
    other_rows = revisions.join(lines, ["source", "lineage"], "left_anti").select(*rows.columns)
    return rows.union(other_rows)
