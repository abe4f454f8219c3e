"""The files of schema sets: which JSON files are definitions, and trees of files as sets."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any, Final, Literal

import msgspec

from kiplint.text.decode import blank_comments
from kiplint.text.show import printable

Kind = Literal["definition", "malformed", "other"]
"""`malformed` is what is meant to be a definition if others are in its directory."""

Includes = Callable[[str], bool]
"""Whether a path is included; false for one that the configuration excludes."""

_PROPERTIES: Final = """
    name type apiKey listeners validVersions deprecatedVersions flexibleVersions latestVersionUnstable headerVersions
    commonStructs fields"""
PROPERTIES: Final = frozenset(_PROPERTIES.split())
"""The properties of a definition; an object with two of them is meant to be one."""

MESSAGE_TYPES: Final = ("request", "response", "header", "metadata", "data", "coordinator-key", "coordinator-value")

MAX_BYTES_READ: Final = (1 << 20) + 1
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

    `directory` is the path to show. `relative` is the path below the directory, revision or archive that was named,
    with slashes, and empty for its root. `left_out` are the paths of the JSON files beside them that are not
    definitions. `links` are the links that were not followed, all of a tree in its first set.
    """

    directory: str
    files: tuple[SchemaFile, ...]
    single_file: bool = False
    relative: str = ""
    left_out: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def kind_of(data: bytes) -> Kind:
    """What a file is.

    A definition is an object with the property `validVersions` or `flexibleVersions`, or with `apiKey` and `type`, or
    broken JSON with these words. Malformed is all other text that is not JSON, an empty object, and an object that has
    two properties of definitions and no type of another kind.
    """
    if len(data) >= MAX_BYTES_READ:
        beginning = blank_comments(data)
        is_only_comment = not beginning.strip()  # anything could follow a comment that is so long
        return "definition" if is_only_comment or _defines_message(_first_properties(beginning)) else "other"
    if _defines_message(_first_properties(data)):  # nearly all definitions show it before the first field
        return "definition"
    try:
        value = json.loads(blank_comments(data))
    except (ValueError, RecursionError):
        return "definition" if _defines_message(data) else "malformed"
    if not isinstance(value, dict):
        return "other"
    if _defines_message(" ".join(value).encode(errors="replace")):
        return "definition"
    looks_like_definition = len(PROPERTIES & value.keys()) >= 2 and value.get("type", "data") in MESSAGE_TYPES
    return "malformed" if looks_like_definition or not value else "other"


def _defines_message(text: bytes) -> bool:
    """Whether a text has the words that only a definition has."""
    return b"validVersions" in text or b"flexibleVersions" in text or (b"apiKey" in text and b"type" in text)


def _first_properties(data: bytes) -> bytes:
    """The text from the first brace up to the second, which has top-level properties only; empty for a list."""
    start = data.find(b"{")
    is_list = b"[" in data[: max(start, 0)]
    return b"" if is_list else data[start : data.find(b"{", start + 1)]


def definitions(files: Iterable[SchemaFile]) -> tuple[tuple[SchemaFile, ...], tuple[str, ...]]:
    """The files of one directory that are definitions or malformed, and the paths of the others.

    Both are empty unless at least one file is a definition.
    """
    kinds = [(file, kind_of(file.data)) for file in files]
    if not any(kind == "definition" for _, kind in kinds):
        return (), ()
    definition_files = tuple(file for file, kind in kinds if kind != "other")
    return definition_files, tuple(file.path for file, kind in kinds if kind == "other")


class FileTree(msgspec.Struct, frozen=True):
    """The JSON files of a tree: a directory, a revision or an archive.

    `name` is what the user called it. `shown_prefix` goes before the path of a file to show it, such as `4.0.0:`, and
    `include_prefix` to ask whether it is included. `folders` maps each folder's path, without slashes around it, to its
    files: name to bytes, or to what `read` takes to give them. `links` are the paths of links that could be files or
    folders of definitions; they are not followed. `notes` are for the user.
    """

    name: str
    shown_prefix: str
    include_prefix: str
    folders: dict[str, dict[str, Any]]
    read: Callable[[Any], bytes] = bytes
    links: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def sets(self, includes: Includes) -> Iterator[SchemaFiles]:
        """One set for each folder with definitions, outer before inner; raises NothingThereError when there is none."""
        included_links = (link for link in sorted(self.links) if includes(self.include_prefix + link))
        links = tuple(printable(self.shown_prefix + link) for link in included_links)
        unlisted_links = links
        has_set = False
        for folder in sorted(self.folders, key=lambda path: path.split("/")):
            definition_files, left_out = definitions(self.files(folder, includes))
            if definition_files:
                directory = self.directory(folder)
                yield SchemaFiles(directory, definition_files, relative=folder, left_out=left_out, links=unlisted_links)
                has_set, unlisted_links = True, ()
        if not has_set:
            paths = [f"{folder}/{name}".lstrip("/") for folder, files in self.folders.items() for name in files]
            has_excluded = not all(includes(self.include_prefix + path) for path in paths)
            reason = " that is not excluded by the configuration" if has_excluded else ""
            reason += "; links are not followed" if links else ""
            raise NothingThereError(f"nothing to check: no message definition in {self.name}{reason}")

    def named_files(self, names: Collection[str], includes: Includes) -> SchemaFiles | None:
        """The set of the named files of the root, with its other definitions as context; None if all are excluded.

        Raises SourceError for a named file that is JSON of another kind.
        """
        named_paths = {printable(self.shown_prefix + name) for name in names}
        files: list[SchemaFile] = []
        siblings: list[SchemaFile] = []
        for file in self.files("", includes):
            if file.path not in named_paths:
                siblings.append(SchemaFile(file.path, file.data, is_reported=False))
            elif kind_of(file.data) == "other":
                raise SourceError(f"{file.path} is JSON, but not a message definition (it has no validVersions)")
            else:
                files.append(file)
        if not files:
            return None
        context, _ = definitions(siblings)
        all_files = tuple(sorted((*files, *context), key=lambda file: file.path))
        return SchemaFiles(self.directory(""), all_files, single_file=len(all_files) == 1)

    def files(self, folder: str, includes: Includes) -> list[SchemaFile]:
        """The files of a folder that are included."""
        prefix = f"{folder}/" if folder else ""
        files = self.folders.get(folder, {})
        names = [name for name in sorted(files) if includes(self.include_prefix + prefix + name)]
        return [SchemaFile(printable(self.shown_prefix + prefix + name), self.read(files[name])) for name in names]

    def directory(self, folder: str) -> str:
        """The path of a folder as users see it."""
        path = printable(self.shown_prefix + folder).rstrip("/").removesuffix("!")
        return path or self.shown_prefix[:1] or os.curdir  # the root `/` is nothing but the slash that was removed


def is_searched(folder: str) -> bool:
    """Whether a folder of this name is searched: all but hidden ones, `node_modules`, and the log of a Delta table."""
    is_name = folder != ""  # an archive may have a path with two slashes in a row
    return is_name and not folder.startswith(".") and folder not in ("node_modules", "_delta_log")


def by_folder(files: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The files of a tree, given by path, in a dict by folder and name; without folders that are not searched."""
    folders: dict[str, dict[str, Any]] = {}
    for path, file in files.items():
        folder, _, name = path.rpartition("/")
        if not folder or all(is_searched(part) for part in folder.split("/")):
            folders.setdefault(folder, {})[name] = file
    return folders
