"""Where the pipeline keeps what it makes once on a machine: the launcher of Java, and what it logs.

Java is started by what lies there, so nobody else may be able to put it there: not another user, and not a change in
the checkout that a run works on, in which CI likes to have its caches.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from kiplint.sources.cleanup import at_end
from kiplint.sources.tree import home_of

OTHERS = stat.S_IWGRP | stat.S_IWOTH


@cache
def cache_directory() -> Path:
    """The directory of kiplint in the user's cache, which is there and the user's alone; else one for this process."""
    folders = (root / "kiplint" for root in _roots())
    if folder := next((folder for folder in folders if _is_outside(folder) and _is_private(folder)), None):
        return folder
    fresh = mkdtemp(prefix="kiplint-")
    at_end(lambda: rmtree(fresh, ignore_errors=True))
    return Path(fresh)


def _roots() -> Iterator[Path]:
    """The user's cache as the environment has it, if that is absolute, and where it is otherwise."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        yield Path(named)
    home = os.path.expanduser("~")
    if os.path.isabs(home):
        yield Path(home, ".cache")


def _is_outside(folder: Path) -> bool:
    """Whether a directory is outside the work tree around the working directory, and outside the latter."""
    place = os.path.join(os.path.realpath(folder), "")
    here = os.path.realpath(os.curdir)
    return not any(place.startswith(os.path.join(os.path.realpath(top), "")) for top in (here, home_of(here)) if top)


def _is_private(folder: Path) -> bool:
    """Whether a directory, made if need be, and the one above it are such that nobody else can put a file there."""
    try:
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)  # whatever the umask lets a group do
        folder.mkdir(mode=0o700, exist_ok=True)
        own, above = folder.lstat(), folder.parent.stat()
    except OSError:
        return False
    mine = stat.S_ISDIR(own.st_mode) and own.st_uid == os.getuid() and not own.st_mode & OTHERS
    shared = bool(above.st_mode & OTHERS) and not above.st_mode & stat.S_ISVTX
    return mine and above.st_uid in (os.getuid(), 0) and not shared
