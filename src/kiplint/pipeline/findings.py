"""What `check` finds: each distinct file is checked by itself once, and each distinct set for the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import asdict
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.run import check_both
from kiplint.fixes.fixers import make_fix
from kiplint.pipeline.changes import group_of
from kiplint.pipeline.rows import Row, map_groups

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from kiplint.pipeline.lake import Lake
    from kiplint.pipeline.rules import Rules


def findings(lake: Lake, rules: Rules) -> DataFrame:
    """The findings of the files that were not checked yet, and of the sets."""
    files, places = lake.read("files"), lake.read("sets").join(lake.read("revisions"), "root")
    rows = lake.read("findings").where(F.col("rules_id") == rules.id)
    first = places.groupBy("tree").agg(F.min(F.struct("source", "lineage", "directory", "position")).alias("first"))
    group = group_of("first.source", "first.lineage", "first.directory")
    sets = files.join(rows.select("tree").distinct(), "tree", "left_anti").join(first, "tree", "left")
    checked_files = rows.where("tree IS NULL").select("name", "blob").distinct().withColumn("is_checked", F.lit(True))
    is_fresh = F.row_number().over(Window.partitionBy("name", "blob").orderBy("tree")) == 1
    uses = sets.join(checked_files, ["name", "blob"], "left").select(
        group.alias("group"), "blob", "tree", "name", (F.col("is_checked").isNull() & is_fresh).alias("is_fresh")
    )
    uses = uses.groupBy("group", "blob").agg(F.collect_list(F.struct("tree", "name", "is_fresh")).alias("uses"))
    texts = uses.join(lake.read("blobs").select("blob", "data"), "blob")
    return map_groups(texts, partial(check_sets, rules), lake.schemas["findings"], "group")


def check_sets(rules: Rules, texts: Sequence[Row]) -> Iterator[Row]:
    """The findings of texts, each with the sets that have it. One is checked by itself too where it is fresh."""
    sets: dict[str, list[Row]] = {}
    for text in texts:
        for use in text["uses"]:
            sets.setdefault(use["tree"], []).append({**use, "blob": text["blob"], "data": text["data"]})
    for tree, files in sorted(sets.items()):
        yield from check_set(tree, files, rules)


def check_set(tree: str, files: Sequence[Row], rules: Rules) -> Iterator[Row]:
    """The rows of a set, and of its files that are fresh."""
    files = sorted(files, key=lambda file: file["name"])
    blobs = {file["name"]: file["blob"] for file in files}
    alone: dict[str, list[Finding]] = {file["name"]: [] for file in files if file["is_fresh"]}
    together: list[Finding] = []
    problem = None
    try:
        by_itself, together = check_both(
            [(file["name"], file["data"]) for file in files], {*alone}, rules.scopes, make_fix
        )
        for finding in by_itself:
            alone[finding.path].append(finding)
    except (UsageError, RecursionError) as error:
        problem = str(error)
    for name, some in alone.items():
        yield from _rows({"name": name, "blob": blobs[name], "problem": problem}, some, blobs, rules)
    yield from _rows({"tree": tree, "problem": problem}, together, blobs, rules)


def _rows(key: Row, some: Sequence[Finding], blobs: Mapping[str, str], rules: Rules) -> Iterator[Row]:
    """The rows of a file or set: its findings, or one row without a rule where there is none."""
    key = {**key, "rules_id": rules.id}
    if not some:
        yield key
    for finding in some:
        yield {
            **key,
            **asdict(finding),
            "name": finding.path,
            "blob": blobs[finding.path],
            "rule_source": finding.source,
        }
