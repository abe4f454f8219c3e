"""Schema sets out of git revisions: `REV:path`, as `git show` takes it. Nothing is checked out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from kiplint.sources.objects import Found, NoRepositoryError, Objects, open_repository
from kiplint.sources.schema_files import SourceError, is_walked, nearest
from kiplint.sources.tree import FileTree, home_of

MOST_ENTRIES = 1_000_000
DEEPEST = 200
AT_ONCE = 64

FOLDER, FILE = b"40000", b"100"
"""The mode of a folder, and how the modes of files begin."""


class Entry(NamedTuple):
    """One entry of a tree object: its mode in octal digits, its name, and the id of what it stands for."""

    mode: bytes
    name: str
    id: str


def open_revision(name: str, repository: str | None = None) -> tuple[FileTree, str]:
    """The tree that `REV:path` names, and the name of the file in it if the path is that of one.

    Raises SourceError for an unknown revision, a missing path and a place that is no repository.
    """
    revision, path = _split(name)
    objects = open_repository(repository)
    try:
        root = objects.find(revision + "^{tree}")
        parts = _parts(name, path, objects)
    except NoRepositoryError as error:
        raise SourceError(f"{error} (and no such file: {name})" if repository is None else str(error)) from None
    if root is None:
        _no_revision(revision, objects)
    walked: list[str] = []
    for at, part in enumerate(parts, 1):
        entry = _entry(revision, walked, part, root)
        if entry.mode.startswith(FILE) and at == len(parts):
            return _tree(name, revision, walked, _siblings(root, entry), objects), part
        if entry.mode != FOLDER:
            what = {b"120000": "a symbolic link", b"160000": "a submodule"}.get(entry.mode, "a file")
            raise SourceError(f"cannot read {revision}:{'/'.join([*walked, part])}: it is {what}")
        walked.append(part)
        root = objects.read([entry.id])[0]
    return _tree(name, revision, walked, _folders(name, root, objects), objects), ""


def is_revision(name: str, repository: str | None = None) -> bool:
    """Whether a name is a revision that exists; False where it cannot be known."""
    try:
        return not name.startswith("-") and open_repository(repository).find(name + "^{tree}") is not None
    except SourceError:
        return False


def is_unborn(revision: str, repository: str | None = None) -> bool:
    """Whether a revision is HEAD of a repository without any commit."""
    if revision != "HEAD" or is_revision(revision, repository):
        return False
    try:
        opened = open_repository(repository)
    except SourceError:
        return False
    return bool(opened.run("rev-parse", "--git-dir")) and not opened.run("rev-list", "--all", "--max-count=1")


def _split(name: str) -> tuple[str, str]:
    """Revision and path: what is before and after the first colon that does not stand in braces."""
    depth = at = 0
    while at < len(name) and (depth or name[at] != ":"):
        depth += {"{": 1, "}": -1 if depth else 0}.get(name[at], 0)
        at += 1
    revision, path = name[:at], name[at + 1 :]
    if at == len(name) or (at == 1 and path[:1] in ("/", "\\")):  # the latter being C:\
        raise SourceError(f"no such file or directory: {name}")
    if not revision:
        raise SourceError(f"{name} names no revision before the colon, as HEAD:path does")
    if revision.startswith("-"):
        raise SourceError(f"a revision cannot begin with a hyphen: {name}")
    return revision, path


def _parts(name: str, path: str, objects: Objects) -> list[str]:
    """The folders and the file of a path from the top of the repository; `./` and `../` begin where we are."""
    parts = [part for part in path.split("/") if part]
    if path.startswith("/") or parts[:1] not in (["."], [".."]):
        return parts
    whole = objects.run("rev-parse", "--show-prefix").removesuffix("\n").split("/")
    whole = [part for part in whole if part]
    for part in parts:
        if part == ".." and not whole:
            raise SourceError(f"{name} leads out of the repository")
        if part == "..":
            whole.pop()
        elif part != ".":
            whole.append(part)
    return whole


def _no_revision(revision: str, objects: Objects) -> NoReturn:
    known = objects.run("for-each-ref", "--format=%(refname:lstrip=2)").splitlines()
    base = re.split("[~^@]", revision, maxsplit=1)[0]
    hint = "" if base in known else nearest(base, known)
    if not hint and objects.run("rev-parse", "--is-shallow-repository").strip() == "true":
        hint = "; the clone is shallow, and `git fetch --unshallow --tags` gets the rest"
    raise SourceError(f"no such revision: {revision}{hint}")


def _entry(revision: str, walked: list[str], part: str, tree: Found) -> Entry:
    by_name = {entry.name: entry for entry in entries(tree)}
    if part not in by_name:
        before = "".join(f"{folder}/" for folder in walked)
        hint = nearest(part, by_name, before)
        raise SourceError(f"no such path in {revision}: {before}{part}{hint}")
    return by_name[part]


def entries(tree: Found) -> Iterator[Entry]:
    """The entries of a tree object; raises SourceError when it is cut off."""
    data, at = tree.data, 0
    while at < len(data):
        space = data.find(b" ", at)
        end = data.find(b"\0", space)
        after = end + 1 + tree.width
        if min(space, end) < 0 or after > len(data):
            raise SourceError("the git repository is damaged: a tree object ends too early")
        name = data[space + 1 : end].decode("utf-8", "surrogateescape")
        if name not in ("", ".", "..") and "/" not in name:
            yield Entry(data[at:space].lstrip(b"0"), name, data[end + 1 : after].hex())
        at = after


def _siblings(tree: Found, chosen: Entry) -> dict[str, dict[str, str]]:
    """The files of one folder, as `_folders` gives them; the chosen one whatever it is called."""
    files = {entry.name: entry.id for entry in entries(tree) if is_json(entry)}
    return {"": {**files, chosen.name: chosen.id}}


def _folders(name: str, top: Found, objects: Objects) -> dict[str, dict[str, str]]:
    """The JSON files below a tree: path of the folder to name to id."""
    folders: dict[str, dict[str, str]] = {}
    waiting = [("", top)]
    ahead: list[tuple[str, str]] = []
    count = 0
    while waiting:
        for path, tree in waiting:
            inside = list(entries(tree))
            count += len(inside)
            if count > MOST_ENTRIES:
                raise SourceError(f"{name} holds more than {MOST_ENTRIES} files")
            before = f"{path}/" if path else ""
            inner = (entry for entry in inside if entry.mode == FOLDER and is_walked(entry.name))
            ahead += [(before + entry.name, entry.id) for entry in inner]
            if files := {entry.name: entry.id for entry in inside if is_json(entry)}:
                folders[path] = files
        taken, ahead = ahead[-AT_ONCE:], ahead[:-AT_ONCE]
        if any(path.count("/") >= DEEPEST for path, _ in taken):
            raise SourceError(f"{name} holds folders more than {DEEPEST} deep")
        trees = objects.read([tree_id for _, tree_id in taken])
        waiting = [(path, tree) for (path, _), tree in zip(taken, trees, strict=True)]
    return folders


def is_json(entry: Entry) -> bool:
    """Whether an entry is a regular file that is called JSON."""
    return entry.mode.startswith(FILE) and entry.name.endswith(".json")


def _tree(
    name: str, revision: str, walked: list[str], folders: dict[str, dict[str, str]], objects: Objects
) -> FileTree:
    inner = "".join(f"{folder}/" for folder in walked)
    home = home_of(objects.where) if os.path.isdir(objects.where) else ""

    def read(ids: list[str]) -> list[bytes]:
        return [blob.data for blob in objects.read(ids)]

    return FileTree(name, f"{revision}:{inner}", home + inner, folders, read)
