"""Lines of history: how the user names them, and how tasks read their revisions and contents from git."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from hashlib import sha1
from typing import Any, Final, NamedTuple

from kiplint.engine.errors import UsageError
from kiplint.pipeline.rows import Row, escape_non_utf8
from kiplint.sources.cleanup import close
from kiplint.sources.git import FILE, GitObject, Objects, open_repository, version_key
from kiplint.sources.schema_files import SourceError, by_folder, kind_of
from kiplint.text.show import printable
from kiplint.text.words import did_you_mean

HISTORY: Final = """
    source STRING, lineage STRING, location STRING, position INT, commit STRING, time TIMESTAMP,
    release STRING, git_tree STRING, root STRING, author STRING, subject STRING, parents ARRAY<STRING>,
    pull_request INT, kips ARRAY<STRING>, problem STRING,
    sets ARRAY<STRUCT<directory: STRING, tree: STRING, files: ARRAY<STRUCT<name: STRING, blob: STRING>>>>"""
"""A row for each revision of a line, or one with a `problem` where the line cannot be read.

`sets` is null where the lake or an earlier row has the root, and `files` where it has the tree.
"""
BLOBS_PER_REQUEST: Final = 500
LATEST_TIME: Final = 253_402_300_799
"""The last second of the year 9999: a commit can have any number as its time."""
_NAME: Final = re.compile(r"\w[\w.-]*", re.ASCII)
_COMMIT_FORMAT: Final = ("--encoding=UTF-8", "--no-color", "--format=%H %T %ct%n%P%n%aN%n%B%x00")
_KIP: Final = re.compile(r"\bKIP-([0-9]{1,5})\b", re.IGNORECASE)
_PULL_REQUEST: Final = re.compile(r"\(#([0-9]{1,9})\)\s*\Z|\AMerge pull request #([0-9]{1,9})\b")
_PRERELEASE: Final = re.compile(r"(?:\b|[0-9._-])(?:rc|alpha|beta)(?![a-z])", re.IGNORECASE)


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


class Revision(NamedTuple):
    """A commit on a line of history.

    `time` is in seconds since 1970. `subject` is the first line of the message, and `kips` are those that the message
    names, such as `KIP-848`, each once. `pull_request` is the number in the subject that GitHub writes for a merge.
    `release` is the tag, empty on a branch. `has_changes` is false where no JSON file differs from the commit before.
    """

    commit: str
    git_tree: str
    time: int
    author: str = ""
    parents: tuple[str, ...] = ()
    subject: str = ""
    pull_request: int | None = None
    kips: tuple[str, ...] = ()
    release: str = ""
    has_changes: bool = True


FilesByFolder = list[tuple[str, list[tuple[str, str]]]]
"""The paths of folders, each with the names of its JSON files and the ids of their blobs."""


def read_source(argument: str) -> Line:
    """The line of `NAME=PATH[#branch|tags[=GLOB]]`, by default of HEAD. Raises UsageError for anything else."""
    name, _, location = argument.partition("=")
    path, ref = location, "HEAD"
    if "#" in location and not os.path.lexists(location):  # else the path itself has the sign
        path, _, ref = location.rpartition("#")
    if not path or not _NAME.fullmatch(name):
        raise UsageError(
            f"a source is NAME=PATH, NAME=PATH#branch or NAME=PATH#tags, with letters, digits, hyphens, dots and "
            f"underscores in the name, not {escape_non_utf8(argument)}"
        )
    return Line(name, ref or "HEAD", os.path.realpath(path))


def with_state(line: Line) -> Line:
    """The line with the `state` that its repository has now. Raises SourceError and OSError for an unreadable line."""
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
    """The rows of `HISTORY` of lines, each with `lake_roots`: structs of the `git_tree` and `root` of old revisions."""
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
    """The rows of `HISTORY` of one line. Git lists only trees that the lake lacks and that have other JSON files."""
    objects = open_repository(line["location"])
    roots = {row["git_tree"]: row["root"] for row in line["lake_roots"] or ()}
    known_ids = {*roots.values()}
    root = ""
    for position, revision in enumerate(revisions(objects, line["lineage"])):
        sets = None
        if revision.git_tree in roots:
            root = roots[revision.git_tree]
        elif revision.has_changes or position == 0:
            root, sets = _root_and_sets(read_folders(objects, revision.git_tree), known_ids)
        # else the root is that of the revision before
        roots[revision.git_tree] = root
        yield {
            **revision._asdict(),
            "position": position,
            "time": datetime.fromtimestamp(min(max(revision.time, 0), LATEST_TIME), UTC),
            "release": revision.release or None,
            "root": root,
            "sets": sets,
        }


def _root_and_sets(folders: FilesByFolder, known_ids: set[str]) -> tuple[str, list[dict[str, Any]] | None]:
    """The root of a revision, and its `sets` as a row of `HISTORY` has them: None where the root is in `known_ids`.

    These are the roots and trees of earlier rows and of the lake; the root and the trees of this revision are added.
    """
    sets: list[dict[str, Any]] = []
    for path, named_blobs in folders:
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
    """The rows of the table `blobs` of ids (`blob`), each with a repository that has it (`location`)."""
    ids_by_location: dict[str, list[str]] = defaultdict(list)
    for row in blobs:
        ids_by_location[row["location"]].append(row["blob"])
    try:
        for location, ids in ids_by_location.items():
            for start in range(0, len(ids), BLOBS_PER_REQUEST):
                yield from _read_blobs_of(location, ids[start : start + BLOBS_PER_REQUEST])
    finally:
        close()


def _read_blobs_of(location: str, blobs: Sequence[str]) -> Iterator[Row]:
    """The rows of the table `blobs` of ids of one repository, read in one request to git."""
    objects: Sequence[GitObject | None] = [None] * len(blobs)
    problem = "it has no longer this object"
    try:
        objects = open_repository(location).find_all(blobs)
    except (SourceError, OSError) as error:
        problem = str(error)
    for blob, git_object in zip(blobs, objects, strict=True):
        if git_object is None:
            yield {"blob": blob, "kind": "unreadable", "problem": escape_non_utf8(f"{location}: {problem}")}
            continue
        kind = kind_of(git_object.data)
        yield {"blob": blob, "kind": kind, "data": None if kind == "other" else git_object.data}


def is_of_tags(lineage: str) -> bool:
    """Whether a line of history has the tags of a repository (`tags`, `tags=GLOB`), not the commits of a branch."""
    return lineage == "tags" or lineage.startswith("tags=")


def revisions(objects: Objects, lineage: str) -> list[Revision]:
    """The commits of a branch along first parents, the oldest first, or the releases of tags in the order of versions.

    Raises SourceError where there is no such branch and no such tag.
    """
    if is_of_tags(lineage):
        _, _, glob = lineage.partition("=")
        return _releases(objects, glob)
    newest = tip(objects, lineage)
    changes = {*objects.run("rev-list", "--first-parent", newest, "--", "*.json").split()}
    commits = _commits(objects, "--first-parent", "--reverse", newest)
    return [revision._replace(has_changes=not changes or revision.commit in changes) for revision in commits]


def tip(objects: Objects, branch: str) -> str:
    """The id of the newest commit of a branch. Raises SourceError where there is no such branch."""
    commit = None if branch.startswith("-") else objects.find(f"{branch}^{{commit}}")  # git would see an option
    if commit:
        return commit.id
    branches = objects.run("for-each-ref", "--format=%(refname:lstrip=2)").splitlines()
    raise SourceError(f"no such branch in {objects.where}: {branch}{did_you_mean(branch, branches, numbered=False)}")


def _releases(objects: Objects, glob: str) -> list[Revision]:
    """The revisions of the tags that have a version and match a glob, or if it is empty, of those of final releases."""
    commit_id = "%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)"
    refs = objects.run("for-each-ref", f"--format={commit_id} %(refname:strip=2)", "refs/tags").splitlines()
    tagged_commits = _commits(objects, "--no-walk=unsorted", "--tags") if refs else ()
    commits = {revision.commit: revision for revision in tagged_commits}
    releases: list[Revision] = []
    for ref in refs:
        commit, tag = ref.split(" ", 1)
        has_version = bool(version_key(tag)[0])
        is_meant = fnmatchcase(tag, glob) if glob else not _PRERELEASE.search(tag)
        if commit in commits and has_version and is_meant:
            releases.append(commits[commit]._replace(release=escape_non_utf8(tag)))
    if not releases:
        what = f"no tag with a version like {glob}" if glob else "no release"
        raise SourceError(f"{what} in {objects.where}; #tags=GLOB names tags, those of release candidates too")
    return sorted(releases, key=lambda revision: version_key(revision.release))


def _commits(objects: Objects, *arguments: str) -> Iterator[Revision]:
    """The commits that `git rev-list` lists. Raises SourceError where it fails."""
    output = escape_non_utf8(objects.run("rev-list", *_COMMIT_FORMAT, *arguments, "--"))
    if not output:
        raise SourceError(f"git cannot list the commits of {objects.where}")
    for record in output.split("\0")[:-1]:
        _, ids, parents, author, message = record.lstrip("\n").split("\n", 4)  # the first line is `commit ID`
        commit, tree, time = ids.split()
        yield Revision(commit, tree, int(time), author, tuple(parents.split()), **read_message(message))


def read_message(message: str) -> dict[str, Any]:
    """What the message of a commit says: `subject`, `pull_request` and `kips`, as a Revision has them."""
    subject = message.strip().partition("\n")[0].strip()
    request = _PULL_REQUEST.search(subject)
    return {
        "subject": subject,
        "pull_request": int(request[1] or request[2]) if request else None,
        "kips": tuple(dict.fromkeys(f"KIP-{int(number)}" for number in _KIP.findall(message))),
    }


def read_folders(objects: Objects, tree: str) -> FilesByFolder:
    """The folders of a tree that have JSON files. Raises SourceError for damage and for too large a tree."""
    entries = objects.entries(tree, objects.where)
    files = {entry.path: entry.id for entry in entries if entry.mode.startswith(FILE) and entry.path.endswith(".json")}
    return [(folder, sorted(ids.items())) for folder, ids in sorted(by_folder(files).items())]
