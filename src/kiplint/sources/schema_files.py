"""The files of schema sets: which JSON files are definitions, and trees of files as sets."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final, Literal, NamedTuple, NoReturn

import msgspec

from kiplint.limits import DEFINITION_BYTES
from kiplint.text.decode import blank_comments
from kiplint.text.show import printable
from kiplint.text.words import first_of

Kind = Literal["definition", "malformed", "other"]
"""`malformed` is a file that is probably meant to be a definition if its directory has others."""

Includes = Callable[[str], bool]
"""Whether a path is included; false for one that the configuration excludes."""

_PROPERTIES: Final = """
    name type apiKey listeners validVersions deprecatedVersions flexibleVersions latestVersionUnstable headerVersions
    commonStructs fields"""
PROPERTIES: Final = frozenset(_PROPERTIES.split())
"""The properties of a definition; an object with two of them is probably meant to be one."""

MESSAGE_TYPES: Final = ("request", "response", "header", "metadata", "data", "coordinator-key", "coordinator-value")

MAX_BYTES_READ: Final = (1 << 20) + 1
"""The number of bytes read of a file: enough to detect that it is too large."""


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
    with slashes, and empty for its root. `left_out` are the paths of the JSON files next to them that are not
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
    broken JSON with these words. Malformed is an empty object, an object that has two properties of definitions and no
    type of another kind, broken JSON like that, and text that is not JSON at all. Of a file that is cut, one property
    that only definitions have is enough, wherever it stands.
    """
    if is_cut(data):
        text = blank_comments(data)
        if not text.strip():  # anything could follow a comment that is so long
            return "definition"
        values = _top_level_values(text)
        if _defines_message(" ".join(values).encode(errors="replace")):
            return "definition"
        has_property = bool(PROPERTIES - {"name", "type"} & values.keys())
        return "malformed" if has_property and values.get("type", "data") in MESSAGE_TYPES else "other"
    if _defines_message(_first_properties(data)):  # nearly all definitions show it before the first field
        return "definition"
    try:
        value = json.loads(blank_comments(data))
    except (ValueError, RecursionError):
        return "definition" if _defines_message(data) else _kind_of_broken(blank_comments(data))
    if not isinstance(value, dict):
        return "other"
    if _defines_message(" ".join(value).encode(errors="replace")):
        return "definition"
    return "malformed" if _looks_like_definition(value) or not value else "other"


def is_cut(data: bytes) -> bool:
    """Whether a file has more than was read of it."""
    return len(data) >= MAX_BYTES_READ


def _kind_of_broken(text: bytes) -> Kind:
    """The kind of text that is not JSON, such as a configuration with trailing commas: its top level decides."""
    values = _top_level_values(text)
    if not values:
        return "other" if text.lstrip().startswith(b"[") else "malformed"
    return "malformed" if _looks_like_definition(values) or values.keys() <= PROPERTIES else "other"


def _looks_like_definition(values: Mapping[str, Any]) -> bool:
    """Whether an object has two properties of definitions, and no type of another kind."""
    return len(PROPERTIES & values.keys()) >= 2 and values.get("type", "data") in MESSAGE_TYPES


_TOKEN: Final = re.compile(
    rb"""(?x)
    "((?:[^"\\\r\n]++|\\.)*+)"?+ (?: \s*+ : \s*+ (?: "((?:[^"\\\r\n]++|\\.)*+)"?+ )? )?
    | [\[\]{}]"""
)
"""A string, which as a key comes with its value if that is a string, or a bracket."""


def _top_level_values(text: bytes) -> dict[str, str]:
    """The properties of the outermost object of a text without comments, which may be broken or cut.

    The value of a property is its text if that is a string, otherwise empty.
    """
    values: dict[str, str] = {}
    depth = 0
    for match in _TOKEN.finditer(text):
        if match[0] in (b"{", b"["):
            depth += 1
        elif match[0] in (b"}", b"]"):
            depth -= 1
        elif depth == 1 and b":" in match[0]:
            key, value = (group.decode(errors="replace") for group in match.groups(b""))
            values[key] = value
    return values


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
    return definition_files, tuple(file.path for file, kind in kinds if kind == "other" and file.is_reported)


class OpenedSets(NamedTuple):
    """Schema sets, and notes on what was read, such as a name without definitions."""

    sets: tuple[SchemaFiles, ...]
    notes: tuple[str, ...] = ()


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

    def sets(self, includes: Includes) -> OpenedSets:
        """One set for each folder with definitions, outer before inner; raises NothingThereError when there is none."""
        included_links = (link for link in sorted(self.links) if includes(self.include_prefix + link))
        links = tuple(printable(self.shown_prefix + link) for link in included_links)
        sets: list[SchemaFiles] = []
        cut_paths: list[str] = []
        for folder in sorted(self.folders, key=lambda path: path.split("/")):
            files = self.files(folder, includes)
            definition_files, left_out = definitions(files)
            cut_paths += (
                file.path for file in files if file.is_reported and is_cut(file.data) and file not in definition_files
            )
            if any(file.is_reported for file in definition_files):
                directory, listed_links = self.directory(folder), () if sets else links
                sets.append(SchemaFiles(directory, definition_files, False, folder, left_out, listed_links))
        if not sets:
            self._fail_empty(includes, "; links are not followed" if links else "")
        notes = list(self.notes)
        if cut_paths:
            size = DEFINITION_BYTES.figure
            notes.append(
                f"not checked, as only the first {size} are read and have no definition: {first_of(cut_paths, 3)}"
            )
        return OpenedSets(tuple(sets), tuple(notes))

    def _fail_empty(self, includes: Includes, remark: str) -> NoReturn:
        """Raise NothingThereError; `remark` ends its message."""
        paths = [f"{folder}/{name}".lstrip("/") for folder, files in self.folders.items() for name in files]
        has_excluded = not all(includes(self.include_prefix + path) for path in paths)
        reason = " that is not excluded by the configuration" if has_excluded else ""
        raise NothingThereError(f"nothing to check: no message definition in {self.name}{reason}{remark}")

    def named_files(self, names: Collection[str], includes: Includes) -> tuple[SchemaFiles, list[str]]:
        """The set of the named files of the root, with its other definitions as context, and the paths of others.

        The others are JSON of another kind. The set has no file if no file that is named is a definition, or all are
        excluded.
        """
        named_paths = {printable(self.shown_prefix + name) for name in names}
        files: list[SchemaFile] = []
        siblings: list[SchemaFile] = []
        skipped_paths: list[str] = []
        for file in self.files("", includes):
            if file.path not in named_paths or not file.is_reported:
                siblings.append(SchemaFile(file.path, file.data, is_reported=False))
            elif kind_of(file.data) == "other":
                skipped_paths.append(file.path)
            else:
                files.append(file)
        context = definitions(siblings)[0] if files else ()
        all_files = tuple(sorted((*files, *context), key=lambda file: file.path))
        return SchemaFiles(self.directory(""), all_files, single_file=len(all_files) == 1), skipped_paths

    def files(self, folder: str, includes: Includes) -> list[SchemaFile]:
        """The files of a folder, of which those that are not included are only context; none if no file is included."""
        prefix = f"{folder}/" if folder else ""
        data_by_name = self.folders.get(folder, {})
        included = {name for name in data_by_name if includes(self.include_prefix + prefix + name)}
        return [
            SchemaFile(printable(self.shown_prefix + prefix + name), self.read(data), is_reported=name in included)
            for name, data in sorted(data_by_name.items())
            if included
        ]

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
