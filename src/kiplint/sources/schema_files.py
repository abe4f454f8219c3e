"""The files of schema sets: which JSON files are definitions, and trees of files as sets."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from kiplint.text.decode import blank_comments
from kiplint.text.show import printable

Kind = Literal["definition", "malformed", "broken", "other"]
"""`malformed`: a definition if others are in its directory; `broken`: empty, or not text."""

Keep = Callable[[str], bool]
"""Whether a path is not excluded."""

_PROPERTIES: Final = """
    name type apiKey listeners validVersions deprecatedVersions flexibleVersions latestVersionUnstable headerVersions
    commonStructs fields"""
PROPERTIES: Final = frozenset(_PROPERTIES.split())
"""The properties of a definition; an object with two of them is meant to be one."""

MESSAGE_TYPES: Final = ("request", "response", "header", "metadata", "data", "coordinator-key", "coordinator-value")

LARGEST_ENTRY: Final = (1 << 20) + 1
"""How much is read of a file: enough to see that it is too large."""


class SourceError(Exception):
    """A source that cannot be read or has nothing to check; the text names it and the reason."""


class NothingThereError(SourceError):
    """A source without any definition."""


class SchemaFile(msgspec.Struct, frozen=True):
    """One file: the path to show, its bytes, and whether it is reported or only context for the others."""

    path: str
    data: bytes
    is_reported: bool = True


class SchemaFiles(msgspec.Struct, frozen=True):
    """The definition files of one directory; `single_file` if it is one named file without siblings.

    `directory` is the path to show; `relative` the same, relative to the directory, revision or archive that was
    named, with slashes, and empty for its root. `left_out` are the JSON files beside them that are not definitions.
    `links` are the links that were not followed, all of a tree in its first set.
    """

    directory: str
    files: tuple[SchemaFile, ...]
    single_file: bool = False
    relative: str = ""
    left_out: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def kind_of(data: bytes) -> Kind:
    """What a file is.

    A definition is an object that has versions, or a type and an API key, at its top level. In a directory of
    definitions a file is also meant to be a definition that is not JSON, or an object that is empty or has two of their
    properties and no type of another kind.
    """
    if len(data) >= LARGEST_ENTRY:
        text = blank_comments(data)
        is_definition = not text.strip() or _has_marks(_first_properties(text))  # whatever comes after a long comment
        return "definition" if is_definition else "other"
    if _has_marks(_first_properties(data)):
        return "definition"
    value = _value(data)
    if value is None and not _has_marks(data):
        return "malformed" if data.strip() and _is_text(data) else "broken"
    if value is not None and not isinstance(value, dict):
        return "other"
    if value is None or _has_marks(b" ".join(key.encode(errors="replace") for key in value)):
        return "definition"
    is_meant = len(PROPERTIES & value.keys()) >= 2 and value.get("type", "data") in MESSAGE_TYPES
    return "malformed" if is_meant or not value else "other"


def _has_marks(data: bytes) -> bool:
    """Whether a text has the words that make a definition."""
    return b"validVersions" in data or b"flexibleVersions" in data or (b"apiKey" in data and b"type" in data)


def _first_properties(data: bytes) -> bytes:
    """The text from the first brace, outside any list, up to the second: top-level properties, without parsing."""
    start = data.find(b"{")
    bracket = data.find(b"[")
    return b"" if -1 < bracket < start else data[start : data.find(b"{", start + 1)]


def _value(data: bytes) -> Any:
    """The value of JSON with comments; None for anything else."""
    import json  # rarely needed

    try:
        return json.loads(blank_comments(data))
    except (ValueError, RecursionError):
        return None


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def definitions(files: Iterable[SchemaFile], *, certain: bool) -> tuple[tuple[SchemaFile, ...], tuple[str, ...]]:
    """The files of one directory that are definitions, and where there are some the paths of the others.

    Where there are some, also those that are meant to be; and where it is `certain` that there should be, also those
    too broken to tell: empty, or not text.
    """
    kinds = [(file, kind_of(file.data)) for file in files]
    has_definition = any(kind == "definition" for _, kind in kinds)
    definition_kinds = {"definition"} | ({"malformed"} if has_definition else set())
    definition_kinds |= {"broken"} if has_definition or certain else set()
    left_out = tuple(file.path for file, kind in kinds if kind not in definition_kinds) if has_definition else ()
    return tuple(file for file, kind in kinds if kind in definition_kinds), left_out


class FileTree(msgspec.Struct, frozen=True):
    """The JSON files of a tree.

    `name` is what the user called it; `prefix` goes before the path of a file to show it, and ends in a slash or
    colon; `home` goes before it to ask whether it is excluded. `folders` maps each folder's path, without slashes
    around it, to its files: name to bytes, or to what `read` takes to give them. `links` are the paths of links that
    could be files or folders of definitions; they are not followed.
    """

    name: str
    prefix: str
    home: str
    folders: dict[str, dict[str, Any]]
    read: Callable[[Any], bytes] = bytes
    links: tuple[str, ...] = ()

    def sets(self, keep: Keep) -> Iterator[SchemaFiles]:
        """One set for each folder with definitions, outer before inner; raises SourceError when there is none."""
        empty = True
        links = tuple(printable(self.prefix + link) for link in sorted(self.links) if keep(self.home + link))
        for folder in sorted(self.folders, key=lambda path: path.split("/")):
            definition_files, left_out = definitions(self.files(folder, keep), certain=not folder)
            if definition_files:
                directory = self.directory(folder)
                yield SchemaFiles(directory, definition_files, relative=folder, left_out=left_out, links=links)
                empty, links = False, ()
        if empty:
            paths = (f"{folder}/{name}".lstrip("/") for folder, files in self.folders.items() for name in files)
            rest = "" if all(keep(self.home + path) for path in paths) else " that is not excluded by the configuration"
            rest += "; links are not followed" if links else ""
            raise NothingThereError(f"nothing to check: no message definition in {self.name}{rest}")

    def named_files(self, names: Collection[str], keep: Keep) -> SchemaFiles | None:
        """The set of some files of the outermost folder, the others there being context; None if all are excluded.

        Raises SourceError for a named file that is JSON of another kind.
        """
        paths = {printable(self.prefix + name) for name in names}
        files: list[SchemaFile] = []
        siblings: list[SchemaFile] = []
        for file in self.files("", keep):
            if file.path not in paths:
                siblings.append(SchemaFile(file.path, file.data, is_reported=False))
            elif kind_of(file.data) == "other":
                raise SourceError(f"{file.path} is JSON, but not a message definition (it has no validVersions)")
            else:
                files.append(file)
        together = sorted((*files, *definitions(siblings, certain=False)[0]), key=lambda file: file.path)
        return SchemaFiles(self.directory(""), tuple(together), single_file=len(together) == 1) if files else None

    def files(self, folder: str, keep: Keep) -> list[SchemaFile]:
        """The files of a folder that are not excluded."""
        before = f"{folder}/" if folder else ""
        files = self.folders.get(folder, {})
        names = [name for name in sorted(files) if keep(self.home + before + name)]
        return [SchemaFile(printable(self.prefix + before + name), self.read(files[name])) for name in names]

    def directory(self, folder: str) -> str:
        """The path of a folder, to show."""
        return printable(self.prefix + folder).rstrip("/").removesuffix("!") or (self.prefix[:1] or os.curdir)


def is_walked(folder: str) -> bool:
    """Whether a folder is searched: all but hidden folders, `node_modules`, and the log of a Delta table."""
    return not folder.startswith(".") and folder not in ("", "node_modules", "_delta_log")


def by_folder(files: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Files by path, grouped by folder; those that are not searched are left out."""
    folders: dict[str, dict[str, Any]] = {}
    for path, file in files.items():
        folder, _, name = path.rpartition("/")
        if not folder or all(map(is_walked, folder.split("/"))):
            folders.setdefault(folder, {})[name] = file
    return folders
