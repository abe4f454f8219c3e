"""The parts of a commit that a hook checks: its files that are definitions, and directories that lose a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from kiplint.sources.disk import home_of, read
from kiplint.sources.git import is_revision, open_repository
from kiplint.sources.schema_files import SourceError, is_walked, kind_of

if TYPE_CHECKING:
    from kiplint.commands.check.options import CheckCommand

HEAD = "HEAD"


def definitions_among(names: Iterable[str]) -> tuple[str, ...]:
    """The files that are definitions or lie beside some, and all directories."""
    return tuple(name for name in names if not os.path.isfile(name) or _is_definition(name))


def parts_of_commit(names: tuple[str, ...], options: CheckCommand) -> list[tuple[tuple[str, ...], CheckCommand]]:
    """The files of a commit and the directories that lose a file, each with its options.

    Only findings count that are new since `changed_since`, else since HEAD; all of them when no file differs from
    HEAD, as the hook then runs over all files. With fixes there are only the files, and fixes of the same findings.
    """
    if options.fix or options.diff:
        return [(names, options)]
    base = options.changed_since or HEAD
    since = base if options.changed_since or (names and is_changed(names)) else None
    folders = _losing(base)
    files = [(names, replace(options, changed_since=since))] if names or not folders else []
    return files + [((folder,), replace(options, changed_since=base)) for folder in folders]


def is_changed(names: tuple[str, ...]) -> bool:
    """Whether any of the files, and of those in the directories, differs from HEAD, in the index or here.

    Their bytes are compared here: git would run filters that the configuration names.
    """
    literal = [f":(literal){name}" for name in names]
    try:
        objects = open_repository(None)
        if objects.find(HEAD) is None:
            return False
        if objects.run("diff-index", "--cached", "--name-only", HEAD, "--", *literal):
            return True
        blobs = ((name, objects.find(f"{HEAD}:./{os.path.relpath(name)}")) for name in _files(names))
        return any(blob and _lines(blob.data) != _lines(read(name)) for name, blob in blobs)
    except SourceError:
        return False


def _files(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield from [name] if os.path.isfile(name) else []
        for place, folders, files in os.walk(name):
            folders[:] = filter(is_walked, folders)
            yield from (os.path.join(place, file) for file in files if file.endswith(".json"))


def _lines(data: bytes) -> bytes:
    """The bytes with the line ends that a repository has by default."""
    return data.replace(b"\r\n", b"\n")


def _losing(base: str) -> tuple[str, ...]:
    """The existing directories, relative to the working directory, whose commit loses a JSON file of the revision."""
    if not is_revision(base):
        return ()
    options = ("--name-only", "--no-renames", "--diff-filter=D", "-z")
    output = open_repository(None).run("diff-index", "--cached", *options, base, "--")
    top = home_of(os.curdir)
    folders = {os.path.dirname(os.path.join(top, path)) for path in output.split("\0") if path.endswith(".json")}
    return tuple(os.path.relpath(folder) for folder in sorted(folders) if os.path.isdir(folder))


def _is_definition(name: str) -> bool:
    """Whether a file is a definition, or is not another kind of file and lies beside a definition."""
    folder = os.path.dirname(name) or os.curdir
    kind = kind_of(read(name), os.path.basename(name))
    if kind in ("definition", "other"):
        return kind == "definition"
    paths = (os.path.join(folder, file) for file in os.listdir(folder) if file.endswith(".json"))
    files = ((read(path), os.path.basename(path)) for path in paths if os.path.isfile(path))
    return any(kind_of(*file) == "definition" for file in files)
