"""The distinct contents of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kiplint.pipeline.columns import Columns
from kiplint.pipeline.frame import Frame
from kiplint.pipeline.late import f

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Blobs(Frame):
    """`blob` is git's id of the content; `kind` is definition, meant (to be one), broken (empty, or no text),
    other JSON, or unreadable.

    `data` is null but for the first three, and cut off behind the largest size that is checked; `problem` says why a
    content is unreadable.
    """

    NAME = "blobs"
    ABOUT = "The distinct contents of all JSON files: each is read once."
    COLUMNS: ClassVar[Columns] = {
        "blob": "string",
        "kind": "string",
        "size": "int",
        "data": "binary",
        "problem": "string",
    }


def wanted_blobs(walked: DataFrame, known: DataFrame) -> DataFrame:
    """The blobs that were found and are not known: blob, location, of several places the first."""
    found = walked.select("location", f.explode("folders").alias("folder"))
    blobs = found.select("location", f.explode("folder.files").alias("file")).select("location", "file.blob")
    return blobs.groupBy("blob").agg(f.min("location").alias("location")).join(known.select("blob"), "blob", "anti")
