"""Revisions in order, and what each holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kiplint.pipeline.columns import Columns
from kiplint.pipeline.frame import Frame
from kiplint.pipeline.late import Window, f

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

LINE = ("source", "lineage")


class Sets(Frame):
    """`position` counts from 0 along the lineage; `release` is the tag; `root` names the content, see `trees`.

    The columns from `author` on are read out of the commit: its first line, the pull request behind it, and the numbers
    of KIPs and of JIRA's issues (KAFKA-1) anywhere in its message.
    """

    NAME = "sets"
    ABOUT = "The revisions of each line of history, in order: commits of a branch, tags, or a single directory."
    COLUMNS: ClassVar[Columns] = {
        "source": "string",
        "lineage": "string",
        "position": "int",
        "commit": "string",
        "time": "timestamp",
        "release": "string",
        "root": "string",
        "author": "string",
        "subject": "string",
        "parents": "array<string>",
        "pull_request": "int",
        "kips": "array<string>",
        "jiras": "array<string>",
    }


PLACE: Columns = dict(list(Sets.COLUMNS.items())[:7])
"""The columns without what commits say of themselves."""


class Roots(Frame):
    """What a revision's git tree (or a directory's state) comes to, so that it is walked once."""

    NAME = "roots"
    ABOUT = "By id of a git tree, or state of a directory: the content that it holds."
    COLUMNS: ClassVar[Columns] = {"key": "string", "root": "string"}


def runs(sets: DataFrame) -> DataFrame:
    """Of neighbours on a line with the same content the first, counted by `rank`: most commits change no definition."""
    line = Window.partitionBy(*LINE).orderBy("position")
    begun = sets.withColumn("before", f.lag("root").over(line)).where("before is null or before <> root").drop("before")
    return begun.withColumn("rank", f.row_number().over(line))


def steps(sets: DataFrame) -> DataFrame:
    """Each revision beside the one before it on its line: the columns of `sets`, those of the old one as `old_*`."""
    line = Window.partitionBy(*LINE).orderBy("position")
    before = [f.lag(name).over(line).alias(f"old_{name}") for name in ("root", "commit", "release", "position")]
    return sets.select("*", *before).where("old_root is not null")
