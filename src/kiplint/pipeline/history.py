"""Lines of history: what the user names, and the functions of the tasks that read them from git."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from hashlib import sha1
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple

import pyarrow as pa

from kiplint.engine.errors import UsageError
from kiplint.pipeline.commits import TAGS, Folder, Revision, branch, commits_with_json, folders_of, tags, tip
from kiplint.pipeline.rows import Row, batches, rows_of, text
from kiplint.sources.cleanup import close
from kiplint.sources.git import Objects, is_repository, open_repository
from kiplint.sources.history import is_candidate
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
    """A line of history: a branch, the tags of a repository, or a directory or archive, whose lineage is empty.

    `state` stands for the revisions that it leads to: another one where there is something new.
    """

    source: str
    lineage: str
    kind: str
    location: str
    state: str = ""
    is_shallow: bool = False

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
    is_files = path.lower().endswith(ARCHIVES) or (os.path.isdir(path) and not is_repository(path))
    if is_files and ref:
        raise UsageError(f"{path} is not a git repository, and has no {ref}")
    return Line(name, "" if is_files else ref or "HEAD", FILES if is_files else GIT, path)


def with_state(line: Line) -> Line:
    """The line as it is now. Raises SourceError and OSError where it cannot be read; threads may call it."""
    if not os.path.lexists(line.location):
        raise SourceError(f"no such file or directory: {line.location}")
    if line.kind == FILES:
        return line._replace(state=_digest(_folders_of_files(line.location)))
    objects = open_repository(line.location)
    if _is_of_tags(line.lineage):
        tips = [(revision.release, revision.commit) for revision in _revisions(objects, line.lineage)]
    else:
        tips = [(line.lineage, tip(objects, line.lineage))]
    is_shallow = objects.run("rev-parse", "--is-shallow-repository").strip() == "true"
    boundary = objects.run("rev-list", "--max-parents=0", "--all") if is_shallow else ""
    return line._replace(state=_digest((tips, boundary)), is_shallow=is_shallow)


def _is_of_tags(lineage: str) -> bool:
    return lineage.partition("=")[0] == TAGS


def _revisions(objects: Objects, lineage: str) -> list[Revision]:
    """The commits of a branch along first parents, or the releases in the order of their versions."""
    if not _is_of_tags(lineage):
        return branch(objects, lineage)
    glob = lineage.partition("=")[2]
    found = tags(objects, glob or "*")
    releases = [revision for revision in found if glob or not is_candidate(revision.release)]
    if not releases:
        raise SourceError(f"no release in {objects.where}: #tags=* takes its {len(found)} release candidates and betas")
    return releases


def read_histories(schema: pa.Schema) -> Reader:
    """The function that turns lines, each with the roots of the git trees that are known, into rows of `HISTORY`."""

    def read(lines: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for line in rows_of(lines):
            common = {name: line[name] for name in ("source", "lineage", "kind", "location")}
            try:
                yield from batches(schema, ({**common, **row} for row in _history(line)), 64)
            except (SourceError, OSError) as error:
                yield from batches(schema, [{**common, "problem": str(error)}])
            finally:
                close()  # git, and what it has unpacked: Spark keeps this process for the next task

    return read


def _history(line: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if line["kind"] == FILES:
        folders = _folders_of_files(line["location"])
        yield {"position": 0, "commit": "", "git_tree": "", "author": "", "subject": "", **_content(folders, set())}
        return
    objects = open_repository(line["location"])
    revisions = _revisions(objects, line["lineage"])
    roots = {known["git_tree"]: known["root"] for known in line["known"] or ()}
    changed = None if _is_of_tags(line["lineage"]) else commits_with_json(objects, line["lineage"])
    known = {*roots.values()}
    root = None
    for position, revision in enumerate(revisions):
        content = {"root": roots.get(revision.git_tree)}
        if content["root"] is None and root and changed is not None and revision.commit not in changed:
            content["root"] = root
        elif content["root"] is None:
            content = _content(folders_of(objects, revision.git_tree), known)
        root = roots[revision.git_tree] = content["root"]
        row = {**revision._asdict(), "time": _time(revision.time), "release": revision.release or None}
        yield {"position": position, **row, **content}


def _content(folders: Sequence[Folder], known: set[str]) -> dict[str, Any]:
    """The root of a revision, with the sets and the files that are not `known` yet."""
    sets = []
    for folder in folders:
        tree = _digest(folder.files)
        files = None if tree in known else [{"name": printable(name), "blob": blob} for name, blob in folder.files]
        sets.append({"directory": printable(folder.path), "tree": tree, "files": files})
    root = _digest([(item["directory"], item["tree"]) for item in sets])
    is_known = root in known
    known.update((root, *(str(item["tree"]) for item in sets)))
    return {"root": root, "sets": None if is_known else sets}


def _time(seconds: int) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):  # whoever makes a commit can write any number
        return None


def _folders_of_files(location: str) -> list[Folder]:
    return [
        Folder(files.relative, tuple((file.path.rpartition("/")[2], _blob_id(file.data)) for file in files.files))
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
                rows = batch.to_pylist()
                some = (rows[at : at + AT_ONCE] for at in range(0, len(rows), AT_ONCE))
                yield from batches(schema, (row for group in some for row in _blobs(group)), 200)
        finally:
            close()

    return read


def _blobs(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows of the table `blobs`, those of a place read in one request."""
    for (kind, location), group in groupby(rows, itemgetter("kind", "location")):
        blobs = [row["blob"] for row in group]
        try:
            texts = _texts_in_git(location, blobs) if kind == GIT else _texts(location)
            problem = f"{location}: it has no longer this object"
        except (SourceError, OSError) as error:
            texts, problem = {}, f"{location}: {error}"
        for blob in blobs:
            if blob in texts:
                data = texts[blob]
                content = kind_of(data)
                yield {"blob": blob, "kind": content, "size": len(data), "data": None if content == "other" else data}
            else:
                yield {"blob": blob, "kind": "unreadable", "problem": problem}


def _texts_in_git(location: str, blobs: Sequence[str]) -> dict[str, bytes]:
    """The contents of blobs by their ids, without those that the repository lacks."""
    objects = zip(blobs, open_repository(location).find_all(blobs), strict=True)
    return {blob: found.data for blob, found in objects if found}


@lru_cache(1)
def _texts(location: str) -> dict[str, bytes]:
    """The contents of a directory or archive by their ids."""
    files = (file.data for some in open_sets([location], lambda path: True) for file in some.files)
    return {_blob_id(data): data for data in files}
