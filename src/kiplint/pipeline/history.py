"""Lines of history: what the user names, and the functions of the tasks that read them from git."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha1
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

import pyarrow as pa

from kiplint.engine.errors import UsageError
from kiplint.pipeline.commits import FilesByFolder, is_of_tags, read_folders, revisions, tip
from kiplint.pipeline.rows import Row, batches, rows_of, text
from kiplint.sources.cleanup import close
from kiplint.sources.git import open_repository
from kiplint.sources.open import ARCHIVES, open_sets
from kiplint.sources.schema_files import SourceError, kind_of
from kiplint.text.show import printable

GIT, FILES = "git", "files"
HISTORY: Final = """
    source STRING, lineage STRING, kind STRING, location STRING, position INT, commit STRING, time TIMESTAMP,
    release STRING, git_tree STRING, root STRING, author STRING, subject STRING, parents ARRAY<STRING>,
    pull_request INT, kips ARRAY<STRING>, jiras ARRAY<STRING>, problem STRING,
    sets ARRAY<STRUCT<directory: STRING, tree: STRING, files: ARRAY<STRUCT<name: STRING, blob: STRING>>>>"""
"""A row for each revision; `sets` where its root is new to the line, and `files` where the set is. Or one problem."""
AT_ONCE: Final = 500
"""How many contents are read in one request."""
_NAME: Final = re.compile(r"\w[\w.-]*", re.ASCII)
Reader = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class Line(NamedTuple):
    """A line of history, as a row of the table `sources`: a branch, tags, or a directory or archive without history."""

    source: str
    lineage: str
    kind: str
    location: str
    state: str = ""
    rules_id: str = ""
    upstream: bool = False
    is_shallow: bool = False
    as_of: datetime | None = None
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
    path = os.path.realpath(path)
    is_files = path.lower().endswith(ARCHIVES) or (os.path.isdir(path) and not _is_repository(path))
    if is_files and ref:
        raise UsageError(f"{path} is not a git repository, and has no {ref}")
    return Line(name, "" if is_files else ref or "HEAD", FILES if is_files else GIT, path)


def _is_repository(path: str) -> bool:
    """Whether a directory is a git repository: the top of a work tree, or a bare one."""
    is_bare = os.path.isfile(os.path.join(path, "HEAD")) and os.path.isdir(os.path.join(path, "objects"))
    return is_bare or os.path.lexists(os.path.join(path, ".git"))


def with_state(line: Line) -> Line:
    """The line as it is now. Raises SourceError and OSError where it cannot be read; threads may call it."""
    if not os.path.lexists(line.location):
        raise SourceError(f"no such file or directory: {line.location}")
    if line.kind == FILES:
        return line._replace(state=_digest(_folders_of_files(line.location)))
    objects = open_repository(line.location)
    if is_of_tags(line.lineage):
        commits = repr([(revision.release, revision.commit) for revision in revisions(objects, line.lineage)])
    else:
        commits = objects.run("rev-list", "--first-parent", tip(objects, line.lineage), "--")
    is_shallow = objects.run("rev-parse", "--is-shallow-repository").strip() == "true"
    return line._replace(state=_digest((commits, is_shallow)), is_shallow=is_shallow)


def read_histories(schema: pa.Schema) -> Reader:
    """The function that turns lines, each with the roots of the git trees that are known, into rows of `HISTORY`."""

    def read(lines: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for line in rows_of(lines):
            common = {name: line[name] for name in ("source", "lineage", "kind", "location")}
            try:
                yield from batches(schema, ({**common, **row} for row in _history(line)), 64)
            except (SourceError, OSError, RecursionError) as error:
                yield from batches(schema, [{**common, "problem": text(str(error))}])
            finally:
                close()  # git, and what it has unpacked: Spark keeps this process for the next task

    return read


def _history(line: Row) -> Iterator[Row]:
    if line["kind"] == FILES:
        folders = _folders_of_files(line["location"])
        yield {"position": 0, "commit": "", "git_tree": "", "author": "", "subject": "", **_content(folders, set())}
        return
    objects = open_repository(line["location"])
    roots = {known["git_tree"]: known["root"] for known in line["known"] or ()}
    known = {*roots.values()}
    history = revisions(objects, line["lineage"])
    new = list(dict.fromkeys(revision.git_tree for revision in history if revision.git_tree not in roots))
    folders_by_tree = read_folders(objects, new)
    for position, revision in enumerate(history):
        tree = revision.git_tree
        content = {"root": roots[tree]} if tree in roots else _content(next(folders_by_tree), known)
        roots[tree] = content["root"]
        row = {**revision._asdict(), "time": _time(revision.time), "release": revision.release or None}
        yield {"position": position, **row, **content}


def _content(folders: FilesByFolder, known: set[str]) -> dict[str, Any]:
    """The root of a revision, with the sets and the files that are not `known` yet."""
    sets = []
    for path, names in folders:
        tree = _digest(tuple(names))
        files = None if tree in known else [{"name": printable(name), "blob": blob} for name, blob in names]
        sets.append({"directory": printable(path), "tree": tree, "files": files})
    root = _digest([(item["directory"], item["tree"]) for item in sets])
    is_known = root in known
    known.update((root, *(str(item["tree"]) for item in sets)))
    return {"root": root, "sets": None if is_known else sets}


def _time(seconds: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):  # whoever makes a commit can write any number
        return None


def _folders_of_files(location: str) -> FilesByFolder:
    return [
        (files.relative, [(file.path.rpartition("/")[2], _blob_id(file.data)) for file in files.files])
        for files in open_sets([location], lambda path: True)
    ]


def _blob_id(data: bytes) -> str:
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def _digest(value: object) -> str:
    return sha1(repr(value).encode("utf-8", "surrogateescape"), usedforsecurity=False).hexdigest()


def read_blobs(schema: pa.Schema) -> Reader:
    """The function that turns rows of kind, location and blob, sorted by location, into rows of the table `blobs`."""

    def read(places: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        try:
            for batch in places:
                for at in range(0, batch.num_rows, AT_ONCE):
                    rows = batch.slice(at, AT_ONCE).to_pylist()
                    groups = groupby(rows, itemgetter("kind", "location"))
                    yield from batches(schema, (row for group in groups for row in _blobs(*group)))
        finally:
            close()

    return read


def _blobs(place: tuple[str, str], rows: Iterable[Row]) -> Iterator[Row]:
    kind, location = place
    blobs = [row["blob"] for row in rows]
    texts: Mapping[str, bytes] = {}
    problem = "it has no longer this object"
    try:
        texts = _texts_of_git(location, blobs) if kind == GIT else _texts_of_files(location)
    except (SourceError, OSError) as error:
        problem = str(error)
    for blob in blobs:
        if (data := texts.get(blob)) is None:
            yield {"blob": blob, "kind": "unreadable", "problem": text(f"{location}: {problem}")}
        else:
            content = kind_of(data)
            yield {"blob": blob, "kind": content, "size": len(data), "data": None if content == "other" else data}


def _texts_of_git(location: str, blobs: Sequence[str]) -> dict[str, bytes]:
    objects = zip(blobs, open_repository(location).find_all(blobs), strict=True)
    return {blob: found.data for blob, found in objects if found}


@lru_cache(1)
def _texts_of_files(location: str) -> dict[str, bytes]:
    """The contents of a directory or archive by their ids."""
    files = (file.data for some in open_sets([location], lambda path: True) for file in some.files)
    return {_blob_id(data): data for data in files}
