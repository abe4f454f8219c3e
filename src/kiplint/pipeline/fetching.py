"""Reading sources on executors: which files each revision has, and what is in them; objects come to a disk first."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import cache, partial
from hashlib import sha1, sha256
from pathlib import Path
from tempfile import mkdtemp
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeVar

from kiplint.engine.errors import UsageError
from kiplint.pipeline.lake.delta import Batches, one_line
from kiplint.pipeline.lake.schema import Columns, array, batch, columns, text
from kiplint.pipeline.lake.storage import Storage, require_place, store_of, without_secret
from kiplint.pipeline.tables import Blobs
from kiplint.pipeline.workers import in_a_task
from kiplint.sources.cleanup import at_end, close
from kiplint.sources.git import Objects, close_repositories, is_bundle, open_repository, unpack
from kiplint.sources.history import Folder, Folders, Walker, follow
from kiplint.sources.open import ARCHIVES, open_sets
from kiplint.sources.schema_files import SourceError, kind_of
from kiplint.text.show import printable

if TYPE_CHECKING:
    import pyarrow as pa

A_PIECE: Final = 1 << 20
_making: Final = Lock()


def object_at(place: str) -> tuple[Storage, str] | None:
    """The location of an object, None for other places; raises UsageError for a URI without an object."""
    if not store_of(place):
        return None
    folder, _, name = place.rpartition("/")
    if folder.endswith("/") or name in ("", ".", ".."):
        raise UsageError(f"{without_secret(place)} names no bundle or archive in a bucket")
    require_place(place)
    return Storage(folder), name


def state_of(place: str) -> str:
    """A text that changes with the content of an object: its size and time. Raises SourceError."""
    storage, name = _object(place)
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
        return _local_copy(place, state_of(place), name or place)
    if os.path.isfile(place) and is_bundle(place):
        stat = os.stat(place)
        return _local_copy(place, f"{stat.st_size} {stat.st_mtime_ns}", name or place)
    return place


def _local_copy(place: str, state: str, name: str) -> str:
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
        storage, inner = _object(place)
        with _asking(place), storage.files.open_input_stream(inner) as source, open(file, "wb") as target:
            shutil.copyfileobj(source, target, A_PIECE)
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


def _object(place: str) -> tuple[Storage, str]:
    address = object_at(place)
    if not address:
        raise SourceError(f"not an object in a store: {place}")
    return address


def scratch() -> Path:
    """Where this process may put what others of its machine find too: Spark's own on an executor, else a new one."""
    directories = os.environ.get("SPARK_LOCAL_DIRS", "") if in_a_task() else ""
    with _making:
        return Path(directories.partition(",")[0]) if directories else own_directory()


@cache
def own_directory() -> Path:
    """A directory of this process, which goes with it."""
    place = mkdtemp(prefix="kiplint-")

    def remove() -> None:
        shutil.rmtree(place, ignore_errors=True)
        own_directory.cache_clear()

    at_end(remove)
    return Path(place)


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with open(lock, "w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


GIT, FILES = "git", "files"
"""The kinds of sources: a repository or bundle, and a directory or archive."""
Row = tuple[object, ...]
TO_WALK: Columns = {**columns("source, kind, location"), "revisions": array(columns("position int, key, tree"))}
WALKED: Columns = {
    **columns("key, location"),
    "folders": array({**columns("directory, folder"), "files": array(columns("name, blob"))}),
    **columns("problem, same"),
}
"""What a walk finds in one revision; `files` is null for a folder that an earlier row of the same walk has.

`same` is the key of an earlier revision that has the same folders, which are left out then.
"""
TO_READ = columns("kind, location, blobs array<string>")
AT_ONCE = 64
T = TypeVar("T")


def walk_in_arrow(patterns: tuple[str, ...]) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The function that turns batches of `TO_WALK` into rows of `WALKED`, one for each revision."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        for task in _one_place_after_another(batches):
            yield batch(WALKED, _walk(task, patterns))

    return leaving_nothing(work)


def read_in_arrow(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Turn batches of `TO_READ` into rows of `Blobs`."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        for task in _one_place_after_another(batches):
            for rows in _read(task):
                yield batch(Blobs.COLUMNS, rows)

    return leaving_nothing(work)(batches)


def _one_place_after_another(batches: Batches) -> Iterator[dict[str, Any]]:
    """The rows; git is stopped where another source begins: a task can have a thousand of them."""
    before = ""
    for rows in batches:
        for task in rows.to_pylist():
            if task["location"] != before:
                close_repositories()
            before = task["location"]
            yield task


def blob_id(data: bytes) -> str:
    """Git's id of a content, so that files that no git knows have the same as those it does."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def leaving_nothing(work: Callable[[Batches], Iterator[T]]) -> Callable[[Batches], Iterator[T]]:
    """The same work, followed by cleanup: git processes are stopped, and in a process that Spark keeps their files are
    removed.
    """

    def closing(batches: Batches) -> Iterator[T]:
        try:
            yield from work(batches)
        finally:
            (close if in_a_task() else close_repositories)()

    return closing


def _walk(task: dict[str, Any], patterns: tuple[str, ...]) -> Iterator[Row]:
    known_folders: set[str] = set()
    before: tuple[str, Folders] | None = None
    location = task["location"]
    trees = [revision["tree"] for revision in task["revisions"]]
    looks = _look_into_git(location, trees) if task["kind"] == GIT else [_look_into_files(location)] * len(trees)
    for revision, look in zip(task["revisions"], looks, strict=True):
        try:
            current = look()
        except SourceError as error:
            yield revision["key"], location, None, f"{task['source']}: {text(str(error))}", None
            continue
        if before and current is before[1]:
            yield revision["key"], location, None, None, before[0]
            continue
        before = revision["key"], current
        rows = []
        for folder in (_matching_files(folder, patterns) for folder in current):
            files = None
            if folder.id not in known_folders:
                known_folders.add(folder.id)
                files = [{"name": printable(name), "blob": blob} for name, blob in folder.files]
            rows.append({"directory": printable(folder.path), "folder": folder.id, "files": files})
        yield revision["key"], location, rows, None, None


def _look_into_git(location: str, trees: list[str]) -> Iterator[Callable[[], Folders]]:
    """What looks into each tree: by what follows what; where git cannot say that, each is walked by itself."""
    try:
        trees_folders = list(follow(_repository(location), trees))
    except SourceError:
        walker: list[Walker] = []
        yield from (partial(_look, location, tree, walker) for tree in trees)
        return
    yield from (partial(tuple, folders) for folders in trees_folders)


def _look(location: str, tree: str, walker: list[Walker]) -> Folders:
    if not walker:
        walker.append(Walker(_repository(location)))
    try:
        return tuple(walker[0].folders(tree))
    except SourceError:
        walker.clear()  # what failed has stopped its git
        raise


def _look_into_files(location: str) -> Callable[[], Folders]:
    def look() -> Folders:
        folders = []
        for schema_set in open_sets([on_this_machine(location)], lambda path: True):
            files = tuple((file.path.rpartition("/")[2], blob_id(file.data)) for file in schema_set.files)
            folders.append(Folder.of(schema_set.relative, files))
        return tuple(folders)

    return look


def _matching_files(folder: Folder, patterns: tuple[str, ...]) -> Folder:
    if not patterns:
        return folder
    before = f"{folder.path}/" if folder.path else ""
    files = tuple(file for file in folder.files if any(fnmatchcase(before + file[0], glob) for glob in patterns))
    if files == folder.files:
        return folder
    part = Folder.of(folder.path, files)
    return part._replace(id=f"{folder.id} {part.id}")


def _read(task: dict[str, Any]) -> Iterator[list[Row]]:
    if task["kind"] != GIT:
        ids = set(task["blobs"])
        for schema_set in open_sets([on_this_machine(task["location"])], lambda path: True):
            contents = {blob_id(file.data): file.data for file in schema_set.files}
            yield [_blob_row(blob, data) for blob, data in contents.items() if blob in ids]
        return
    blobs = task["blobs"]
    for at in range(0, len(blobs), AT_ONCE):
        some = blobs[at : at + AT_ONCE]
        try:
            objects = _repository(task["location"]).read(some)
            yield [_blob_row(blob, item.data) for blob, item in zip(some, objects, strict=True)]
        except SourceError:
            yield [_one_by_one(task["location"], blob) for blob in some]


def _repository(location: str) -> Objects:
    return open_repository(on_this_machine(location))


def _one_by_one(location: str, blob: str) -> Row:
    try:
        return _blob_row(blob, _repository(location).read([blob])[0].data)
    except SourceError as error:
        return blob, "unreadable", None, None, text(str(error))


def _blob_row(blob: str, data: bytes) -> Row:
    kind = kind_of(data)
    return blob, kind, len(data), None if kind == "other" else data, None
