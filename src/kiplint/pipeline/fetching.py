"""Sources in an object store, bundles and archives, and how they come to a disk of the machine that reads them."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import Final

from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake.delta import one_line
from kiplint.pipeline.lake.storage import Storage, require_place, store_of, without_secret
from kiplint.sources.cleanup import at_end
from kiplint.sources.git import is_bundle, unpack
from kiplint.sources.open import ARCHIVES
from kiplint.sources.schema_files import SourceError

AT_ONCE: Final = 1 << 20
_making: Final = Lock()


def object_at(place: str) -> tuple[Storage, str] | None:
    """Where an object is, None for a place of another kind; raises UsageError for one that names none."""
    if not store_of(place):
        return None
    folder, _, name = place.rpartition("/")
    if folder.endswith("/") or name in ("", ".", ".."):
        raise UsageError(f"{without_secret(place)} names no bundle or archive in a bucket")
    require_place(place)
    return Storage(folder), name


def state_of(place: str) -> str:
    """Another text for another content of an object: its size and time. Raises SourceError."""
    storage, name = _known(place)
    with _asking(place):
        entry = storage.files.get_file_info([name])[0]
    if not entry.is_file:
        raise SourceError(f"no such object: {place}; in an object store a source is a bundle or an archive")
    return f"{entry.size} {entry.mtime_ns}"


def on_this_machine(place: str, name: str = "") -> str:
    """The path of an archive, or of a bare repository for a bundle, that the processes of this executor share.

    Bundles of a shared file system are unpacked too, anything else there is read where it is. What is made lies in
    Spark's scratch space, and goes with it; elsewhere it is there until this process ends. `name` is what errors call
    the place. Raises SourceError and OSError.
    """
    if store_of(place):
        return _made(place, state_of(place), name or place)
    if os.path.isfile(place) and is_bundle(place):
        stat = os.stat(place)
        return _made(place, f"{stat.st_size} {stat.st_mtime_ns}", name or place)
    return place


def _made(place: str, state: str, name: str) -> str:
    folder = scratch() / f"kiplint-{sha256(f'{place} {state}'.encode()).hexdigest()[:20]}"
    with _alone(folder.with_suffix(".lock")):
        if not folder.is_dir():
            half = folder.with_suffix(".half")
            shutil.rmtree(half, ignore_errors=True)
            half.mkdir()
            _fill(half, place, name)
            half.rename(folder)
    return str(next(folder.iterdir()))


def _fill(folder: Path, place: str, name: str) -> None:
    """Put one thing into a folder: an archive, or the repository out of a bundle."""
    ending = next((suffix for suffix in ARCHIVES if place.lower().endswith(suffix)), "")
    file = folder / f"source{ending}"
    if store_of(place):
        storage, inner = _known(place)
        with _asking(place), storage.files.open_input_stream(inner) as source, open(file, "wb") as target:
            shutil.copyfileobj(source, target, AT_ONCE)
    if ending:
        return
    bundle = file if file.exists() else Path(place)
    if not is_bundle(str(bundle)):
        raise SourceError(f"neither a git bundle nor an archive: {place}")
    (folder / "repository").mkdir()
    unpack(name, str(bundle), str(folder / "repository"))
    file.unlink(missing_ok=True)


@contextmanager
def _asking(place: str) -> Iterator[None]:
    import pyarrow as pa
    from deltalake.exceptions import DeltaError

    try:
        yield
    except (OSError, pa.ArrowException, DeltaError) as error:
        raise SourceError(f"cannot read {place}: {one_line(error)}") from error


def _known(place: str) -> tuple[Storage, str]:
    address = object_at(place)
    if not address:
        raise SourceError(f"no object of a store: {place}")
    return address


def scratch() -> Path:
    """Where this process may put what others of its machine find too: Spark's own on an executor, else a new one."""
    directories = os.environ.get("SPARK_LOCAL_DIRS", "") if _is_worker() else ""
    return Path(directories.partition(",")[0]) if directories else _own()


def _is_worker() -> bool:
    known = sys.modules.get("pyspark.core.files")  # without which no executor has begun
    return bool(known and known.SparkFiles._is_running_on_worker)


def _own() -> Path:
    with _making:
        return _made_once()


@cache
def _made_once() -> Path:
    place = mkdtemp(prefix="kiplint-")

    def gone() -> None:
        shutil.rmtree(place, ignore_errors=True)
        _made_once.cache_clear()

    at_end(gone)
    return Path(place)


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
