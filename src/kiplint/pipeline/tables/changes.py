"""What `diff` tells, each distinct pair of contents once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kiplint.pipeline.columns import Columns
from kiplint.pipeline.frame import Frame
from kiplint.pipeline.tables.sets import steps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Changes(Frame):
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


class Pairs(Frame):
    """The pairs of contents that were compared, changes or not."""

    NAME = "pairs"
    ABOUT = "The pairs of contents that were compared."
    COLUMNS: ClassVar[Columns] = {"old_root": "string", "root": "string"}


def pairs_of(sets: DataFrame) -> DataFrame:
    """The pairs to compare: neighbours on a line that differ, with the first place where they meet."""
    return steps(sets).where("root <> old_root").select("source", "lineage", "position", "old_root", "root")


def changes_in_sets(changes: DataFrame, sets: DataFrame) -> DataFrame:
    """The changes of every step on every line of history: what `diff` says of it, row for row."""
    told = [name for name in Changes.COLUMNS if name not in ("old_root", "root")]
    taken = ["source", "lineage", "position", "old_commit", "commit", "old_release", "release", "time"]
    return steps(sets).join(changes, ["old_root", "root"]).select(*taken, *told)
