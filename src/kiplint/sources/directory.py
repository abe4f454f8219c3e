"""Schema sets on disk: directories, trees of directories, single files with their siblings, standard input."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator

from kiplint.sources.schema_files import SchemaFile, SchemaFiles, SourceError, definitions, is_other_json

STDIN = "-"
UNNAMED = "<stdin>"
LARGEST = 64 * 1024 * 1024

Keep = Callable[[str], bool]


def open_sets(names: Iterable[str], keep: Keep, stdin_filename: str = "") -> Iterator[SchemaFiles]:
    """The schema sets that paths name: directories are walked, files are taken with their siblings.

    `keep` says of a path whether it is not excluded. Raises SourceError for what cannot be read, for a directory
    without definitions, and for a named file that is JSON of another kind.
    """
    files: dict[str, dict[str, bytes | None]] = {}
    for name in names:
        if name == STDIN:
            label = stdin_filename or UNNAMED
            files.setdefault(os.path.dirname(label), {})[label] = sys.stdin.buffer.read()
        elif os.path.isdir(name):
            yield from _checked(name, _walk(name, keep))
        elif os.path.lexists(name):
            if keep(name):
                files.setdefault(os.path.dirname(name), {})[name] = None
        else:
            raise SourceError(f"no such file or directory: {name}")
    for directory, named in files.items():
        yield _with_siblings(directory, named, keep)


def shown(path: str) -> str:
    """A path as users see it: relative to the working directory when below it, else as given."""
    if path == UNNAMED:
        return path
    here = os.getcwd()
    full = os.path.abspath(path)
    inside = full.startswith(here + os.sep) or here == os.sep
    return os.path.relpath(full, here) if inside else os.path.normpath(path)


def read(path: str) -> bytes:
    """The bytes of a file, of an oversized one only the beginning; raises SourceError when it cannot be read."""
    try:
        with open(path, "rb", buffering=0) as file:
            return (file.read(LARGEST) if os.fstat(file.fileno()).st_size > LARGEST else file.readall()) or b""
    except OSError as error:
        raise SourceError(f"cannot read {shown(path)}: {error.strerror}") from None


def _checked(name: str, sets: Iterator[SchemaFiles]) -> Iterator[SchemaFiles]:
    empty = True
    for one in sets:
        empty = False
        yield one
    if empty:
        raise SourceError(f"nothing to check: no message definition in {name}")


def _walk(top: str, keep: Keep) -> Iterator[SchemaFiles]:
    waiting = [top]
    while waiting:
        directory = waiting.pop()
        folders, paths = _listing(directory)
        waiting += reversed(folders)
        label = shown(directory)
        before = "" if label == os.curdir else os.path.join(label, "")
        files = [SchemaFile(before + os.path.basename(path), read(path)) for path in paths if keep(path)]
        found = definitions(files, certain=directory == top)
        if found:
            relative = "" if directory == top else os.path.relpath(directory, top).replace(os.sep, "/")
            yield SchemaFiles(label, found, relative=relative)


def _listing(directory: str) -> tuple[list[str], list[str]]:
    """The folders to walk and the JSON files of a directory, sorted; links to folders are not followed."""
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError as error:
        raise SourceError(f"cannot read {shown(directory)}: {error.strerror}") from None
    folders = [entry.path for entry in entries if _is_walked(entry)]
    return folders, [entry.path for entry in entries if entry.name.endswith(".json") and entry.is_file()]


def _is_walked(entry: os.DirEntry[str]) -> bool:
    return entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".") and entry.name != "node_modules"


def _with_siblings(directory: str, named: dict[str, bytes | None], keep: Keep) -> SchemaFiles:
    files = []
    for path, given in named.items():
        if given is None and not os.path.isfile(path):
            raise SourceError(f"cannot read {shown(path)}: it is no file")
        data = read(path) if given is None else given
        if is_other_json(data):
            raise SourceError(f"{shown(path)} is JSON, but not a message definition (it has no validVersions)")
        files.append(SchemaFile(shown(path), data))
    taken = {file.path for file in files}
    beside = _listing(directory or ".")[1] if os.path.isdir(directory or ".") else []
    others = [path for path in beside if shown(path) not in taken and keep(path)]
    context = definitions((SchemaFile(shown(path), read(path), wanted=False) for path in others), certain=False)
    together = tuple(sorted((*files, *context), key=lambda one: one.path))
    return SchemaFiles(shown(directory or "."), together, lone=len(together) == 1)
