"""The files of schema sets, as bytes, and the decision which JSON files are definitions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from typing import Final, Literal

import msgspec

Kind = Literal["definition", "malformed", "broken", "other"]
"""`malformed`: a definition if others are in its directory; `broken`: empty, or not text."""

Keep = Callable[[str], bool]
"""Whether a path is not excluded."""

_PROPERTIES: Final = """
    name type apiKey listeners validVersions deprecatedVersions flexibleVersions latestVersionUnstable headerVersions
    commonStructs fields"""
PROPERTIES: Final = frozenset(_PROPERTIES.split())
"""The properties of a definition; an object with two of them, or with two similar words, is meant to be one."""

MESSAGE_TYPES: Final = ("request", "response", "header", "metadata", "data", "coordinator-key", "coordinator-value")

_FOREIGN: Final = "package package-lock tsconfig jsconfig composer renovate manifest lerna deno nx turbo devcontainer"
FOREIGN: Final = frozenset(f"{name}.json" for name in _FOREIGN.split())
"""Names that tools give a meaning of their own."""

LARGEST_ENTRY: Final = (1 << 20) + 1
"""How much is read of a file: enough to see that it is too large."""

MARKS: Final = (b"validVersions", b"flexibleVersions", b"apiKey", b"type")
"""The words that make a definition, in the forms in which `kind_of` combines them."""
_DEFINITION_NAME: Final = r"[A-Z]\w*(?:Request|Response|Header|Record|Key|Value|Data|Message)\.json"
_COMMENT: Final = rb'("(?:\\.|[^"\\])*+"?)|//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)'


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


def kind_of(data: bytes, name: str = "") -> Kind:
    """What a file is; `name` without folders, where it is known.

    A definition is an object that has versions, or a type and an API key, at its top level. In a directory of
    definitions a file is also meant to be a definition that is not JSON, or an object with two of their properties and
    no type of another kind, or empty under the name of a definition; what kiplint writes itself never is.
    """
    if data.strip() in (b"{}", b"[]") and re.fullmatch(_DEFINITION_NAME, name):
        return "malformed"
    first = _first_properties(data)
    if name in FOREIGN or _is_ours(first or data):
        return "other"
    if _has_marks(data) and (_has_marks(first) or _is_definition(data)):
        return "definition"
    if len(data) >= LARGEST_ENTRY and not _without_comments(data).strip():
        return "definition"  # whatever comes after so long a comment
    if _is_broken(data):
        return "broken"
    return "malformed" if len(data) < LARGEST_ENTRY and _is_meant(data, name) else "other"


def _has_marks(data: bytes) -> bool:
    valid, flexible, key, kind = MARKS
    return valid in data or flexible in data or (key in data and kind in data)


def _first_properties(data: bytes) -> bytes:
    """The text from the first brace, outside any list, up to the second: top-level properties, without parsing."""
    start = data.find(b"{")
    bracket = data.find(b"[")
    return b"" if -1 < bracket < start else data[start : data.find(b"{", start + 1)]


def _is_ours(first: bytes) -> bool:
    """Whether a text begins as a report or baseline of kiplint does."""
    beginning = first[:200].lstrip(b"[{ \t\r\n")
    return beginning.startswith((b'"version"', b'"rule"', b'"description"')) or (
        beginning.startswith(b'"$schema"') and b"sarif" in beginning
    )


def _is_definition(data: bytes) -> bool:
    """Whether a text with the words of a definition has them at the top level, or cannot be parsed."""
    value = _value(data) if len(data) < LARGEST_ENTRY else None
    if value is None:
        return True
    return isinstance(value, dict) and _has_marks(b" ".join(b'"%b"' % key.encode(errors="replace") for key in value))


def is_other_json(data: bytes, name: str = "") -> bool:
    """Whether bytes are JSON for another use than a definition: an object or list that is not empty."""
    if kind_of(data, name) != "other":
        return False
    value = _value(data)
    return bool(value) and isinstance(value, list | dict)


def _is_broken(data: bytes) -> bool:
    if not data.strip():
        return True
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return len(data) < LARGEST_ENTRY or error.start < LARGEST_ENTRY - 4  # where it is cut, a character may be
    return False


def _is_meant(data: bytes, name: str) -> bool:
    value = _value(data)
    if not isinstance(value, dict):
        return value is None
    kind = value.get("type", MESSAGE_TYPES[0])
    if not re.fullmatch(_DEFINITION_NAME, name) and not get_close_matches(str(kind), MESSAGE_TYPES, 1, 0.7):
        return False  # such as a package, or a schema of another system
    if len(PROPERTIES & value.keys()) >= 2:
        return True
    close = [key for key in list(value)[:20] if len(key) < 30 and get_close_matches(key, PROPERTIES, 1, 0.8)]
    return len(close) >= 2


def _value(data: bytes) -> object:
    """The value of JSON with comments; None for anything else."""
    import json  # rarely needed

    try:
        return json.loads(_without_comments(data))
    except (ValueError, RecursionError):
        return None


def definitions(files: Iterable[SchemaFile], *, certain: bool) -> tuple[tuple[SchemaFile, ...], tuple[str, ...]]:
    """The files of one directory that are definitions, and where there are some the paths of the others.

    Where there are some, also those that are meant to be; and where it is `certain` that there should be, also those
    too broken to tell: empty, or not text.
    """
    kinds = [(file, kind_of(file.data, os.path.basename(file.path))) for file in files]
    has_definition = any(kind == "definition" for _, kind in kinds)
    definition_kinds = {"definition"} | ({"malformed"} if has_definition else set())
    definition_kinds |= {"broken"} if has_definition or certain else set()
    left_out = tuple(file.path for file, kind in kinds if kind not in definition_kinds) if has_definition else ()
    return tuple(file for file, kind in kinds if kind in definition_kinds), left_out


def with_context(directory: str, selection: Iterable[SchemaFile], others: Iterable[SchemaFile]) -> SchemaFiles:
    """The set of files that were named, each a definition, and of the definitions beside them.

    Raises SourceError for a named file that is JSON of another kind.
    """
    files = list(selection)
    for file in files:
        if is_other_json(file.data, os.path.basename(file.path)):
            raise SourceError(f"{file.path} is JSON, but not a message definition (it has no validVersions)")
    together = sorted((*files, *definitions(others, certain=False)[0]), key=lambda file: file.path)
    return SchemaFiles(directory, tuple(together), single_file=len(together) == 1)


def _without_comments(data: bytes) -> bytes:
    return re.sub(_COMMENT, lambda match: match[1] or b" ", data)
