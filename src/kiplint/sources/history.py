"""Histories: the revisions of a branch or of all tags, in order, and the definitions' folders in each of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from hashlib import sha1
from typing import NamedTuple

from kiplint.sources.commit_text import CommitText, commits
from kiplint.sources.git import DEEPEST, FOLDER, MOST_ENTRIES, entries, is_json
from kiplint.sources.objects import Objects
from kiplint.sources.schema_files import SourceError, is_walked, nearest

TAGS = "tags"
MOST_KEPT = 200_000
"""How many folders a walker remembers, so that its memory has an end."""

MOST_FOLDERS = 100_000
"""How many folders with JSON files a tree may have. Trees that share their parts can have billions, in little room."""


_PLAIN = re.compile(r"\w[\w/-]*(?:\.[\w/-]+)*")
"""Names that can only be that of one commit: no range, no several commits, no option."""


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
        """A folder that git gives no id, or not that of these files alone."""
        return cls(path, sha1(repr(files).encode(), usedforsecurity=False).hexdigest(), files)


def branch(objects: Objects, name: str) -> list[Revision]:
    """The commits of a branch along first parents, the oldest first; raises SourceError when there is no such one."""
    if not _PLAIN.fullmatch(name):
        _require_commit(objects, name)
    told = commits(objects, "--first-parent", "--reverse", name)
    found = [Revision(one.id, one.tree, one.time, "", one.text) for one in told]
    if not found:
        _require_commit(objects, name)
        raise SourceError(f"git cannot list the commits of {name} in {objects.where}")
    return found


def _require_commit(objects: Objects, name: str) -> None:
    if name.startswith("-") or objects.find(f"{name}^{{commit}}") is None:
        known = objects.run("for-each-ref", "--format=%(refname:lstrip=2)").splitlines()
        hint = nearest(name, known) or (f"; there are {', '.join(known[:5])}" if known else "")
        raise SourceError(f"no such branch in {objects.where}: {name}{hint}")


def tags(objects: Objects, pattern: str = "*") -> list[Revision]:
    """The tagged commits in the order of `version_key`; tags without a version are no releases.

    `pattern` is one or several globs, with commas between them; a tag is chosen that one of them matches, but none of
    those that begin with `!`. Raises SourceError when there is none.
    """
    globs = [one for one in pattern.split(",") if one]
    wanted, unwanted = (
        ([one for one in globs if not one.startswith("!")] or ["*"]),
        [g[1:] for g in globs if g[0] == "!"],
    )
    inner, outer = ("%(*objectname) %(*tree) %(*committerdate:unix)", "%(objectname) %(tree) %(committerdate:unix)")
    shown = objects.run("for-each-ref", f"--format=%(refname:strip=2)%00{inner}%00{outer}", "refs/tags")
    found = []
    for line in shown.splitlines():
        name, *places = line.split("\0")
        words = next((place.split() for place in places if len(place.split()) == 3), None)
        if words and version_key(name)[0] and _is_one(name, wanted) and not _is_one(name, unwanted):
            found.append(Revision(words[0], words[1], int(words[2]), name))
    if not found:
        like = "" if pattern == "*" else f" like {pattern}"
        raise SourceError(f"no tag with a version{like} in {objects.where}")
    texts = {one.id: one.text for one in commits(objects, "--no-walk=unsorted", "--tags")}
    told = (one._replace(text=texts.get(one.commit, one.text)) for one in found)
    return sorted(told, key=lambda one: version_key(one.release))


def _is_one(name: str, globs: list[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def version_key(tag: str) -> tuple[list[int], bool, list[int], str]:
    """What sorts tags by version: the numbers of the first dotted group, a release candidate before its release."""
    match = re.search(r"[0-9]{1,9}(?:\.[0-9]{1,9})+", tag)
    if match is None:
        return [], False, [], tag
    rest = tag[match.end() :]
    later = [int(number) for number in re.findall(r"[0-9]{1,9}", rest)]
    return [int(number) for number in match[0].split(".")], not rest, later, tag


class _Known(NamedTuple):
    """What a walker remembers of a tree: its JSON files, and the trees below that have some, by name."""

    files: tuple[tuple[str, str], ...]
    below: tuple[tuple[str, str], ...]


class Walker:
    """Finds the folders with JSON files in many trees of one repository; what trees share is looked at once."""

    def __init__(self, objects: Objects) -> None:
        self._objects = objects
        self._known: dict[str, _Known] = {}

    def folders(self, tree: str) -> Iterator[Folder]:
        """The folders of a tree; raises SourceError for damage, and for more than a definition tree can hold."""
        if len(self._known) > MOST_KEPT:
            self._known.clear()
        self._look(tree, 0)
        waiting = [("", tree)]
        folders = files = 0
        while waiting:
            path, one = waiting.pop()
            known = self._known[one]
            if known.files:
                yield Folder(path, one, known.files)
            folders += bool(known.files)
            files += len(known.files)
            waiting += [(f"{path}/{name}".lstrip("/"), inner) for name, inner in reversed(known.below)]
            if max(files, len(waiting)) > MOST_ENTRIES or folders > MOST_FOLDERS:
                raise SourceError(
                    f"{self._objects.where} holds more than {MOST_FOLDERS} folders or {MOST_ENTRIES} files"
                )

    def _look(self, tree: str, depth: int) -> bool:
        """Whether a tree has JSON files at any depth; remembers where."""
        if tree not in self._known:
            if depth > DEEPEST:
                raise SourceError(f"{self._objects.where} holds folders more than {DEEPEST} deep")
            found = list(entries(self._objects.read([tree])[0]))
            files = tuple((one.name, one.id) for one in found if is_json(one))
            folders = [(one.name, one.id) for one in found if one.mode == FOLDER and is_walked(one.name)]
            self._known[tree] = _Known(files, tuple(one for one in folders if self._look(one[1], depth + 1)))
        return any(self._known[tree])
