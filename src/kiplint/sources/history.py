"""Releases and target branches of a repository, by what git says."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from kiplint.sources.git import is_revision, open_repository


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
