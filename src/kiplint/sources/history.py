"""The releases of a repository, by its tags."""

from __future__ import annotations

import re

from kiplint.sources.git import open_repository


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
