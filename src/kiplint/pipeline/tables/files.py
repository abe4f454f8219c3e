"""The files of each distinct schema set."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kiplint.pipeline.columns import Columns
from kiplint.pipeline.frame import Frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Files(Frame):
    """`name` is the file's name in its directory, `blob` its content."""

    NAME = "files"
    ABOUT = "The definition files of each distinct schema set: name and content."
    COLUMNS: ClassVar[Columns] = {"tree": "string", "name": "string", "blob": "string"}


def files_of(contents: DataFrame) -> DataFrame:
    """The files of the trees, each tree once, whichever folders hold it."""
    return contents.select(*Files.COLUMNS).distinct()
