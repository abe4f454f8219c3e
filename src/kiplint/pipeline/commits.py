"""Histories: the revisions of a branch or of all tags, in order, and the definitions' folders in each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from kiplint.pipeline.rows import text
from kiplint.sources.git import FILE, Objects, version_key
from kiplint.sources.schema_files import SourceError, by_folder
from kiplint.text.words import did_you_mean

_COMMIT_TEXT: Final = ("--encoding=UTF-8", "--no-color", "--format=%H %T %ct%n%P%n%aN%n%B%x00")
_KIP: Final = re.compile(r"\bKIP-([0-9]{1,5})\b", re.IGNORECASE)
_PULL_REQUEST: Final = re.compile(r"\(#([0-9]{1,9})\)\s*\Z|\AMerge pull request #([0-9]{1,9})\b")


class Revision(NamedTuple):
    """A revision: the ids of its commit and tree, its time in seconds since 1970, and its tag or nothing.

    `subject` is the first line of its message. `kips` are those that the message names, each once and in order, and
    `pull_request` is the number that GitHub puts behind the first line of a squashed commit, or before that of a merge.
    It `has_changes` where it may have other JSON files than the one before.
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
"""The paths of folders, each with the names of its JSON files and their ids."""


def is_of_tags(lineage: str) -> bool:
    """Whether a line of history has the tags of a repository: `tags`, or `tags=GLOB`."""
    return lineage.partition("=")[0] == "tags"


def revisions(objects: Objects, lineage: str) -> list[Revision]:
    """The commits of a branch along first parents, the oldest first, or the releases in the order of their versions.

    Tags without a version are not releases, and without a glob candidates and betas are none. Raises SourceError where
    there is no such branch and no such tag.
    """
    if is_of_tags(lineage):
        return _releases(objects, lineage.partition("=")[2])
    newest = tip(objects, lineage)
    changes = {*objects.run("rev-list", "--first-parent", newest, "--", "*.json").split()}
    commits = _commits(objects, "--first-parent", "--reverse", newest)
    return [revision._replace(has_changes=not changes or revision.commit in changes) for revision in commits]


def tip(objects: Objects, name: str) -> str:
    """The id of the newest commit of a branch; raises SourceError when there is no such one."""
    if not name.startswith("-") and (commit := objects.find(f"{name}^{{commit}}")):
        return commit.id
    names = objects.run("for-each-ref", "--format=%(refname:lstrip=2)").splitlines()
    hint = did_you_mean(name, names, numbered=False) or (f"; there are {', '.join(names[:5])}" if names else "")
    raise SourceError(f"no such branch in {objects.where}: {name}{hint}")


def _releases(objects: Objects, glob: str) -> list[Revision]:
    commit = "%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)"
    refs = objects.run("for-each-ref", f"--format={commit} %(refname:strip=2)", "refs/tags").splitlines()
    commits = {row.commit: row for row in _commits(objects, "--no-walk=unsorted", "--tags")} if refs else {}
    releases = [
        commits[commit]._replace(release=text(name))
        for commit, name in (ref.split(" ", 1) for ref in refs)
        if commit in commits and version_key(name)[0] and (fnmatchcase(name, glob) if glob else not _is_candidate(name))
    ]
    if not releases:
        what = f"no tag with a version like {glob}" if glob else "no release"
        raise SourceError(f"{what} in {objects.where}; #tags=GLOB names tags, those of release candidates too")
    return sorted(releases, key=lambda revision: version_key(revision.release))


def _is_candidate(tag: str) -> bool:
    """Whether a tag names a release candidate, an alpha or a beta."""
    return re.search(r"(?:\b|[0-9._-])(?:rc|alpha|beta)(?![a-z])", tag, re.IGNORECASE) is not None


def _commits(objects: Objects, *which: str) -> Iterator[Revision]:
    """The commits that `git rev-list` lists; raises SourceError where it fails."""
    records = text(objects.run("rev-list", *_COMMIT_TEXT, *which, "--")).split("\0")
    if not records[0]:
        raise SourceError(f"git cannot list the commits of {objects.where}")
    for record in records[:-1]:
        _, ids, parents, author, message = record.lstrip("\n").split("\n", 4)  # the first line is `commit ID`
        commit, tree, time = ids.split()
        yield Revision(commit, tree, int(time), author, tuple(parents.split()), **read_message(message))


def read_message(message: str) -> dict[str, Any]:
    """What a commit's message says, by the names of a Revision."""
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
    return [(path, sorted(names.items())) for path, names in sorted(by_folder(files).items())]
