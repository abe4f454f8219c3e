"""What `check` finds, each finding of each distinct file or set once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kiplint.pipeline.lake.schema import Columns, TableFrame
from kiplint.pipeline.tables.contents import path_in_revision

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Findings(TableFrame):
    """`tree` is the set that a finding was made in, null for those that a file has by itself.

    The columns from `rule` to `fingerprint` are the fields of `check`'s JSON output; `rule_source` is its `source`.
    `place` is the fingerprint's part without rule and message: the names that lead to the spot.
    """

    NAME = "findings"
    ABOUT = "What check finds, once for each distinct file, or set where the set has a say."
    COLUMNS: ClassVar[Columns] = {
        "tree": "string",
        "name": "string",
        "blob": "string",
        "rule": "string",
        "severity": "string",
        "message": "string",
        "line": "int",
        "column": "int",
        "end_line": "int",
        "end_column": "int",
        "pointer": "string",
        "message_name": "string",
        "rule_source": "string",
        "fingerprint": "string",
        "place": "string",
    }


def found_in_sets(findings: DataFrame, files: DataFrame, trees: DataFrame, sets: DataFrame) -> DataFrame:
    """The findings of every revision, with the path from its top: what `check` says of it, row for row."""
    alone = files.join(findings.where("tree is null").drop("tree"), ["name", "blob"])
    together = files.join(findings.where("tree is not null"), ["tree", "name", "blob"])
    of_trees = alone.unionByName(together)
    placed = sets.join(trees, "root").join(of_trees, "tree")
    own = [name for name in Findings.COLUMNS if name not in ("tree", "name", "blob")]
    return placed.select(*sets.columns, path_in_revision().alias("path"), *own, "tree", "blob")


class Changes(TableFrame):
    """The columns from `rule` on are the fields of `diff`'s JSON output; `old`, `new` and `proof` are JSON text."""

    NAME = "changes"
    ABOUT = "What diff tells of each distinct pair of neighbouring contents."
    COLUMNS: ClassVar[Columns] = {
        "old_root": "string",
        "root": "string",
        "rule": "string",
        "severity": "string",
        "breaks": "string",
        "kind": "string",
        "message_name": "string",
        "message_type": "string",
        "versions": "string",
        "field": "string",
        "path": "string",
        "line": "int",
        "column": "int",
        "old": "string",
        "new": "string",
        "message": "string",
        "end_line": "int",
        "end_column": "int",
        "proof": "string",
        "unproven": "boolean",
        "url": "string",
        "old_path": "string",
        "old_line": "int",
        "old_column": "int",
    }


class Pairs(TableFrame):
    """The pairs of contents that were compared, changes or not."""

    NAME = "pairs"
    ABOUT = "The pairs of contents that were compared."
    COLUMNS: ClassVar[Columns] = {"old_root": "string", "root": "string"}


def changes_in_sets(changes: DataFrame, steps: DataFrame) -> DataFrame:
    """The changes of every step (`sets.STEPS`) on every line of history: what `diff` reports of it, row for row."""
    own = [name for name in Changes.COLUMNS if name not in ("old_root", "root")]
    taken = ["source", "lineage", "position", "old_commit", "commit", "old_release", "release", "time"]
    return steps.join(changes, ["old_root", "root"]).select(*taken, *own)


class Problems(TableFrame):
    """`subject` is what the stage was at: a source, a commit, a file."""

    NAME = "problems"
    ABOUT = "What could not be read or worked on, and why."
    COLUMNS: ClassVar[Columns] = {"stage": "string", "subject": "string", "problem": "string"}
