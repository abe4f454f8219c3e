"""Where a run takes place: the repository around it, and how that knows the files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache

from kiplint.sources.disk import UNNAMED
from kiplint.sources.tree import home_of

_REVISION = re.compile(r"(?:[^{}:]|\{[^{}]*\})+:")
_INSIDE = "!/"


def in_repository(path: str, names: Sequence[str]) -> str:
    """The path of a file relative to the top of the repository, with slashes; as it is when the file is not below it.

    `names` are the SET arguments of the run: a file out of `REV:` has its path in the repository already.
    """
    for name in names:
        revision = _REVISION.match(name)
        if revision and path.startswith(revision[0]) and _INSIDE not in name and not os.path.lexists(name):
            return path[revision.end() :]
    if path == UNNAMED:
        return path
    full = os.path.normpath(os.path.join(os.getcwd(), path))
    for top in _tops(os.getcwd()):
        if full.startswith(os.path.join(top, "")):
            return full[len(os.path.join(top, "")) :].replace(os.sep, "/")
    return path.replace(os.sep, "/")


@cache
def _tops(here: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(top for one in _known(here) for top in (os.path.normpath(one), os.path.realpath(one))))


def _known(here: str) -> Iterator[str]:
    """The directories that may be the top of the repository: as the platform says, as git says, or where we are."""
    yield from filter(None, (os.environ.get(name) for name in ("GITHUB_WORKSPACE", "CI_PROJECT_DIR")))
    yield home_of(here) or here
    yield here
