"""Looking into sources, on executors: which files each revision has, and what is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from hashlib import sha1
from typing import Any

import pyarrow as pa

from kiplint.pipeline.columns import array, batch, text
from kiplint.pipeline.fetching import on_this_machine
from kiplint.pipeline.listing import GIT
from kiplint.pipeline.tables.blobs import Blobs
from kiplint.pipeline.tables.trees import WALKED
from kiplint.pipeline.worker import in_a_task
from kiplint.sources.cleanup import close
from kiplint.sources.git import Objects, close_repositories, open_repository
from kiplint.sources.history import Folder, Folders, Walker, followed
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import SourceError, kind_of
from kiplint.text.show import printable

TO_WALK = {
    "source": "string",
    "kind": "string",
    "location": "string",
    "revisions": array({"key": "string", "tree": "string"}),
}
TO_READ = {"kind": "string", "location": "string", "blobs": "array<string>"}
AT_ONCE = 64
Batches = Iterable[pa.RecordBatch]
Row = tuple[object, ...]


def walk_in_arrow(patterns: tuple[str, ...]) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """Batches of `TO_WALK` to batches of `WALKED`: one row for each revision."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        for task in _one_place_after_another(batches):
            yield batch(WALKED, _walk(task, patterns))

    return leaving_nothing(work)


def read_in_arrow(batches: Batches) -> Iterator[pa.RecordBatch]:
    """Batches of `TO_READ` to batches of blobs: one row for each blob."""

    def work(batches: Batches) -> Iterator[pa.RecordBatch]:
        for task in _one_place_after_another(batches):
            for rows in _read(task):
                yield batch(Blobs.COLUMNS, rows)

    return leaving_nothing(work)(batches)


def _one_place_after_another(batches: Batches) -> Iterator[dict[str, Any]]:
    """The rows; git is stopped where another source begins: a task can have a thousand of them."""
    before = ""
    for one in batches:
        for task in one.to_pylist():
            if task["location"] != before:
                close_repositories()
            before = task["location"]
            yield task


def blob_id(data: bytes) -> str:
    """Git's id of a content, so that files that no git knows have the same as those it does."""
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


def leaving_nothing(
    work: Callable[[Batches], Iterator[pa.RecordBatch]],
) -> Callable[[Batches], Iterator[pa.RecordBatch]]:
    """The same work, with git processes stopped after it; in a process that Spark keeps, all that they made, too."""

    def closing(batches: Batches) -> Iterator[pa.RecordBatch]:
        try:
            yield from work(batches)
        finally:
            (close if in_a_task() else close_repositories)()

    return closing


def _walk(task: dict[str, Any], patterns: tuple[str, ...]) -> Iterator[Row]:
    told: set[str] = set()
    before: tuple[str, Folders] | None = None
    location = task["location"]
    trees = [revision["tree"] for revision in task["revisions"]]
    looks = _look_into_git(location, trees) if task["kind"] == GIT else [_look_into_files(location)] * len(trees)
    for revision, look in zip(task["revisions"], looks, strict=True):
        try:
            found = look()
        except SourceError as error:
            yield revision["key"], location, None, f"{task['source']}: {text(str(error))}", None
            continue
        if before and found is before[1]:
            yield revision["key"], location, None, None, before[0]
            continue
        before = revision["key"], found
        rows = []
        for folder in (_chosen(one, patterns) for one in found):
            files = None
            if folder.id not in told:
                told.add(folder.id)
                files = [{"name": printable(name), "blob": blob} for name, blob in folder.files]
            rows.append({"directory": printable(folder.path), "folder": folder.id, "files": files})
        yield revision["key"], location, rows, None, None


def _look_into_git(location: str, trees: list[str]) -> Iterator[Callable[[], Folders]]:
    """What looks into each tree: by what follows what; where git cannot say that, each is walked by itself."""
    try:
        known = list(followed(_repository(location), trees))
    except SourceError:
        walker: list[Walker] = []
        yield from (partial(_look, location, tree, walker) for tree in trees)
        return
    yield from (partial(_known, one) for one in known)


def _known(folders: Folders) -> Folders:
    return folders


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
        found = []
        for one in open_sets([on_this_machine(location)], lambda path: True):
            files = tuple((file.path.rpartition("/")[2], blob_id(file.data)) for file in one.files)
            found.append(Folder.of(one.relative, files))
        return tuple(found)

    return look


def _chosen(folder: Folder, patterns: tuple[str, ...]) -> Folder:
    if not patterns:
        return folder
    before = f"{folder.path}/" if folder.path else ""
    files = tuple(one for one in folder.files if any(fnmatchcase(before + one[0], glob) for glob in patterns))
    if files == folder.files:
        return folder
    part = Folder.of(folder.path, files)
    return part._replace(id=f"{folder.id} {part.id}")


def _read(task: dict[str, Any]) -> Iterator[list[Row]]:
    if task["kind"] != GIT:
        wanted = set(task["blobs"])
        for one in open_sets([on_this_machine(task["location"])], lambda path: True):
            contents = {blob_id(file.data): file.data for file in one.files}
            yield [_told(blob, data) for blob, data in contents.items() if blob in wanted]
        return
    blobs = task["blobs"]
    for at in range(0, len(blobs), AT_ONCE):
        some = blobs[at : at + AT_ONCE]
        try:
            found = _repository(task["location"]).read(some)
            yield [_told(blob, one.data) for blob, one in zip(some, found, strict=True)]
        except SourceError:
            yield [_one_by_one(task["location"], blob) for blob in some]


def _repository(location: str) -> Objects:
    return open_repository(on_this_machine(location))


def _one_by_one(location: str, blob: str) -> Row:
    try:
        return _told(blob, _repository(location).read([blob])[0].data)
    except SourceError as error:
        return blob, "unreadable", None, None, text(str(error))


def _told(blob: str, data: bytes) -> Row:
    kind = kind_of(data)
    return blob, kind, len(data), None if kind == "other" else data, None
