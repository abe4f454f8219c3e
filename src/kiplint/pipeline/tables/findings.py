"""What `check` finds, each finding of each distinct file or set once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kiplint.pipeline.columns import Columns
from kiplint.pipeline.frame import Frame
from kiplint.pipeline.tables.trees import path_in_revision

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Findings(Frame):
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
    told = [name for name in Findings.COLUMNS if name not in ("tree", "name", "blob")]
    return placed.select(*sets.columns, path_in_revision().alias("path"), *told, "tree", "blob")
