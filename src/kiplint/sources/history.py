"""Histories: the revisions of a branch or of all tags, in order, and the definitions' folders in each of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Final, NamedTuple

from kiplint.limits import GIT_ENTRIES, GIT_FOLDERS, GIT_LEVELS
from kiplint.sources.git import FILE, FOLDER, Objects, entries, is_json, is_revision, open_repository
from kiplint.sources.schema_files import SourceError, is_walked
from kiplint.text.words import did_you_mean

_COMMIT_TEXT: Final = ("--encoding=UTF-8", "--no-color", "--format=%H %T %ct%n%P%n%aN%n%aE%n%B%x00")
_KIP: Final = re.compile(r"\bKIP-([0-9]{1,5})\b", re.IGNORECASE)
_JIRA: Final = re.compile(r"\bKAFKA-[0-9]{1,7}\b")
_OTHER_JIRA: Final = re.compile(r"(?:\[[^\]]{0,80}\]\s*)*\[?([A-Z][A-Z0-9]{1,15}-[0-9]{1,7})\b")
_PULL_REQUEST: Final = re.compile(r"\(#([0-9]{1,9})\)\s*\Z|\AMerge pull request #([0-9]{1,9})\b")


class CommitText(NamedTuple):
    """A commit's author, by name and mail address, its parents, and the first line and the numbers of its message.

    `kips` and `jiras` are as they are written (KIP-1313, KAFKA-1), each once and in order; `pull_request` is that which
    GitHub puts behind the first line of a squashed commit, or before that of a merge.
    """

    author: str = ""
    subject: str = ""
    parents: tuple[str, ...] = ()
    pull_request: int | None = None
    kips: tuple[str, ...] = ()
    jiras: tuple[str, ...] = ()
    mail: str = ""


class Commit(NamedTuple):
    """A commit: its id, the id of its tree, its time in seconds since 1970, and its text."""

    id: str
    tree: str
    time: int
    text: CommitText


def commits(objects: Objects, *which: str) -> Iterator[Commit]:
    """The commits that `git rev-list` lists, none where it fails."""
    for record in objects.run("rev-list", *_COMMIT_TEXT, *which, "--").split("\0"):
        lines = record.lstrip("\n").split("\n", 5)
        if len(lines) == 6:  # the first one is `commit ID`
            commit, tree, time = lines[1].split()
            yield Commit(commit, tree, int(time), commit_text(*lines[2:]))


def commit_text(parents: str, author: str, mail: str, message: str) -> CommitText:
    """Parse a commit's message."""
    subject = message.strip().partition("\n")[0].strip()
    request = _PULL_REQUEST.search(subject)
    other = _OTHER_JIRA.match(subject)
    kips = (f"KIP-{int(number)}" for number in _KIP.findall(message))
    jiras = [other[1]] if other and not other[1].startswith("KIP-") else []
    return CommitText(
        author,
        subject,
        tuple(parents.split()),
        int(request[1] or request[2]) if request else None,
        tuple(dict.fromkeys(kips)),
        tuple(dict.fromkeys([*jiras, *_JIRA.findall(message)])),
        mail,
    )


TAGS = "tags"
MOST_KEPT = 200_000
"""The maximum of folders in a walker's cache."""


_PLAIN = re.compile(r"\w[\w/-]*(?:\.[\w/-]+)*")
"""Names of a single commit: no range, no list of commits, no option."""


class Revision(NamedTuple):
    """A revision: the ids of its commit and of the tree, its time in seconds since 1970, and its tag or nothing.

    `text` is what its commit says.
    """

    commit: str
    tree: str
    time: int
    release: str = ""
    text: CommitText = CommitText()


class Folder(NamedTuple):
    """A folder with JSON files: its path from the top, the id of its tree, and the ids of its files by name."""

    path: str
    id: str
    files: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, path: str, files: tuple[tuple[str, str], ...]) -> Folder:
        """A folder without a usable id in git; its id is a hash of its files."""
        from hashlib import sha1  # takes milliseconds, and a diff of directories needs none

        return cls(path, sha1(repr(files).encode(), usedforsecurity=False).hexdigest(), files)


def branch(objects: Objects, name: str) -> list[Revision]:
    """The commits of a branch along first parents, the oldest first; raises SourceError when there is no such one."""
    if not _PLAIN.fullmatch(name):
        _require_commit(objects, name)
    log = commits(objects, "--first-parent", "--reverse", name)
    revisions = [Revision(commit.id, commit.tree, commit.time, "", commit.text) for commit in log]
    if not revisions:
        _require_commit(objects, name)
        raise SourceError(f"git cannot list the commits of {name} in {objects.where}")
    return revisions


def _require_commit(objects: Objects, name: str) -> None:
    if name.startswith("-") or objects.find(f"{name}^{{commit}}") is None:
        names = objects.run("for-each-ref", "--format=%(refname:lstrip=2)").splitlines()
        hint = did_you_mean(name, names, numbered=False) or (f"; there are {', '.join(names[:5])}" if names else "")
        raise SourceError(f"no such branch in {objects.where}: {name}{hint}")


def tags(objects: Objects, pattern: str = "*") -> list[Revision]:
    """The tagged commits in the order of `version_key`; tags without a version are not releases.

    `pattern` is one or several globs, with commas between them; a tag is chosen that one of them matches, but none of
    those that begin with `!`. Raises SourceError when there is none.
    """
    globs = [glob for glob in pattern.split(",") if glob]
    includes, excludes = (
        ([glob for glob in globs if not glob.startswith("!")] or ["*"]),
        [g[1:] for g in globs if g[0] == "!"],
    )
    inner, outer = ("%(*objectname) %(*tree) %(*committerdate:unix)", "%(objectname) %(tree) %(committerdate:unix)")
    refs = objects.run("for-each-ref", f"--format=%(refname:strip=2)%00{inner}%00{outer}", "refs/tags")
    revisions = []
    for line in refs.splitlines():
        name, *places = line.split("\0")
        words = next((place.split() for place in places if len(place.split()) == 3), None)
        if words and version_key(name)[0] and _is_one(name, includes) and not _is_one(name, excludes):
            revisions.append(Revision(words[0], words[1], int(words[2]), name))
    if not revisions:
        like = "" if pattern == "*" else f" like {pattern}"
        raise SourceError(f"no tag with a version{like} in {objects.where}")
    texts = {commit.id: commit.text for commit in commits(objects, "--no-walk=unsorted", "--tags")}
    revisions_with_text = (revision._replace(text=texts.get(revision.commit, revision.text)) for revision in revisions)
    return sorted(revisions_with_text, key=lambda revision: version_key(revision.release))


def _is_one(name: str, globs: list[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def version_key(tag: str) -> tuple[list[int], bool, list[int], str]:
    """The sort key of a tag: the numbers of its first dotted group, a release candidate before its release."""
    match = re.search(r"[0-9]{1,9}(?:\.[0-9]{1,9})+", tag)
    if match is None:
        return [], False, [], tag
    rest = tag[match.end() :]
    later = [int(number) for number in re.findall(r"[0-9]{1,9}", rest)]
    return [int(number) for number in match[0].split(".")], not rest, later, tag


def is_candidate(tag: str) -> bool:
    """Whether a tag names a release candidate, an alpha or a beta."""
    return re.search(r"(?:\b|[0-9._-])(?:rc|alpha|beta)(?![a-z])", tag, re.IGNORECASE) is not None


def version_tags(repository: str | None = None) -> list[str]:
    """The tags with a version number of a repository (a directory or a bundle), in the order of versions."""
    names = open_repository(repository).run("for-each-ref", "--format=%(refname:lstrip=2)", "refs/tags").splitlines()
    return sorted((name for name in names if version_key(name)[0]), key=version_key)


def target_branches(repository: str | None = None) -> Iterator[str]:
    """The branches that a change may go into, by what CI servers say and by usual names; origin/HEAD by its branch."""
    variables = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CHANGE_TARGET")
    targets = [os.environ[name] for name in variables if os.environ.get(name)]
    usual = ("HEAD", "trunk", "main", "master")
    branches = [f"{remote}/{name}" for remote in ("upstream", "origin") for name in usual]
    for branch in dict.fromkeys([*(f"origin/{name}" for name in targets), *branches, *usual[1:]]):
        if is_revision(branch, repository):
            name = open_repository(repository).run("rev-parse", "--abbrev-ref", branch).strip()
            yield name or branch


class _Tree(NamedTuple):
    """A walker's cache of a tree: its JSON files, and its subtrees with JSON files, by name."""

    files: tuple[tuple[str, str], ...]
    below: tuple[tuple[str, str], ...]


class Walker:
    """Finds the folders with JSON files in many trees of one repository; shared subtrees are read once."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._trees: dict[str, _Tree] = {}

    def folders(self, tree: str) -> Iterator[Folder]:
        """The folders of a tree; raises SourceError for damage, and for more than a definition tree can hold."""
        if len(self._trees) > MOST_KEPT:
            self._trees.clear()
        self._look(tree, 0)
        waiting = [("", tree)]
        folders = files = 0
        while waiting:
            path, tree_id = waiting.pop()
            cache = self._trees[tree_id]
            if cache.files:
                yield Folder(path, tree_id, cache.files)
            folders += bool(cache.files)
            files += len(cache.files)
            waiting += [(f"{path}/{name}".lstrip("/"), inner) for name, inner in reversed(cache.below)]
            if max(files, len(waiting)) > GIT_ENTRIES or folders > GIT_FOLDERS:
                limit = GIT_FOLDERS if folders > GIT_FOLDERS else GIT_ENTRIES
                raise SourceError(limit.exceeded(self._objects.where))

    def _look(self, tree: str, depth: int) -> bool:
        """Whether a tree has JSON files at any depth; remembers where."""
        if tree not in self._trees:
            if depth > GIT_LEVELS:
                raise SourceError(GIT_LEVELS.exceeded(self._objects.where))
            inside = list(entries(self._objects.read([tree])[0]))
            files = tuple((entry.name, entry.id) for entry in inside if is_json(entry))
            folders = [(entry.name, entry.id) for entry in inside if entry.mode == FOLDER and is_walked(entry.name)]
            self._trees[tree] = _Tree(files, tuple(folder for folder in folders if self._look(folder[1], depth + 1)))
        return any(self._trees[tree])


EMPTY = {
    40: "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
    64: "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}
"""The id of the empty tree, which git always has, by the length of ids."""
MOST_BYTES = 256 << 20
SECONDS = 60.0
"""The limits on the output and time of git, because trees that share subtrees can have billions of entries."""
AT_ONCE = 256
"""This many pairs of ids fit into the smallest pipe."""
_COMMAND = ("diff-tree", "--stdin", "-r", "--raw", "-z", "--no-renames", "--no-abbrev", "--", "*.json")
Folders = tuple[Folder, ...]


def follow(objects: Objects, trees: Sequence[str]) -> Iterator[Folders]:
    """The folders of each tree, as a `Walker` has them but for the ids; the same object where nothing is different.

    Raises SourceError for what a walker has to look into: damage, and more than a definition tree can hold.
    """
    ids_by_folder: dict[str, dict[str, str]] = {}
    by_path: dict[str, Folder] = {}
    folders: Folders = ()
    pairs = [*pairwise([EMPTY.get(len(trees[0]), trees[0]), *trees])] if trees else []
    for at in range(0, len(pairs), AT_ONCE):
        some = pairs[at : at + AT_ONCE]
        request = "".join(f"{old} {new}\n" for old, new in some if old != new).encode()
        steps = _steps(objects.tell(_COMMAND, request, MOST_BYTES, SECONDS))
        for old, new in some:
            if old == new:
                yield folders
                continue
            pair, step = next(steps, ("", {}))
            if pair != f"{old} {new}":  # git passes over what it cannot read
                raise SourceError(f"{objects.where} is damaged")
            if _apply(step, ids_by_folder, by_path):
                folders = tuple(by_path[path] for path in sorted(by_path))
                if len(folders) > GIT_FOLDERS or sum(len(folder.files) for folder in folders) > GIT_ENTRIES:
                    raise SourceError(f"{objects.where} holds more than definitions")
            yield folders


def _steps(out: bytes) -> Iterator[tuple[str, dict[str, str]]]:
    """Each pair of trees with its changes: path to the new id of the file, or empty for a removed file."""
    at = 0
    pair, step = "", dict[str, str]()
    while at < len(out):
        if out[at : at + 1] != b":":
            if pair:
                yield pair, step
            end = out.index(b"\n", at)
            pair, step, at = out[at:end].decode(), {}, end + 1
            continue
        middle = out.index(b"\0", at)
        end = out.index(b"\0", middle + 1)
        _, mode, _, blob, _ = out[at:middle].split(b" ")
        path = out[middle + 1 : end].decode("utf-8", "surrogateescape")
        step[path] = blob.decode() if mode.startswith(FILE) else ""
        at = end + 1
    if pair:
        yield pair, step


def _apply(step: dict[str, str], ids_by_folder: dict[str, dict[str, str]], by_path: dict[str, Folder]) -> bool:
    """Apply the changes of a step; returns whether they touch a folder."""
    folders = set()
    for path, blob in step.items():
        folder, _, name = path.rpartition("/")
        parts = folder.split("/") if folder else []
        if len(parts) > GIT_LEVELS:
            raise SourceError(GIT_LEVELS.exceeded("a commit"))
        if all(map(is_walked, parts)):
            folders.add(folder)
            if blob:
                ids_by_folder.setdefault(folder, {})[name] = blob
            else:
                ids_by_folder.get(folder, {}).pop(name, None)
    for folder in folders:
        files = tuple(sorted(ids_by_folder.get(folder, {}).items()))
        if files:
            by_path[folder] = Folder.of(folder, files)
        else:
            by_path.pop(folder, None)
    return bool(folders)


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
