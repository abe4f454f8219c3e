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

    Raises SourceError where there is no such branch and no such tag, and for a commit that git cannot show.
    """
    if is_of_tags(lineage):
        tags = releases(repository, lineage)
        commits_by_id = {revision.commit: revision for revision in _commits(repository, "--no-walk", *tags.values())}
        return [commits_by_id[commit]._replace(release=escape_non_utf8(tag)) for tag, commit in tags.items()]
    newest = tip(repository, lineage)
    changing_ids = {*repository.run("rev-list", "--first-parent", newest, "--", "*.json").split()}
    commits = _commits(repository, "--first-parent", "--reverse", newest)
    return [revision._replace(has_changes=revision.commit in changing_ids) for revision in commits]


def tip(repository: Repository, branch: str) -> str:
    """The id of the newest commit of a branch, or of another name of git. Raises SourceError where there is neither."""
    for name in (f"refs/heads/{branch}", branch):  # git alone would prefer a tag of this name
        commit = repository.find(f"{name}^{{commit}}")
        if commit:
            return commit.id
    branches = repository.run("for-each-ref", "--format=%(refname:lstrip=2)").splitlines()
    names = [name for name in branches if name.endswith(f"/{branch}")]  # such as `origin/trunk` in a clone
    hint = f"; did you mean {names[0]}?" if names else did_you_mean(branch, branches, numbered=False)
    raise SourceError(f"no such branch in {repository.where}: {branch}{hint}")


def releases(repository: Repository, lineage: str) -> dict[str, str]:
    """The tags with a version, in the order of versions, and their commits: for `tags` those of final releases.

    For `tags=GLOB` those that match the glob. Raises SourceError where there is none.
    """
    _, _, glob = lineage.partition("=")
    commit = "%(if)%(*objectname)%(then)%(*objecttype) %(*objectname)%(else)%(objecttype) %(objectname)%(end)"
    tags: dict[str, str] = {}
    for ref in repository.run("for-each-ref", f"--format={commit} %(refname:strip=2)", "refs/tags").splitlines():
        object_type, object_id, tag = ref.split(" ", 2)
        has_version = bool(version_key(tag)[0])
        is_selected = fnmatchcase(tag, glob) if glob else not _PRERELEASE.search(tag)
        if object_type == "commit" and has_version and is_selected:
            tags[tag] = object_id
    if not tags:
        what = f"no tag with a version like {glob}" if glob else "no release"
        raise SourceError(
            f"{what} in {repository.where}; #tags=GLOB selects tags, including those of release candidates"
        )
    return dict(sorted(tags.items(), key=lambda item: version_key(item[0])))


def _commits(repository: Repository, *arguments: str) -> Iterator[Revision]:
    """The commits that `git rev-list` lists. Raises SourceError where it fails."""
    output = escape_non_utf8(repository.run("rev-list", *_COMMIT_FORMAT, *arguments, "--"))
    for record in output.split("\0")[:-1]:
        _, ids, parents, author, message = record.lstrip("\n").split("\n", 4)  # the first line is `commit ID`
        try:
            commit, tree, time = ids.split()
        except ValueError:
            commit, *_ = ids.split()
            raise SourceError(f"the commit {commit} of {repository.where} has no valid time") from None
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
