"""What makes a place a lake: a mark. And how what a lake's own log names is removed, without following a link."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake.storage import Storage

MARK: Final = "KIPLINT-LAKE"
MARKED: Final = b"This is a lake of `kiplint pipeline`: Delta tables, and `runs` says which versions belong together.\n"
STAGING: Final = "staging"
RUNS: Final = "runs"
LOG: Final = "_delta_log"
TOKEN: Final = re.compile(r"[0-9a-f]{12}")
FOLDER: Final = re.compile(r"([0-9a-f]{12})-[0-9]{1,9}")
"""A folder with the files of a part: the token of the run that made it, and a number."""

_SLASH: Final = re.compile("/")


class Claim(NamedTuple):
    """What it took to make a place that of a lake: a mark, and a directory; nothing where it was one."""

    marked: bool
    made: bool


def claim(storage: Storage, tables: tuple[str, ...]) -> Claim:
    """Make a place that of a lake, if it is not yet; raises UsageError when it is something else's, and OSError."""
    made = storage.path is not None and not storage.path.exists()
    if storage.path:
        storage.path.mkdir(parents=True, exist_ok=True)
    there = set(storage.list())
    if not there:
        try:
            storage.write(MARK, MARKED)
        except OSError:
            if storage.path and made:  # on a full disk a directory can be made, and no file in it
                with suppress(OSError):
                    storage.path.rmdir()
            raise
    elif MARK not in there or _mark(storage) != MARKED:
        own = {MARK, STAGING, RUNS, *tables}
        raise UsageError(f"{storage} is not empty and no lake: it holds {min(there - own or there)}")
    elif RUNS not in there and (left := there & {*tables}):
        raise UsageError(f"{storage} is not a lake that can be read: it has {min(left)}, but no {RUNS}")
    for name in (STAGING, *(part for table in (*tables, RUNS) for part in (table, f"{table}/{LOG}"))):
        if storage.path and (storage.path / name).is_symlink():
            raise UsageError(f"cannot write the lake {storage}: {name} is a link")
    return Claim(not there, made)


def unclaim(storage: Storage, claimed: Claim) -> None:
    """Leave a place as it was before it was claimed, if nothing else has come to be there."""
    if claimed.marked and storage.list() == [MARK]:
        remove(storage, MARK)
        if storage.path and claimed.made:
            with suppress(OSError):
                storage.path.rmdir()


def require_own(storage: Storage, files: Iterable[str]) -> None:
    """Raise UsageError where a file of a lake, or a folder above it, is a link or a device; one may not be there."""
    if storage.path is None:
        return
    known: set[str] = set()
    for file in files:
        folders = [file[: slash.start()] for slash in _SLASH.finditer(file)]
        for name in (*(folder for folder in folders if folder not in known), file):
            known.add(name)
            with suppress(FileNotFoundError):
                mode = os.lstat(f"{storage.path}/{name}").st_mode
                if not (stat.S_ISDIR(mode) or (name is file and stat.S_ISREG(mode))):
                    what = "a link" if stat.S_ISLNK(mode) else "neither a file nor a folder of it"
                    raise UsageError(f"{storage} is not a lake that can be read: {name} is {what}")


def remove(storage: Storage, name: str) -> None:
    """Remove a file or folder with all that is in it; what cannot be removed stays. No link is followed."""
    if storage.path is None:
        with suppress(OSError):
            if name == MARK or name.endswith(".parquet"):
                storage.files.delete_file(name)
            else:
                storage.files.delete_dir(name)
        return
    place = storage.path
    for part in name.split("/"):
        if place.is_symlink():
            return
        place /= part
    with suppress(OSError):
        mode = place.lstat().st_mode
        if stat.S_ISDIR(mode):
            shutil.rmtree(place, ignore_errors=True)
        elif stat.S_ISREG(mode):
            place.unlink()


def _mark(storage: Storage) -> bytes:
    if storage.path and (storage.path / MARK).is_symlink():
        return b""
    return storage.read(MARK, 4096)


def identity() -> str:
    """This process, so that another one on the same machine can tell whether it still runs."""
    return f"{_machine()} {os.getpid()} {_started(os.getpid())}"


def runs_here(writer: str) -> int | None:
    """The number of a process that said so of itself, if it is another one and still runs on this machine."""
    machine, _, rest = writer.partition(" ")
    number, _, started = rest.partition(" ")
    if machine != _machine() or not re.fullmatch("[0-9]{1,9}", number) or int(number) == os.getpid():
        return None
    return int(number) if started and _started(int(number)) == started else None


def _machine() -> str:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return os.uname().nodename


def _started(process: int) -> str:
    with suppress(OSError, IndexError):
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[19]
    with suppress(OSError):
        os.kill(process, 0)
        return "runs"
    return ""
