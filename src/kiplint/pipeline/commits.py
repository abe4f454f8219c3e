"""Histories: the revisions of a branch or of all tags, in order, and the definitions' folders in each of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final, NamedTuple

from kiplint.limits import GIT_LISTING
from kiplint.pipeline.rows import text
from kiplint.sources.git import FILE, FOLDER, Objects, TreeEntry, version_key
from kiplint.sources.schema_files import LARGEST_ENTRY, SourceError, by_folder
from kiplint.text.words import did_you_mean

AT_ONCE: Final = 256
"""How many revisions are read together, by one process of git for each level of folders."""
SHARED: Final = 10_000
"""How many folders are remembered, because later revisions share them."""
BESIDE_PATH: Final = 53
"""The bytes of a file in git's listing of a tree beside its path, as the limit counts them."""
_ENTRY: Final = re.compile(rb"(\d+) ([^\0]+)\0((?s:.{20}))")
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


FilesByFolder = list[tuple[str, list[tuple[str, str]]]]
"""The paths of folders, each with the names of its JSON files and their ids."""


def _is_candidate(tag: str) -> bool:
    """Whether a tag names a release candidate, an alpha or a beta."""
    return re.search(r"(?:\b|[0-9._-])(?:rc|alpha|beta)(?![a-z])", tag, re.IGNORECASE) is not None


def is_of_tags(lineage: str) -> bool:
    """Whether a line of history has the tags of a repository: `tags`, or `tags=GLOB`."""
    return lineage.partition("=")[0] == "tags"


def revisions(objects: Objects, lineage: str) -> list[Revision]:
    """The commits of a branch along first parents, the oldest first, or the releases in the order of their versions.

    Tags without a version are not releases, and without a glob candidates and betas are none. Raises SourceError where
    there is no such branch and no such tag.
    """
    if not is_of_tags(lineage):
        return list(_commits(objects, "--first-parent", "--reverse", tip(objects, lineage)))
    found = _tags(objects, lineage.partition("=")[2])
    releases = [revision for revision in found if "=" in lineage or not _is_candidate(revision.release)]
    if not releases:
        raise SourceError(f"no release in {objects.where}: #tags=* takes its {len(found)} release candidates and betas")
    return releases


def tip(objects: Objects, name: str) -> str:
    """The id of the newest commit of a branch; raises SourceError when there is no such one."""
    if not name.startswith("-") and (commit := objects.find(f"{name}^{{commit}}")):
        return commit.id
    names = objects.run("for-each-ref", "--format=%(refname:lstrip=2)").splitlines()
    hint = did_you_mean(name, names, numbered=False) or (f"; there are {', '.join(names[:5])}" if names else "")
    raise SourceError(f"no such branch in {objects.where}: {name}{hint}")


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
    other = _OTHER_JIRA.match(subject)
    jiras = [other[1]] if other and not other[1].startswith("KIP-") else []
    return {
        "subject": subject,
        "pull_request": int(request[1] or request[2]) if request else None,
        "kips": tuple(dict.fromkeys(f"KIP-{int(number)}" for number in _KIP.findall(message))),
        "jiras": tuple(dict.fromkeys([*jiras, *_JIRA.findall(message)])),
    }


def _tags(objects: Objects, pattern: str) -> list[Revision]:
    """The tagged commits with versions. A pattern is globs with commas between them, `!` before those to leave out."""
    globs = [glob for glob in pattern.split(",") if glob]
    includes = [glob for glob in globs if not glob.startswith("!")] or ["*"]
    excludes = [glob[1:] for glob in globs if glob.startswith("!")]
    commit = "%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)"
    refs = objects.run("for-each-ref", f"--format={commit} %(refname:strip=2)", "refs/tags").splitlines()
    commits = {row.commit: row for row in _commits(objects, "--no-walk=unsorted", "--tags")} if refs else {}
    tagged = [
        commits[commit]._replace(release=text(name))
        for commit, name in (ref.split(" ", 1) for ref in refs)
        if commit in commits and version_key(name)[0] and _is_one(name, includes) and not _is_one(name, excludes)
    ]
    if not tagged:
        raise SourceError(f"no tag with a version{f' like {pattern}' if pattern else ''} in {objects.where}")
    return sorted(tagged, key=lambda revision: version_key(revision.release))


def _is_one(name: str, globs: list[str]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)


def read_folders(objects: Objects, trees: Sequence[str]) -> Iterator[FilesByFolder]:
    """The folders with JSON files of each tree, by its id. What a tree shares with those before is read once.

    Raises SourceError for damage and for too large a tree, and RecursionError for too deep a one.
    """
    files: dict[str, dict[str, str]] = {}
    for at in range(0, len(trees), AT_ONCE):
        chunk = trees[at : at + AT_ONCE]
        entries: dict[str, list[TreeEntry]] = {}
        new = {*chunk} - files.keys()
        while new:  # level by level
            level = dict(_read_trees(objects, sorted(new)))
            entries |= level
            below = {entry.id for some in level.values() for entry in some if entry.mode == FOLDER}
            new = below - entries.keys() - files.keys()
        for tree in chunk:
            folders = by_folder(_files_below(tree, entries, files, objects.where))
            yield [(path, sorted(names.items())) for path, names in sorted(folders.items())]
        if len(files) > SHARED:
            files.clear()


def _read_trees(objects: Objects, trees: Sequence[str]) -> Iterator[tuple[str, list[TreeEntry]]]:
    """The folders and JSON files of trees themselves."""
    for tree, data in zip(trees, objects.read(trees), strict=True):
        entries: Iterable[TreeEntry]
        if len(tree) == 40 and len(data) < LARGEST_ENTRY:
            words = ((mode.decode().zfill(6), id_.hex(), name) for mode, name, id_ in _ENTRY.findall(data))
            entries = (TreeEntry(mode, id_, name.decode("utf-8", "surrogateescape")) for mode, id_, name in words)
        else:
            entries = objects.entries(tree, objects.where, recursive=False)
        yield tree, [entry for entry in entries if entry.mode == FOLDER or _is_json(entry)]


def _is_json(entry: TreeEntry) -> bool:
    return entry.mode.startswith(FILE) and entry.path.endswith(".json")


def _files_below(
    tree: str, entries: Mapping[str, Sequence[TreeEntry]], files: dict[str, dict[str, str]], where: str
) -> dict[str, str]:
    """The ids of all JSON files of a tree by their paths; `files` has those of other trees."""
    if tree not in files:
        found: dict[str, str] = {}
        size = 0
        for entry in entries[tree]:
            more = {entry.path: entry.id}
            if entry.mode == FOLDER:
                below = _files_below(entry.id, entries, files, where)
                more = {f"{entry.path}/{path}": blob for path, blob in below.items()}
            found |= more
            size += sum(map(len, more)) + BESIDE_PATH * len(more)
            if size > GIT_LISTING:
                raise SourceError(GIT_LISTING.exceeded(where))
        files[tree] = found
    return files[tree]


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
    words = text(commits).partition("\n")[2].rstrip("\n").split("\0")
    return Inner(*words) if len(words) == 3 else None
