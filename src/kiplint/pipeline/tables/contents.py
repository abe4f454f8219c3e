"""Where sets come from."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

import pyarrow as pa

from kiplint.pipeline.functions import f, pc
from kiplint.pipeline.lake.schema import Columns, TableFrame, array, table
from kiplint.sources.schema_files import FOREIGN

if TYPE_CHECKING:
    from pyspark.sql import Column


class Sources(TableFrame):
    """`kind` is git or files (a directory or archive); `lineage` a branch, `tags`, or empty for what has no history.

    `as_of` is null where the last run has read the line, else the state that it has stayed in since.
    """

    NAME = "sources"
    ABOUT = "The lines of history of each source: where they are, and how many revisions each has."
    COLUMNS: ClassVar[Columns] = {
        "source": "string",
        "lineage": "string",
        "kind": "string",
        "location": "string",
        "sets": "bigint",
        "as_of": "timestamp",
    }


LINE = ("source", "lineage")


class Sets(TableFrame):
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


class Roots(TableFrame):
    """What a revision's git tree (or a directory's state) comes to, so that it is walked once."""

    NAME = "roots"
    ABOUT = "By id of a git tree, or state of a directory: the content that it holds."
    COLUMNS: ClassVar[Columns] = {"key": "string", "root": "string"}


ORDER: Columns = {**PLACE, "rank": "int"}
OLD = ("root", "commit", "release", "position")
STEPS: Columns = {**PLACE, **{f"old_{name}": PLACE[name] for name in OLD}}


def runs(sets: pa.Table) -> pa.Table:
    """Of neighbours on a line with the same content the first, counted by `rank`: most commits change no definition.

    `sets` are rows of `PLACE` in order; the result has the columns `ORDER`.
    """
    at, ranks = [], []
    before, rank = None, 0
    for number, place in enumerate(_contents(sets)):
        if place == before:
            continue
        rank = rank + 1 if before and before[:2] == place[:2] else 1
        before = place
        at.append(number)
        ranks.append(rank)
    return sets.take(pa.array(at, pa.int64())).append_column("rank", pa.array(ranks, pa.int32()))


def steps_of(sets: pa.Table) -> pa.Table:
    """The first revision of each other content beside the one before it on its line: the columns `STEPS`.

    `sets` are rows of `PLACE` in order.
    """
    pairs = pairwise(enumerate(_contents(sets)))
    at = [new for (_, old), (new, place) in pairs if old[:2] == place[:2] and old[2] != place[2]]
    rows, before = (sets.take(pa.array([number + by for number in at], pa.int64())) for by in (0, -1))
    return pa.table([*rows.columns, *(before[name] for name in OLD)], list(STEPS))


def _contents(sets: pa.Table) -> Iterator[tuple[str, str, str]]:
    return zip(*(sets[name].to_pylist() for name in (*LINE, "root")), strict=True)


WALKED_FILES = array({"name": "string", "blob": "string"})
WALKED: Columns = {
    "key": "string",
    "location": "string",
    "folders": array({"directory": "string", "folder": "string", "files": WALKED_FILES}),
    "problem": "string",
    "same": "string",
}
"""What a walk finds in one revision; `files` is null for a folder that an earlier row of the same walk has.

`same` is the key of an earlier revision that has the same folders, which are left out then.
"""


class Trees(TableFrame):
    """A tree is a set's files: the id is made of their names and contents, and is the same wherever they lie."""

    NAME = "trees"
    ABOUT = "The schema sets of each distinct content of a revision: directory and tree."
    COLUMNS: ClassVar[Columns] = {"root": "string", "directory": "string", "tree": "string"}


def path_in_revision() -> Column:
    """Where a file lies, by the folder that is its `directory` and its `name`."""
    return f.when(f.col("directory") == "", f.col("name")).otherwise(f.concat_ws("/", "directory", "name"))


def folders_in(walked: pa.Table) -> pa.Table:
    """The folders of walked revisions: key, location, directory, folder, top (whether it is the root), files."""
    rows = walked.filter(walked["folders"].is_valid())
    lists = rows["folders"].combine_chunks()
    at, folders = pc.list_parent_indices(lists), pc.list_flatten(lists)
    directory = pc.struct_field(folders, "directory")
    columns = {
        "key": rows["key"].take(at),
        "location": rows["location"].take(at),
        "directory": directory,
        "folder": pc.struct_field(folders, "folder"),
        "top": pc.equal(directory, ""),
        "files": pc.struct_field(folders, "files"),
    }
    return pa.table(columns)


def files_in(folders: pa.Table) -> pa.Table:
    """The JSON files of each distinct folder, as often as a walk reports it: folder, top, location, name, blob."""
    known = folders.filter(folders["files"].is_valid())
    lists = known["files"].combine_chunks()
    at, files = pc.list_parent_indices(lists), pc.list_flatten(lists)
    columns = {name: known[name].take(at) for name in ("folder", "top", "location")}
    return pa.table({**columns, **{name: pc.struct_field(files, name) for name in ("name", "blob")}})


def definitions_of(files: pa.Table, blobs: pa.Table) -> pa.Table:
    """Those of the folders' files that are definitions, each once: folder, top, name, blob. `blobs` has blob and kind.

    A file that is meant to be one counts where there are definitions beside it; one that is empty or no text there
    and at the top, as for `check`.
    """
    rows = files.group_by(["folder", "top", "name", "blob"]).aggregate([])
    kind = blobs["kind"].take(pc.index_in(rows["blob"], value_set=blobs["blob"].combine_chunks()))
    place = pc.binary_join_element_wise(rows["folder"], rows["top"].cast(pa.string()), "\0")
    is_definition = pc.fill_null(pc.equal(kind, "definition"), False)
    certain = pc.is_in(place, value_set=pc.unique(place.filter(is_definition)))
    is_broken = pc.and_(pc.equal(kind, "broken"), pc.or_(certain, rows["top"]))
    is_meant = pc.and_(pc.equal(kind, "meant"), certain)
    own = pc.invert(pc.is_in(rows["name"], value_set=pa.array(sorted(FOREIGN), pa.string())))
    return rows.filter(pc.fill_null(pc.and_(own, pc.or_(is_definition, pc.or_(is_broken, is_meant))), False))


def trees_of(definitions: pa.Table) -> pa.Table:
    """The tree that each folder with definitions comes to: folder, top, tree."""
    pairs = pc.binary_join_element_wise(definitions["name"], definitions["blob"], ":")
    grouped = definitions.append_column("pair", pairs).group_by(["folder", "top"]).aggregate([("pair", "list")])
    trees = [_digest(pairs.as_py()) for pairs in grouped["pair_list"]]
    return grouped.select(["folder", "top"]).append_column("tree", pa.array(trees, pa.string()))


def roots_and_trees(walked: pa.Table, folders: pa.Table, ids: pa.Table) -> tuple[pa.Table, pa.Table]:
    """The content of each walked revision as rows of `roots`, and the schema sets of these contents as `Trees`."""
    sets = folders.select(["key", "directory", "folder", "top"]).join(ids, ["folder", "top"], join_type="inner")
    by_key: dict[str, list[tuple[str, str]]] = {}
    for key, directory, tree in zip(*(sets[name].to_pylist() for name in ("key", "directory", "tree")), strict=True):
        by_key.setdefault(key, []).append((directory, tree))
    roots: dict[str, str] = {}
    trees: dict[str, list[tuple[str, str]]] = {}
    alike: list[tuple[str, str]] = []
    for key, problem, same in zip(*(walked[name].to_pylist() for name in ("key", "problem", "same")), strict=True):
        if same is not None:
            alike.append((key, same))
        elif problem is None:
            held = by_key.get(key, [])
            roots[key] = root = _digest([f"{directory}:{tree}" for directory, tree in held])
            trees[root] = held
    roots.update((key, roots[same]) for key, same in alike)
    rows = ((root, *placed) for root, held in trees.items() for placed in held)
    return table({"key": "string", "root": "string"}, roots.items()), table(Trees.COLUMNS, rows)


def _digest(names: list[str]) -> str:
    """An id of named contents, whatever their order."""
    return sha256("\n".join(sorted(names)).encode()).hexdigest()


class Files(TableFrame):
    """`name` is the file's name in its directory, `blob` its content."""

    NAME = "files"
    ABOUT = "The definition files of each distinct schema set: name and content."
    COLUMNS: ClassVar[Columns] = {"tree": "string", "name": "string", "blob": "string"}


class Blobs(TableFrame):
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
