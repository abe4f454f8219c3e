"""Lines of history: how the user names them, and how tasks read them from git."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from hashlib import sha1
from typing import Final, NamedTuple

from kiplint.engine.errors import UsageError
from kiplint.pipeline.commits import is_of_tags, read_folders, releases, revisions, tip
from kiplint.pipeline.rows import Row, escape_non_utf8
from kiplint.pipeline.tables import TABLES
from kiplint.sources.cleanup import close
from kiplint.sources.repository import GitObject, Repository, open_repository, version_key
from kiplint.sources.schema_files import SourceError, kind_of
from kiplint.text.show import printable

HISTORY: Final = f"""{TABLES["revisions"].replace(" NOT NULL", "")}, location STRING, problem STRING,
    sets ARRAY<STRUCT<directory: STRING, tree: STRING, files: ARRAY<STRUCT<name: STRING, blob: STRING>>>>"""
"""A row for each revision of a line, or one with a `problem` where the line cannot be read.

`sets` is null where the lake or an earlier row has the root, and `files` where an earlier row has the tree.
"""
BLOBS_PER_REQUEST: Final = 500
LATEST_TIME: Final = 253_402_300_799
"""The last second of the year 9999: a commit can have any number as its time."""
_NAME: Final = re.compile(r"\w[\w.-]*", re.ASCII)


class Line(NamedTuple):
    """A line of history as a row of the table `sources`, whose columns are documented there."""

    source: str
    lineage: str
    location: str
    state: str = ""
    rules_id: str = ""
    upstream: bool = False
    is_shallow: bool = False
    problem: str | None = None

    @property
    def key(self) -> tuple[str, str]:
        """The source and the lineage, which no other line has."""
        return self.source, self.lineage


Lines = dict[tuple[str, str], Line]
"""Lines of history by source and lineage."""


def read_source(argument: str) -> Line:
    """The line of `NAME=PATH[#branch|tags[=GLOB]]`, by default of HEAD. Raises UsageError for anything else."""
    name, _, location = argument.partition("=")
    path, ref = location, "HEAD"
    if "#" in location and not os.path.lexists(location):  # else the path itself has the sign
        path, _, ref = location.rpartition("#")
    if not path or not _NAME.fullmatch(name):
        raise UsageError(
            f"a source must be NAME=PATH, NAME=PATH#branch or NAME=PATH#tags, with letters, digits, hyphens, dots and "
            f"underscores in the name, not {escape_non_utf8(argument)}"
        )
    return Line(name, ref or "HEAD", os.path.abspath(path))  # a link is followed by each run


def with_states(lines: Sequence[Line]) -> list[Line]:
    """The lines of one location, each with the `state` that its repository has now, or a `problem`."""
    new_lines: list[Line] = []
    try:
        if not os.path.lexists(lines[0].location):
            raise SourceError(f"no such file or directory: {lines[0].location}")
        repository = open_repository(lines[0].location)
        shallow = repository.run("rev-parse", "--is-shallow-repository").strip() == "true"
    except (SourceError, OSError) as error:
        return [line._replace(problem=escape_non_utf8(str(error))) for line in lines]
    for line in lines:
        try:
            new_lines.append(line._replace(state=_state(repository, line.lineage, shallow), is_shallow=shallow))
        except (SourceError, OSError) as error:
            new_lines.append(line._replace(problem=escape_non_utf8(str(error))))
    return new_lines


def _state(repository: Repository, lineage: str, is_shallow: bool) -> str:
    """An id of the commits that a line of history leads to."""
    if is_of_tags(lineage):
        commits = repr(releases(repository, lineage))
    elif is_shallow:
        commits = repository.run("rev-list", "--first-parent", tip(repository, lineage), "--")
    else:
        commits = tip(repository, lineage)  # from which all others follow
    return _digest((commits, is_shallow))


def read_histories(lines: Iterable[Row]) -> Iterator[Row]:
    """The rows of `HISTORY` of lines, whose `lake_roots` have the `git_tree` and `root` of revisions in the lake."""
    for line in lines:
        key = {name: line[name] for name in ("source", "lineage", "location")}
        try:
            for row in _history(line):
                yield {**key, **row}
        except (SourceError, OSError) as error:
            yield {**key, "problem": escape_non_utf8(str(error))}
        finally:
            close()  # removes an unpacked bundle, as Spark keeps this process for the next task


def _history(line: Row) -> Iterator[Row]:
    """The rows of `HISTORY` of one line. Git lists only trees that the lake lacks and whose JSON files have changed."""
    repository = open_repository(line["location"])
    roots = {row["git_tree"]: row["root"] for row in line["lake_roots"] or ()}
    known_ids = {*roots.values()}
    root = ""
    for position, revision in enumerate(revisions(repository, line["lineage"])):
        sets = None
        if revision.git_tree in roots:
            root = roots[revision.git_tree]
        elif revision.has_changes or position == 0:
            root, sets = _root_and_sets(read_folders(repository, revision.git_tree), known_ids)
        # else the root is that of the revision before
        roots[revision.git_tree] = root
        yield {
            **revision._asdict(),
            "position": position,
            "time": datetime.fromtimestamp(min(max(revision.time, 0), LATEST_TIME), UTC),
            "release": revision.release or None,
            "version": version_key(revision.release)[0] or None,
            "root": root,
            "sets": sets,
        }


def _root_and_sets(folders: dict[str, dict[str, str]], known_ids: set[str]) -> tuple[str, list[Row] | None]:
    """The root of a revision, and its `sets` as a row of `HISTORY` has them: None where the root is in `known_ids`.

    `known_ids` has the roots of the lake, and the roots and trees of earlier rows; this adds those of this revision.
    """
    sets: list[Row] = []
    for path, blobs in sorted(folders.items()):
        named_blobs = sorted(blobs.items())
        tree = _digest(tuple(named_blobs))
        files = None
        if tree not in known_ids:
            files = [{"name": printable(name), "blob": blob} for name, blob in named_blobs]
        sets.append({"directory": printable(path), "tree": tree, "files": files})
    root = _digest([(item["directory"], item["tree"]) for item in sets])
    new_sets = None if root in known_ids else sets
    known_ids |= {root, *(item["tree"] for item in sets)}
    return root, new_sets


def _digest(value: object) -> str:
    """An id of 40 hexadecimal digits for a value that is made of lists, tuples and texts."""
    return sha1(repr(value).encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()


def read_blobs(blobs: Iterable[Row]) -> Iterator[Row]:
    """The rows of the table `blobs` of ids (`blob`), each with repositories that should have it (`locations`).

    There is none for a content that git reads in none of them: a clone is partial or damaged, or git was killed.
    """
    locations_by_blob = {row["blob"]: list(row["locations"]) for row in blobs}
    try:
        while locations_by_blob:
            blobs_by_location: dict[str, list[str]] = defaultdict(list)
            for blob, locations in locations_by_blob.items():
                blobs_by_location[locations.pop(0)].append(blob)
            for location, ids in blobs_by_location.items():
                for git_object in _read_objects(location, ids):
                    kind = kind_of(git_object.data)
                    data = None if kind == "other" else git_object.data
                    yield {"blob": git_object.id, "kind": kind, "data": data}
                    del locations_by_blob[git_object.id]
            locations_by_blob = {blob: locations for blob, locations in locations_by_blob.items() if locations}
    finally:
        close()


def _read_objects(location: str, ids: Sequence[str]) -> Iterator[GitObject]:
    """The objects that git can read in a repository, of some ids."""
    with suppress(SourceError, OSError):  # what was not read is a problem of its lines
        repository = open_repository(location)
        for start in range(0, len(ids), BLOBS_PER_REQUEST):
            yield from filter(None, repository.find_all(ids[start : start + BLOBS_PER_REQUEST]))
