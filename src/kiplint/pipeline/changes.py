"""What `diff` finds: each distinct pair of neighbouring contents is compared once, by commit and by release.

The newest content of each fork is also compared with the newest release of upstream, which a merge would bring.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final

import msgspec
from msgspec.structs import asdict
from pyspark.sql import Window
from pyspark.sql import functions as F  # noqa: N812

from kiplint.compat.change import Change
from kiplint.compat.classify import ChangeFinding, classify
from kiplint.compat.compare import compare_trees
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.errors import UsageError
from kiplint.pipeline.messages import number
from kiplint.pipeline.rows import Row, map_cogroups

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    from kiplint.pipeline.lake import Lake
    from kiplint.pipeline.rules import Rules

PAIR: Final = ["old_root", "root"]
NEIGHBOURS: Final = 32
"""How many revisions of a line belong to one group."""


def group_of(*columns: str) -> Column:
    """The group of the revision `first`: those near to each other share most files, which a group is sent once."""
    return F.concat_ws(" ", *columns, F.floor(F.col("first.position") / NEIGHBOURS).cast("string"))


def changes(lake: Lake, rules: Rules) -> DataFrame:
    """The changes of the pairs that were not compared yet."""
    sets = lake.read("sets")
    pairs = neighbours(lake.read("revisions"), sets).where("old_root <> root")
    pairs = pairs.select("source", "lineage", "position", *PAIR)
    pairs = pairs.union(merges(lake.read("revisions"), sets, lake.upstream).select(*pairs.columns))
    first = F.min(F.struct("source", "lineage", "position")).alias("first")
    pairs = lake.missing(pairs.groupBy(*PAIR).agg(first), "changes", *PAIR, rules_id=rules.id)
    pairs = pairs.select(group_of("first.source", "first.lineage").alias("group"), "first.position", *PAIR)
    texts = texts_of(lake, pairs, PAIR)
    return map_cogroups(pairs, texts, partial(compare_pairs, rules), lake.schemas["changes"], "group")


def texts_of(lake: Lake, pairs: DataFrame, sides: Sequence[str]) -> DataFrame:
    """The texts of both sides of pairs, each once in a group, with the roots and paths that it has there."""
    roots = pairs.select("group", F.explode(F.array(*sides)).alias("root")).distinct()
    uses = roots.join(lake.read("sets"), "root").join(lake.read("files"), "tree")
    uses = uses.groupBy("group", "blob").agg(F.collect_list(F.struct("root", "directory", "name")).alias("uses"))
    return uses.join(lake.read("blobs").select("blob", "data"), "blob")


def neighbours(revisions: DataFrame, sets: DataFrame) -> DataFrame:
    """The revisions beside the root of the one before on their line; a release without definitions is left out."""
    along = Window.partitionBy("source", "lineage").orderBy("position")
    roots = sets.select("root", F.lit(True).alias("is_defined")).distinct()
    rows = revisions.join(roots, "root", "left").where("release IS NULL OR is_defined").drop("is_defined")
    return rows.withColumn("old_root", F.lag("root").over(along))


def merges(revisions: DataFrame, sets: DataFrame, upstream: str) -> DataFrame:
    """The newest revision of each line of forks, beside upstream's newest release, or newest revision without any."""
    revisions = revisions.join(sets.select("root").distinct(), "root", "left_semi")
    order = F.struct(F.col("release").isNotNull().alias("is_release"), "time", "position")
    newest = revisions.where(F.col("source") == upstream).agg(F.max_by("root", order).alias("root"))
    lines = revisions.where(F.col("source") != upstream).groupBy("source", "lineage")
    tips = lines.agg(F.max_by("root", "position").alias("old_root"), F.max("position").alias("position"))
    return tips.crossJoin(F.broadcast(newest)).where("old_root <> root")


def compare_pairs(rules: Rules, pairs: Sequence[Row], texts: Sequence[Row]) -> Iterator[Row]:
    """The changes of pairs of neighbours, which have these texts."""
    files = files_by_root(texts)
    trees: dict[str, Tree] = {}
    for pair in sorted(pairs, key=itemgetter("position")):
        roots = [pair[side] for side in PAIR]
        for root in roots:  # the pair before has one of the trees already
            trees[root] = trees.get(root) or make_tree(root, files.get(root, {}).items())
        trees = {root: trees[root] for root in roots}
        yield from compare_pair(trees[roots[0]], trees[roots[1]], rules)


def files_by_root(texts: Iterable[Row]) -> dict[str, dict[str, list[tuple[str, bytes]]]]:
    """The paths and bytes of files by root and directory, all in the order in which `diff` reads them."""
    files = [(*use.values(), text["data"]) for text in texts for use in text["uses"]]
    roots: dict[str, dict[str, list[tuple[str, bytes]]]] = {}
    for root, directory, name, data in sorted(files, key=lambda file: (file[1].split("/"), file[2])):
        path = f"{directory}/{name}" if directory else name
        roots.setdefault(root, {}).setdefault(directory, []).append((path, data))
    return roots


def compare_pair(old: Tree, new: Tree, rules: Rules) -> list[Row]:
    """The rows of a pair: its changes, or one row without a rule where there is none."""
    key = {"old_root": old.name, "root": new.name, "rules_id": rules.id}
    problems: list[Any] = []
    changes: list[tuple[Change, ChangeFinding]] = []
    try:
        differences = compare_trees(old, new, too_large=problems)
        changes = classify(differences, rules.scopes.whole, old.sources, new.sources)
    except (UsageError, RecursionError) as error:
        problems.append(error)
    rows: list[Row] = [{**key, **_change(change, finding)} for change, finding in changes]
    return rows + [{**key, "problem": str(problem)} for problem in problems] or [key]


def _change(change: Change, finding: ChangeFinding) -> dict[str, Any]:
    return {
        **asdict(finding),
        "api_key": number(change.message.api_key),
        "old": json.dumps(dict(finding.old), default=str),
        "new": json.dumps(dict(finding.new), default=str),
        "proof": json.dumps(msgspec.to_builtins(finding.proof), default=str),
    }
