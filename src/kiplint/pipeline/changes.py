"""The stage `changes`: what `diff` finds between consecutive revisions, and between forks and upstream's release."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Final

import msgspec
from msgspec.structs import asdict
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kiplint.compat.change import Change, ChangeFinding, Kind
from kiplint.compat.classify import classify
from kiplint.compat.compare import compare_trees
from kiplint.compat.tree import Tree, make_tree
from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake import Lake
from kiplint.pipeline.messages import int32
from kiplint.pipeline.rows import Row, map_cogroups
from kiplint.pipeline.rules import Rules

PAIR: Final = ["old_root", "root"]
BATCH_SIZE: Final = 32
"""How many consecutive revisions of a line are in one batch."""


def changes(lake: Lake, rules: Rules, sources: Collection[str]) -> DataFrame:
    """The new rows of the table `changes`: of the pairs of roots that these rules have not compared yet.

    New pairs are those of `sources`, and of forks with upstream.

    Reads `revisions`, `sets`, `files` and `blobs`. The key is (old_root, root): the contents of two revisions.
    """
    revisions, sets = lake.read("revisions"), lake.read("sets")
    columns = ["source", "lineage", "position", *PAIR]
    steps = with_old_root(lake.read("revisions", sources), sets).where("old_root <> root").select(*columns)
    merges = fork_merges(revisions, sets, lake.upstream).select(*columns)
    first_use = F.min(F.struct("source", "lineage", "position")).alias("first_use")
    pairs = steps.union(merges).groupBy(*PAIR).agg(first_use)
    batch = batch_of("first_use.source", "first_use.lineage").alias("batch")
    new_pairs = lake.missing(pairs, "changes", *PAIR, rules_id=rules.id).select(batch, "first_use.position", *PAIR)
    texts = texts_of(lake, new_pairs, PAIR)
    return map_cogroups(new_pairs, texts, partial(compare_pairs, rules), lake.schemas["changes"], "batch")


def batch_of(*columns: str) -> Column:
    """The batch of a row by columns and `first_use.position`, such as `kafka trunk 3` for the positions 96 to 127.

    Revisions of one batch share most of their files, whose texts are sent to the task of a batch once.
    """
    return F.concat_ws(" ", *columns, F.floor(F.col("first_use.position") / BATCH_SIZE).cast("string"))


def texts_of(lake: Lake, pairs: DataFrame, root_columns: Sequence[str]) -> DataFrame:
    """The texts of the definitions of pairs of roots, once for each batch: `batch`, `blob`, `data` and `uses`.

    `uses` are the files of the batch with this text: an array of `root`, `directory` and `name`.
    """
    roots = pairs.select("batch", F.explode(F.array(*root_columns)).alias("root")).distinct()
    files = roots.join(lake.read("sets"), "root").join(lake.read("files"), "tree")
    uses = F.collect_list(F.struct("root", "directory", "name")).alias("uses")
    return files.groupBy("batch", "blob").agg(uses).join(lake.read("blobs").select("blob", "data"), "blob")


def with_old_root(revisions: DataFrame, sets: DataFrame) -> DataFrame:
    """Revisions with the root of the one before on their line as `old_root`. Releases without sets are ignored."""
    line = Window.partitionBy("source", "lineage").orderBy("position")
    roots_with_sets = sets.select("root", F.lit(True).alias("has_sets")).distinct()
    rows = revisions.join(roots_with_sets, "root", "left").where("release IS NULL OR has_sets").drop("has_sets")
    return rows.withColumn("old_root", F.lag("root").over(line))


def fork_merges(revisions: DataFrame, sets: DataFrame, upstream: str) -> DataFrame:
    """The newest root of each line of a fork as `old_root`, and that of upstream's newest release as `root`.

    The newest release is that of the highest version; where upstream has no release, it is its newest revision.
    """
    revisions = revisions.join(sets.select("root").distinct(), "root", "left_semi")
    is_upstream = F.col("source") == upstream
    release_order = F.struct(F.col("release").isNotNull(), "version", "time", "position")
    target = revisions.where(is_upstream).agg(F.max_by("root", release_order).alias("root"))
    newest_root, position = F.max_by("root", "position").alias("old_root"), F.max("position").alias("position")
    tips = revisions.where(~is_upstream).groupBy("source", "lineage").agg(newest_root, position)
    return tips.crossJoin(F.broadcast(target)).where("old_root <> root")


def compare_pairs(rules: Rules, pairs: Sequence[Row], texts: Sequence[Row]) -> Iterator[Row]:
    """The rows of the table `changes` of one batch of pairs, which have a `position`. The texts are from `texts_of`."""
    files = files_by_root(texts)
    trees: dict[str, Tree] = {}
    for pair in sorted(pairs, key=itemgetter("position")):
        old_root, root = pair["old_root"], pair["root"]
        # Most pairs begin with the tree that the pair before ends with. Older trees are let go, to save memory.
        trees = {name: trees.get(name) or make_tree(name, files.get(name, {}).items()) for name in (old_root, root)}
        yield from compare_pair(trees[old_root], trees[root], rules)


def files_by_root(texts: Iterable[Row]) -> Mapping[str, Mapping[str, list[tuple[str, bytes]]]]:
    """The paths and bytes of files by root and directory, in the order of `diff`, from the rows of `texts_of`."""
    files = [{**use, "data": text["data"]} for text in texts for use in text["uses"]]
    roots: dict[str, dict[str, list[tuple[str, bytes]]]] = defaultdict(lambda: defaultdict(list))
    for file in sorted(files, key=lambda file: (file["directory"].split("/"), file["name"])):
        directory, name = file["directory"], file["name"]
        path = f"{directory}/{name}" if directory else name
        roots[file["root"]][directory].append((path, file["data"]))
    return roots


def compare_pair(old: Tree, new: Tree, rules: Rules) -> list[Row]:
    """The rows of the table `changes` of two trees: one without a rule where nothing changed."""
    key = {"old_root": old.name, "root": new.name, "rules_id": rules.id}
    try:
        changes = classify(compare_trees(old, new), rules.scopes.whole, old.sources, new.sources)
    except UsageError as error:
        return [{**key, "problem": str(error)}]
    rows: list[Row] = []
    for change, finding in changes:
        is_compared = change.row is not Kind.NOT_COMPARED
        columns = _change_columns(change, finding) if is_compared else {"problem": f"{finding.path}: {finding.message}"}
        rows.append({**key, **columns})
    return rows or [key]


def _change_columns(change: Change, finding: ChangeFinding) -> Row:
    """The columns of the table `changes` that describe the change: objects and lists as JSON text."""
    values = msgspec.to_builtins(asdict(finding))
    columns = {
        name: json.dumps(value) if isinstance(value, (dict, list, tuple)) else value for name, value in values.items()
    }
    return {**columns, "api_key": int32(change.message.api_key)}
