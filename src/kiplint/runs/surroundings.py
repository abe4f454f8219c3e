"""Where a run takes place: the repository around it, and how that knows the files."""

from __future__ import annotations

import os
import re
from functools import cache

from kiplint.sources.disk import UNNAMED
from kiplint.sources.tree import home_of

_REVISION = re.compile(r"(?:[^{}:]|\{[^{}]*\})+:")
_INSIDE = "!/"
_PLATFORMS = ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")
"""The variables in which platforms name the top of the repository."""


def in_repository(path: str, names: tuple[str, ...]) -> str:
    """The path of a file relative to the top of the repository, with slashes; as it is when the file is not below it.

    `names` are the SET arguments of the run: a file out of `REV:` has its path in the repository already.
    """
    for prefix in _revisions(names):
        if path.startswith(prefix):
            return path[len(prefix) :]
    if path == UNNAMED:
        return path
    full = os.path.normpath(os.path.join(os.getcwd(), path))
    for top in _tops(os.getcwd(), *(os.environ.get(name, "") for name in _PLATFORMS)):
        if full.startswith(os.path.join(top, "")):
            return full[len(os.path.join(top, "")) :].replace(os.sep, "/")
    return path.replace(os.sep, "/")


def in_patch(path: str, names: tuple[str, ...]) -> str:
    """The name of a file in a patch that `patch -p1` and `git apply` take.

    That is relative to the working directory for a file below it, to the top of the repository for any other one of
    it, `REV:` included, and for a file of an archive to the archive.
    """
    archive, _, member = path.partition(_INSIDE)
    if member and os.path.isfile(archive):
        return member
    below = not os.path.isabs(path) and not os.path.normpath(path).startswith("..")
    revision = any(path.startswith(prefix) for prefix in _revisions(names))
    return path.replace(os.sep, "/") if below and not revision else in_repository(path, names).lstrip("/")


@cache
def _revisions(names: tuple[str, ...]) -> tuple[str, ...]:
    found = ((name, _REVISION.match(name)) for name in names if ":" in name and _INSIDE not in name)
    return tuple(revision[0] for name, revision in found if revision and not os.path.lexists(name))


@cache
def _tops(here: str, *given: str) -> tuple[str, ...]:
    """The directories that may be the top of the repository: as the platform says, as git says, or where we are."""
    known = (*filter(None, given), home_of(here) or here, here)
    return tuple(dict.fromkeys(top for one in known for top in (os.path.normpath(one), os.path.realpath(one))))
