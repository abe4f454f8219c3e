"""The revisions of a line of history as git has them, in order, and the folders of a revision that have definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final, NamedTuple

from kiplint.pipeline.rows import escape_non_utf8
from kiplint.sources.repository import FILE, Repository, version_key
from kiplint.sources.schema_files import SourceError, by_folder
from kiplint.text.words import did_you_mean

_COMMIT_FORMAT: Final = ("--encoding=UTF-8", "--no-color", "--format=%H %T %ct%n%P%n%aN%n%B%x00")
_KIP: Final = re.compile(r"\bKIP-([0-9]{1,5})\b", re.IGNORECASE)
_PULL_REQUEST: Final = re.compile(r"\(#([0-9]{1,9})\)\s*\Z|\AMerge pull request #([0-9]{1,9})\b")
_PRERELEASE: Final = re.compile(r"(?:\b|[0-9._-])(?:rc|alpha|beta)(?![a-z])", re.IGNORECASE)


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


def is_of_tags(lineage: str) -> bool:
    """Whether a line of history has the tags of a repository (`tags`, `tags=GLOB`), not the commits of a branch."""
    return lineage == "tags" or lineage.startswith("tags=")


def revisions(repository: Repository, lineage: str) -> list[Revision]:
    """The commits of a branch along first parents, the oldest first, or the releases of tags in the order of versions.

    Raises SourceError where there is no such branch and no such tag.
    """
    if is_of_tags(lineage):
        _, _, glob = lineage.partition("=")
        return _releases(repository, glob)
    newest = tip(repository, lineage)
    changing_ids = {*repository.run("rev-list", "--first-parent", newest, "--", "*.json").split()}
    commits = _commits(repository, "--first-parent", "--reverse", newest)
    return [revision._replace(has_changes=revision.commit in changing_ids) for revision in commits]


def tip(repository: Repository, branch: str) -> str:
    """The id of the newest commit of a branch. Raises SourceError where there is no such branch."""
    commit = None if branch.startswith("-") else repository.find(f"{branch}^{{commit}}")  # git would see an option
    if commit:
        return commit.id
    branches = repository.run("for-each-ref", "--format=%(refname:lstrip=2)").splitlines()
    raise SourceError(f"no such branch in {repository.where}: {branch}{did_you_mean(branch, branches, numbered=False)}")


def _releases(repository: Repository, glob: str) -> list[Revision]:
    """The revisions of tags with a version: of those that match the glob, or of final releases where it is empty."""
    commit_id = "%(if)%(*objectname)%(then)%(*objectname)%(else)%(objectname)%(end)"
    refs = repository.run("for-each-ref", f"--format={commit_id} %(refname:strip=2)", "refs/tags").splitlines()
    tagged_commits = _commits(repository, "--no-walk=unsorted", "--tags") if refs else ()
    commits = {revision.commit: revision for revision in tagged_commits}
    releases: list[Revision] = []
    for ref in refs:
        commit, tag = ref.split(" ", 1)
        has_version = bool(version_key(tag)[0])
        is_selected = fnmatchcase(tag, glob) if glob else not _PRERELEASE.search(tag)
        if commit in commits and has_version and is_selected:
            releases.append(commits[commit]._replace(release=escape_non_utf8(tag)))
    if not releases:
        what = f"no tag with a version like {glob}" if glob else "no release"
        raise SourceError(
            f"{what} in {repository.where}; #tags=GLOB selects tags, including those of release candidates"
        )
    return sorted(releases, key=lambda revision: version_key(revision.release))


def _commits(repository: Repository, *arguments: str) -> Iterator[Revision]:
    """The commits that `git rev-list` lists. Raises SourceError where it fails."""
    output = escape_non_utf8(repository.run("rev-list", *_COMMIT_FORMAT, *arguments, "--"))
    for record in output.split("\0")[:-1]:
        _, ids, parents, author, message = record.lstrip("\n").split("\n", 4)  # the first line is `commit ID`
        commit, tree, time = ids.split()
        subject = message.strip().partition("\n")[0].strip()
        request = _PULL_REQUEST.search(subject)
        pull_request = int(request[1] or request[2]) if request else None
        kips = tuple(dict.fromkeys(f"KIP-{int(number)}" for number in _KIP.findall(message)))
        yield Revision(commit, tree, int(time), author, tuple(parents.split()), subject, pull_request, kips)


def read_folders(repository: Repository, tree: str) -> dict[str, dict[str, str]]:
    """The JSON files of a tree as folder to name to blob. Raises SourceError for damage and for too large a tree."""
    entries = repository.entries(tree, repository.where)
    files = {entry.path: entry.id for entry in entries if entry.mode.startswith(FILE) and entry.path.endswith(".json")}
    return by_folder(files)
