"""Lines of history: what the user names, and the functions of the tasks that read them from git."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from hashlib import sha1
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Final, NamedTuple

from kiplint.engine.errors import UsageError
from kiplint.pipeline.commits import FilesByFolder, is_of_tags, read_folders, revisions, tip
from kiplint.pipeline.rows import Row, text
from kiplint.sources.cleanup import close
from kiplint.sources.git import open_repository
from kiplint.sources.schema_files import SourceError, kind_of
from kiplint.text.show import printable

HISTORY: Final = """
    source STRING, lineage STRING, location STRING, position INT, commit STRING, time TIMESTAMP,
    release STRING, git_tree STRING, root STRING, author STRING, subject STRING, parents ARRAY<STRING>,
    pull_request INT, kips ARRAY<STRING>, problem STRING,
    sets ARRAY<STRUCT<directory: STRING, tree: STRING, files: ARRAY<STRUCT<name: STRING, blob: STRING>>>>"""
"""A row for each revision; `sets` where its root is new to the line, and `files` where the set is. Or one problem."""
AT_ONCE: Final = 500
"""How many contents are read in one request."""
LATEST: Final = 253_402_300_799
"""The last second of the year 9999: whoever makes a commit can write any number."""
_NAME: Final = re.compile(r"\w[\w.-]*", re.ASCII)


class Line(NamedTuple):
    """A line of history, as a row of the table `sources`: a branch, or tags."""

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


def read_source(argument: str) -> Line:
    """The line of `NAME=PATH[#branch|tags[=GLOB]]`. Raises UsageError for anything else."""
    name, _, place = argument.partition("=")
    path, _, ref = (place, "", "") if "#" not in place or os.path.lexists(place) else place.rpartition("#")
    if not path or not _NAME.fullmatch(name):
        raise UsageError(
            f"a source is NAME=PATH, NAME=PATH#branch or NAME=PATH#tags, with letters, digits, hyphens, dots and "
            f"underscores in the name, not {text(argument)}"
        )
    return Line(name, ref or "HEAD", os.path.realpath(path))


def with_state(line: Line) -> Line:
    """The line as it is now. Raises SourceError and OSError where it cannot be read; threads may call it."""
    if not os.path.lexists(line.location):
        raise SourceError(f"no such file or directory: {line.location}")
    objects = open_repository(line.location)
    if is_of_tags(line.lineage):
        commits = repr([(revision.release, revision.commit) for revision in revisions(objects, line.lineage)])
    else:
        commits = objects.run("rev-list", "--first-parent", tip(objects, line.lineage), "--")
    is_shallow = objects.run("rev-parse", "--is-shallow-repository").strip() == "true"
    return line._replace(state=_digest((commits, is_shallow)), is_shallow=is_shallow)


def read_histories(lines: Iterable[Row]) -> Iterator[Row]:
    """The rows of `HISTORY` of lines, each of which has the roots of its git trees in the lake."""
    for line in lines:
        common = {name: line[name] for name in ("source", "lineage", "location")}
        try:
            yield from ({**common, **row} for row in _history(line))
        except (SourceError, OSError) as error:
            yield {**common, "problem": text(str(error))}
        finally:
            close()  # git, and what it has unpacked: Spark keeps this process for the next task


def _history(line: Row) -> Iterator[Row]:
    objects = open_repository(line["location"])
    roots = {row["git_tree"]: row["root"] for row in line["known_roots"] or ()}
    known_ids = {*roots.values()}
    history = revisions(objects, line["lineage"])
    content: dict[str, Any] = {}
    for position, revision in enumerate(history):
        tree = revision.git_tree
        if tree in roots:
            content = {"root": roots[tree]}
        elif revision.has_changes or not content:
            content = _content(read_folders(objects, tree), known_ids)
        else:
            content = {"root": content["root"]}
        roots[tree] = content["root"]
        time = datetime.fromtimestamp(min(max(revision.time, 0), LATEST), UTC)
        row = {**revision._asdict(), "time": time, "release": revision.release or None}
        yield {"position": position, **row, **content}


def _content(folders: FilesByFolder, known_ids: set[str]) -> dict[str, Any]:
    """The root of a revision, with the sets and the files that are not in `known_ids` yet."""
    sets = []
    for path, names in folders:
        tree = _digest(tuple(names))
        files = None if tree in known_ids else [{"name": printable(name), "blob": blob} for name, blob in names]
        sets.append({"directory": printable(path), "tree": tree, "files": files})
    root = _digest([(item["directory"], item["tree"]) for item in sets])
    is_known = root in known_ids
    known_ids.update((root, *(str(item["tree"]) for item in sets)))
    return {"root": root, "sets": None if is_known else sets}


def _digest(value: object) -> str:
    return sha1(repr(value).encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()


def read_blobs(blobs: Iterable[Row]) -> Iterator[Row]:
    """The rows of the table `blobs` of ids with locations, sorted by location."""
    try:
        for location, rows in groupby(blobs, itemgetter("location")):
            while some := [row["blob"] for row in islice(rows, AT_ONCE)]:
                yield from _blobs(location, some)
    finally:
        close()


def _blobs(location: str, blobs: Sequence[str]) -> Iterator[Row]:
    problem = "it has no longer this object"
    try:
        objects = open_repository(location).find_all(blobs)
    except (SourceError, OSError) as error:
        objects, problem = [None] * len(blobs), str(error)
    for blob, item in zip(blobs, objects, strict=True):
        if item is None:
            yield {"blob": blob, "kind": "unreadable", "problem": text(f"{location}: {problem}")}
        else:
            kind = kind_of(item.data)
            yield {"blob": blob, "kind": kind, "data": None if kind == "other" else item.data}
