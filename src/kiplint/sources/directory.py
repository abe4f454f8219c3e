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
        with open(path, "rb") as file:
            return file.read(LARGEST)
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
    def fail(error: OSError) -> None:
        raise SourceError(f"cannot read {error.filename}: {error.strerror}")

    for directory, folders, names in os.walk(top, onerror=fail):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        paths = [os.path.join(directory, name) for name in sorted(names) if name.endswith(".json")]
        paths = [path for path in paths if keep(path) and os.path.isfile(path)]
        if paths:
            found = definitions((SchemaFile(shown(path), read(path)) for path in paths), certain=directory == top)
            if found:
                yield SchemaFiles(shown(directory), found)


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
    others = [path for path in _siblings(directory) if shown(path) not in taken and keep(path)]
    context = definitions((SchemaFile(shown(path), read(path), wanted=False) for path in others), certain=False)
    together = tuple(sorted((*files, *context), key=lambda one: one.path))
    return SchemaFiles(shown(directory or "."), together, lone=len(together) == 1)


def _siblings(directory: str) -> list[str]:
    if not os.path.isdir(directory or "."):
        return []
    names = sorted(name for name in os.listdir(directory or ".") if name.endswith(".json"))
    return [path for name in names if os.path.isfile(path := os.path.join(directory, name))]
