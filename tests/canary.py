"""What nobody is to touch: a home directory, and a tree beside the directory of every test."""

from __future__ import annotations

import os
from pathlib import Path

FILES = {
    ".bashrc": b"# mine\n",
    ".config/kiplint/kiplint.toml": b"# mine\n",
    ".ssh/id": b"\0secret\n",
    "data/part-000001/a.parquet": b"PAR1 mine",
    "snapshots/000001.json": b"{}",
    "staging/x": b"mine",
    "X.json": b'{ "type": "request", "name": "X", }\n',
    ".kiplint-baseline.json": b"mine",
}
"""Names that kiplint and its pipeline have a liking for."""

PATHS = sorted({"link", *FILES, *(str(folder) for name in FILES for folder in Path(name).parents[:-1])})
"""All paths below the place; a directory changes with the names in it."""

LONG_AGO = 1_000_000_000
"""When all of it was changed last: many systems tell no difference between two changes in the same milliseconds."""


def plant(place: Path) -> Path:
    """Make the tree, with a link in it."""
    for name, data in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(data)
    (place / "link").symlink_to("X.json")
    for folder, folders, files in os.walk(place):
        for name in (*folders, *files):
            os.utime(os.path.join(folder, name), (LONG_AGO, LONG_AGO), follow_symlinks=False)
    return place


def state(place: Path) -> list[object]:
    """The names in the place, and the properties of everything planted: mode, size and times of change.

    Each change to a file, directory or link below the place changes this state.
    """
    return [sorted(os.listdir(place)), *map(_properties, (os.path.join(place, name) for name in PATHS))]


def _properties(path: str) -> tuple[str, int, int, int, int, int] | None:
    try:
        there = os.lstat(path)
    except FileNotFoundError:
        return None
    return path, there.st_mode, there.st_ino, there.st_size, there.st_mtime_ns, there.st_ctime_ns
