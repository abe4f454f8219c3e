"""What nobody is to touch: a home directory, and a tree beside the directory of every test."""

from __future__ import annotations

import os
import stat
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


def state(place: Path) -> dict[str, tuple[int, int, bytes]]:
    """Every file, directory and link below: its mode, when it was changed, and its bytes."""
    result = {}
    for folder, folders, files in os.walk(place):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            there = os.lstat(path)
            data = b""
            if stat.S_ISREG(there.st_mode):
                data = Path(path).read_bytes()
            elif stat.S_ISLNK(there.st_mode):
                data = os.readlink(path).encode()
            result[os.path.relpath(path, place)] = (there.st_mode, there.st_mtime_ns, data)
    return result
