"""The base of a review: the revision that the work tree is compared with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Final, NamedTuple

from kiplint.compat.since import sources_in
from kiplint.compat.tree import load, load_base
from kiplint.engine.errors import UsageError
from kiplint.sources.git import is_revision, is_unborn, open_repository
from kiplint.sources.schema_files import NothingThereError, SourceError
from kiplint.sources.tree import home_of

NAME_BASE: Final = "; name one: --base REV, or --base none to check without comparing"


class Base(NamedTuple):
    """The revision to compare with, and the reason in words; both are empty without a base."""

    revision: str
    reason: str

    @property
    def notes(self) -> tuple[str, ...]:
        """A note on a base that was chosen automatically."""
        return (f"compared with {self.revision}, {self.reason}",) if self.reason else ()


def find_base(base: str | None = None, names: Iterable[str] = (os.curdir,)) -> Base:
    """The base of a review of some paths of the work tree. Raises UsageError and SourceError."""
    if base:
        return _named_base(base)
    if not home_of(os.curdir):
        raise UsageError(f"there is no git repository around the working directory, and so no base{NAME_BASE}")
    if is_unborn("HEAD"):
        return Base("HEAD", "which has no commit yet")
    git = open_repository(None).run
    head = git("rev-parse", "HEAD").strip()
    commit = open_repository(None).find(head)  # which names its parents in a shallow clone, too
    raw = commit.data.decode("utf-8", "replace").partition("\n\n")[0] if commit else ""
    parents = [line.removeprefix("parent ") for line in raw.split("\n") if line.startswith("parent ")]
    if len(parents) > 1 and head == os.environ.get("GITHUB_SHA"):  # the merge that GitHub makes of a pull request
        return _base_at(parents[0], "the branch that the pull request goes into")
    own = git("rev-parse", "--abbrev-ref", "HEAD").strip()
    for branch in _target_branches():
        if fork := git("merge-base", "HEAD", branch).strip():
            if fork == head and any(map(_is_changed, names)):
                return _base_at(fork, "the last commit")
            if fork != head or own not in ("HEAD", branch, branch.partition("/")[2]):
                return _base_at(fork, f"where the branch left {branch}")
            break
    return _base_at(parents[0], "the commit before HEAD") if parents else _base_at(head, "the only commit")


def _named_base(base: str) -> Base:
    if not home_of(os.curdir):
        raise SourceError("a base needs a git repository around the working directory")
    if not is_revision(base) and not is_unborn(base):
        raise SourceError(f"no such revision: {base}")
    base = base.removesuffix(":")
    whole = len(base) >= 40 and not base.strip("0123456789abcdef")
    return Base(open_repository(None).run("rev-parse", "--short", base).strip() if whole else base, "")


def _base_at(commit: str, reason: str) -> Base:
    if not is_revision(commit):
        raise UsageError(f"the clone lacks {reason}; git fetch --depth=1 origin {commit}{NAME_BASE}")
    return Base(open_repository(None).run("rev-parse", "--short", commit).strip(), reason)


def _target_branches() -> Iterator[str]:
    """The branches that a change may go into, by what CI servers say and by usual names; origin/HEAD by its branch."""
    variables = ("GITHUB_BASE_REF", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "CHANGE_TARGET")
    targets = [os.environ[name] for name in variables if os.environ.get(name)]
    usual = ("HEAD", "trunk", "main", "master")
    branches = [f"{remote}/{name}" for remote in ("upstream", "origin") for name in usual]
    for branch in dict.fromkeys([*(f"origin/{name}" for name in targets), *branches, *usual[1:]]):
        if is_revision(branch):
            name = open_repository(None).run("rev-parse", "--abbrev-ref", branch).strip()
            yield name or branch


def _is_changed(name: str) -> bool:
    """Whether the definitions of a path differ from those in the last commit."""
    if not os.path.lexists(name) or not (place := place_in(name, "HEAD")):
        return True
    with suppress(NothingThereError):
        return {*load_base(place).sources.values()} != {*load(name).sources.values()}
    return False


def place_in(name: str, revision: str) -> str:
    """A path of the work tree in a revision, as `REV:path`, or empty where the revision does not have it.

    Raises UsageError for a path outside of the work tree.
    """
    folder = next(sources_in(revision, [name], home_of(os.curdir), "a review"), "")
    if os.path.isdir(name) or not folder:
        return folder
    file = f"{folder}{'' if folder.endswith(':') else '/'}{os.path.basename(name)}"
    return file if open_repository(None).find(file) else ""
