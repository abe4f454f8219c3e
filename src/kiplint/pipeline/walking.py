"""Looking into sources, on executors: which files each revision has, and what is in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from functools import partial
from hashlib import sha1
from typing import Any, TypeVar

from kiplint.pipeline.fetching import on_this_machine
from kiplint.pipeline.lake.files import PROBLEMS, Batches, Output, Row
from kiplint.pipeline.lake.marker import STAGING
from kiplint.pipeline.lake.schema import array, text
from kiplint.pipeline.tables.contents import Blobs
from kiplint.pipeline.workers import in_a_task
from kiplint.sources.cleanup import close
from kiplint.sources.git import Objects, close_repositories, open_repository
from kiplint.sources.history import Folder, Folders, Walker, followed
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import SourceError, kind_of
from kiplint.text.show import printable

GIT, FILES = "git", "files"
"""The kinds of sources: a repository or bundle, and a directory or archive."""
TO_WALK = {
    "source": "string",
    "kind": "string",
    "location": "string",
    "revisions": array({"key": "string", "tree": "string"}),
}
TO_READ = {"kind": "string", "location": "string", "blobs": "array<string>"}
AT_ONCE = 64
T = TypeVar("T")


def walk_in_arrow(patterns: tuple[str, ...]) -> Callable[[Batches], Iterator[Output]]:
    """Batches of `TO_WALK` to rows of `WALKED`: one for each revision."""

    def work(batches: Batches) -> Iterator[Output]:
        for task in _one_place_after_another(batches):
            rows = list(_walk(task, patterns))
            yield STAGING, rows
            yield PROBLEMS, [(row[0], row[3]) for row in rows if row[3] is not None]

    return leaving_nothing(work)


def read_in_arrow(batches: Batches) -> Iterator[Output]:
    """Batches of `TO_READ` to rows of `Blobs`."""

    def work(batches: Batches) -> Iterator[Output]:
        for task in _one_place_after_another(batches):
            for rows in _read(task):
                yield Blobs.NAME, rows
                yield PROBLEMS, [(row[0], row[4]) for row in rows if row[4] is not None]

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
    """The same work, with git processes stopped after it; in a process that Spark keeps, all that they made, too."""

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
        for folder in (_chosen(listed, patterns) for listed in current):
            files = None
            if folder.id not in known_folders:
                known_folders.add(folder.id)
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
    yield from (partial(_known, folders) for folders in known)


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
        folders = []
        for schema_set in open_sets([on_this_machine(location)], lambda path: True):
            files = tuple((file.path.rpartition("/")[2], blob_id(file.data)) for file in schema_set.files)
            folders.append(Folder.of(schema_set.relative, files))
        return tuple(folders)

    return look


def _chosen(folder: Folder, patterns: tuple[str, ...]) -> Folder:
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
        needed = set(task["blobs"])
        for schema_set in open_sets([on_this_machine(task["location"])], lambda path: True):
            contents = {blob_id(file.data): file.data for file in schema_set.files}
            yield [_blob_row(blob, data) for blob, data in contents.items() if blob in needed]
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
