"""What revisions hold: folders with definitions, and their files, each distinct one once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from kiplint.pipeline.columns import Columns, array
from kiplint.pipeline.frame import Frame
from kiplint.pipeline.late import f
from kiplint.sources.schema_files import FOREIGN

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

WALKED_FILES = array({"name": "string", "blob": "string"})
WALKED: Columns = {
    "key": "string",
    "location": "string",
    "folders": array({"directory": "string", "folder": "string", "files": WALKED_FILES}),
    "problem": "string",
    "same": "string",
}
"""What a walk finds in one revision; `files` is null for a folder that an earlier row of the same walk has told.

`same` is the key of an earlier revision that has the same folders, which are left out then.
"""

CONTENTS: Columns = {"folder": "string", "top": "boolean", "name": "string", "blob": "string", "tree": "string"}
"""The definitions of folders; the same folder is another at the top, where more counts as a definition."""


class Trees(Frame):
    """A tree is a set's files: the id is made of their names and contents, and is the same wherever they lie."""

    NAME = "trees"
    ABOUT = "The schema sets of each distinct content of a revision: directory and tree."
    COLUMNS: ClassVar[Columns] = {"root": "string", "directory": "string", "tree": "string"}


def path_in_revision() -> Column:
    """Where a file lies, by the folder that is its `directory` and its `name`."""
    return f.when(f.col("directory") == "", f.col("name")).otherwise(f.concat_ws("/", "directory", "name"))


def folder_files(walked: DataFrame) -> DataFrame:
    """The JSON files of each distinct folder: folder, top (whether it is the root), name, blob."""
    told = walked.select(f.explode("folders").alias("one")).where("one.files is not null")
    top = (f.col("one.directory") == "").alias("top")
    return (
        told.select("one.folder", top, f.explode("one.files").alias("file"))
        .select("folder", "top", "file.name", "file.blob")
        .distinct()
    )


def definitions_of(files: DataFrame, blobs: DataFrame) -> DataFrame:
    """Those of the folders' files that are definitions: folder, top, name, blob.

    A file that is meant to be one counts where there are definitions beside it; one that is empty or no text there
    and at the top, as for `check`.
    """
    known = files.join(blobs.select("blob", "kind"), "blob")
    is_definition = f.col("kind") == "definition"
    is_broken = (f.col("kind") == "broken") & (f.col("certain") | f.col("top"))
    is_meant = (f.col("kind") == "meant") & f.col("certain")
    certain = known.where(is_definition).select("folder", "top").distinct().withColumn("certain", f.lit(True))
    return (
        known.join(certain, ["folder", "top"], "left")
        .where(~f.col("name").isin(*sorted(FOREIGN)) & (is_definition | is_broken | is_meant))
        .select("folder", "top", "name", "blob")
    )


def with_trees(definitions: DataFrame) -> DataFrame:
    """The definitions with the tree that their folder comes to: the columns of `CONTENTS`."""
    ids = definitions.groupBy("folder", "top").agg(_digest("name", "blob").alias("tree"))
    return definitions.join(ids, ["folder", "top"]).select(*CONTENTS)


def roots_and_trees(walked: DataFrame, contents: DataFrame) -> DataFrame:
    """The schema sets of each revision: key, root, directory, tree; the last two null where it has none."""
    folders = walked.where("problem is null and same is null").select("key", f.explode_outer("folders").alias("one"))
    placed = folders.select("key", "one.directory", "one.folder", (f.col("one.directory") == "").alias("top"))
    ids = contents.select("folder", "top", "tree").distinct()
    trees = placed.join(ids, ["folder", "top"], "left").select("key", "directory", "tree")
    roots = trees.groupBy("key").agg(_digest("directory", "tree").alias("root"))
    return trees.where("tree is not null").join(roots, "key", "right").select("key", "root", "directory", "tree")


def _digest(name: str, content: str) -> Column:
    """An id of named contents, whatever their order; nulls do not count."""
    pairs = f.collect_list(f.when(f.col(content).isNotNull(), f.concat_ws(":", name, content)))
    return f.sha2(f.array_join(f.array_sort(pairs), "\n"), 256)
