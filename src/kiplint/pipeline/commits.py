"""Histories: the revisions of a branch or of all tags, in order, and the definitions' folders in each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from kiplint.sources.git import FILE, Objects
from kiplint.sources.history import version_key
from kiplint.sources.schema_files import SourceError
from kiplint.sources.tree import by_folder
from kiplint.text.words import did_you_mean

TAGS = "tags"
_COMMIT_TEXT: Final = ("--encoding=UTF-8", "--no-color", "--format=%H %T %ct%n%P%n%aN%n%B%x00")
_KIP: Final = re.compile(r"\bKIP-([0-9]{1,5})\b", re.IGNORECASE)
_JIRA: Final = re.compile(r"\bKAFKA-[0-9]{1,7}\b")
_OTHER_JIRA: Final = re.compile(r"(?:\[[^\]]{0,80}\]\s*)*\[?([A-Z][A-Z0-9]{1,15}-[0-9]{1,7})\b")
_PULL_REQUEST: Final = re.compile(r"\(#([0-9]{1,9})\)\s*\Z|\AMerge pull request #([0-9]{1,9})\b")


class Revision(NamedTuple):
    """A revision: the ids of its commit and tree, its time in seconds since 1970, and its tag or nothing.

    `subject` is the first line of its message. `kips` and `jiras` are as they are written (KIP-1313, KAFKA-1), each
    once and in order; `pull_request` is the number that GitHub puts behind the first line of a squashed commit, or
    before that of a merge.
    """

    commit: str
    git_tree: str
    time: int
    author: str = ""
    parents: tuple[str, ...] = ()
    subject: str = ""
    pull_request: int | None = None
    kips: tuple[str, ...] = ()
    jiras: tuple[str, ...] = ()
    release: str = ""


class Folder(NamedTuple):
    """A folder with JSON files: its path from the top, and the ids of its files by name."""

    path: str
    files: tuple[tuple[str, str], ...]


def branch(objects: Objects, name: str) -> list[Revision]:
    """The commits of a branch along first parents, the oldest first; raises SourceError when there is no such one."""
    return list(_commits(objects, "--first-parent", "--reverse", tip(objects, name)))


def tip(objects: Objects, name: str) -> str:
    """The id of the newest commit of a branch; raises SourceError when there is no such one."""
    if not name.startswith("-") and (commit := objects.find(f"{name}^{{commit}}")):
        return commit.id
    names = objects.run("for-each-ref", "--format=%(refname:lstrip=2)").splitlines()
    hint = did_you_mean(name, names, numbered=False) or (f"; there are {', '.join(names[:5])}" if names else "")
    raise SourceError(f"no such branch in {objects.where}: {name}{hint}")


def _commits(objects: Objects, *which: str) -> Iterator[Revision]:
    """The commits that `git rev-list` lists; raises SourceError where it fails."""
    records = objects.run("rev-list", *_COMMIT_TEXT, *which, "--").split("\0")
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
    other = _OTHER_JIRA.match(subject)
    jiras = [other[1]] if other and not other[1].startswith("KIP-") else []
    return {
        "subject": subject,
        "pull_request": int(request[1] or request[2]) if request else None,
        "kips": tuple(dict.fromkeys(f"KIP-{int(number)}" for number in _KIP.findall(message))),
        "jiras": tuple(dict.fromkeys([*jiras, *_JIRA.findall(message)])),
    }


def tags(objects: Objects, pattern: str = "*") -> list[Revision]:
    """The tagged commits in the order of `version_key`; tags without a version are not releases.

    `pattern` is one or several globs, with commas between them; a tag is chosen that one of them matches, but none of
    those that begin with `!`. Raises SourceError when there is none.
    """
    globs = [glob for glob in pattern.split(",") if glob]
    includes = [glob for glob in globs if not glob.startswith("!")] or ["*"]
    excludes = [glob[1:] for glob in globs if glob.startswith("!")]
    commit = "%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)"
    refs = objects.run("for-each-ref", f"--format={commit} %(refname:strip=2)", "refs/tags").splitlines()
    commits = {row.commit: row for row in _commits(objects, "--no-walk=unsorted", "--tags")} if refs else {}
    revisions = [
        commits[commit]._replace(release=name)
        for commit, name in (ref.split(" ", 1) for ref in refs)
        if commit in commits and version_key(name)[0] and _is_one(name, includes) and not _is_one(name, excludes)
    ]
    if not revisions:
        like = "" if pattern == "*" else f" like {pattern}"
        raise SourceError(f"no tag with a version{like} in {objects.where}")
    return sorted(revisions, key=lambda revision: version_key(revision.release))


def _is_one(name: str, globs: list[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def folders_of(objects: Objects, tree: str) -> tuple[Folder, ...]:
    """The folders with JSON files of a tree, by its id; raises SourceError for damage and for too large a tree."""
    entries = objects.entries(tree, objects.where)
    files = {entry.path: entry.id for entry in entries if entry.path.endswith(".json") and entry.mode.startswith(FILE)}
    return tuple(Folder(path, tuple(sorted(ids.items()))) for path, ids in sorted(by_folder(files).items()))


def commits_with_json(objects: Objects, name: str) -> set[str]:
    """The ids of the commits of a branch, along first parents, that change a JSON file."""
    return {*objects.run("rev-list", "--first-parent", name, "--", "*.json").split()}


class Inner(NamedTuple):
    """A commit inside a merge: its id, author and first line."""

    commit: str
    author: str
    subject: str


def inner_commit(objects: Objects, merge: str, path: str) -> Inner | None:
    """The last commit between a merge's first parent and the merge that changed a file, or None.

    None also for a shallow history, and for a path that git quotes. Raises SourceError.
    """
    options = ("-1", "--no-merges", "--encoding=UTF-8", "--format=%H%x00%aN%x00%s")
    commits = objects.run("rev-list", *options, f"{merge}^1..{merge}", "--", f":(literal){path}")
    words = commits.partition("\n")[2].rstrip("\n").split("\0")
    return Inner(*words) if len(words) == 3 else None
