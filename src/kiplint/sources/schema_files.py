"""The files of schema sets, as bytes, and the decision which JSON files are definitions."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import Final, Literal

import msgspec

Kind = Literal["definition", "malformed", "broken", "other"]
"""`malformed`: a definition if others are in its directory; `broken`: empty, or not text."""

_PROPERTIES: Final = """
    name type apiKey listeners validVersions deprecatedVersions flexibleVersions latestVersionUnstable headerVersions
    commonStructs fields"""
PROPERTIES: Final = frozenset(_PROPERTIES.split())
"""The properties of a definition; an object with two of them, or with two similar words, is `meant`."""

_FOREIGN: Final = "package package-lock tsconfig jsconfig composer renovate manifest lerna deno nx turbo devcontainer"
FOREIGN: Final = frozenset(f"{name}.json" for name in _FOREIGN.split())
"""Names that tools give a meaning of their own."""

LARGEST_ENTRY: Final = (1 << 20) + 1
"""How much is read of a file: enough to see that it is too large."""

MOST_LOOKED_AT: Final = 64 << 20
"""The maximum of bytes to search in a file that is too large; beyond, it is taken for a definition."""

MARKS: Final = (b"validVersions", b"flexibleVersions", b"apiKey", b"type")
"""The words that make a definition, in the forms in which `kind_of` combines them."""
_DEFINITION_NAME: Final = r"[A-Z]\w*(?:Request|Response|Header|Record|Key|Value|Data|Message)\.json"
_OUR_MARKS: Final = (b'"version"', b'"rule"', b'"$schema"', b'"description"')
_COMMENT: Final = rb'("(?:\\.|[^"\\])*+"?)|//[^\n]*|/\*[\s\S]*?(?:\*/|\Z)'
_OURS: Final = (
    rb'(?:\xef\xbb\xbf)?(?:\s|//[^\n]*\n)*+(?:\{\s*"(?:version|rule)"\s*:|\{\s*"\$schema"\s*:\s*"[^"]*sarif'
    rb'|\[\s*\{\s*"description"\s*:|\[\s*\])'
)


def kind_of(data: bytes, name: str = "") -> Kind:
    """What a file is; `name` without folders, where it is known.

    A definition is an object that has versions, or a type and an API key, at its top level. In a directory of
    definitions a file is also meant to be a definition that is not JSON, or not an object, or an object with two of
    their properties, or empty under the name of a definition; what kiplint writes itself never is.
    """
    if re.fullmatch(_DEFINITION_NAME, name) and data.strip() in (b"{}", b"[]"):
        return "malformed"
    if name in FOREIGN:
        return "other"
    if _may_be_ours(data) and re.match(_OURS, data):
        return "other"
    if _has_marks(data) and (_has_marks(_first_properties(data)) or _is_definition(data)):
        return "definition"
    if _is_broken(data):
        return "broken"
    return "malformed" if len(data) < LARGEST_ENTRY and _is_meant(data) else "other"


def _has_marks(data: bytes) -> bool:
    valid, flexible, key, kind = MARKS
    return valid in data or flexible in data or (key in data and kind in data)


def _first_properties(data: bytes) -> bytes:
    """The text from the first brace, outside any list, up to the second: top-level properties, without parsing."""
    start = data.find(b"{")
    bracket = data.find(b"[")
    return b"" if -1 < bracket < start else data[start : data.find(b"{", start + 1)]


def _is_definition(data: bytes) -> bool:
    """Whether a text with the words of a definition has them at the top level, or cannot be parsed."""
    value = _value(data) if len(data) < LARGEST_ENTRY else None
    if value is None:
        return True
    return isinstance(value, dict) and _has_marks(b" ".join(b'"%b"' % key.encode(errors="replace") for key in value))


def _may_be_ours(data: bytes) -> bool:
    """A cheap test before the pattern of kiplint's own files, which takes as long to compile as 200 files to read."""
    opening = 0 if data.startswith(b"{") else data.find(b"\n{") + 1
    first = data[opening + 1 : opening + 80].lstrip()
    return len(first) < 20 or (opening == 0 and data[:1] != b"{") or first.startswith(_OUR_MARKS)


def marks_of(read: Callable[[int], bytes]) -> tuple[bytes, int]:
    """The marks of a definition in the rest of a file that is too large, and the number of bytes read.

    They are appended to the beginning of the file, so that long comments do not hide a definition.
    """
    marks: set[bytes] = set()
    count, before = 0, b""
    while count < MOST_LOOKED_AT and (piece := read(1 << 16)):
        count += len(piece)
        marks.update(mark for mark in MARKS if mark in before + piece)
        before = piece[-20:]
    return b" ".join(sorted(marks)) if count < MOST_LOOKED_AT else MARKS[0], count


def is_other_json(data: bytes, name: str = "") -> bool:
    """Whether bytes are JSON for another use than a definition: an object or list that is not empty."""
    kind = kind_of(data, name)
    if kind not in ("malformed", "other"):
        return False
    value = _value(data)
    return bool(value) and (isinstance(value, list) or (kind == "other" and isinstance(value, dict)))


def _is_broken(data: bytes) -> bool:
    if not data.strip():
        return True
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return len(data) < LARGEST_ENTRY or error.start < LARGEST_ENTRY - 4  # where it is cut, a character may be
    return False


def _is_meant(data: bytes) -> bool:
    value = _value(data)
    if not isinstance(value, dict):
        return not value or not isinstance(value, list) or not isinstance(value[0], dict)
    if len(PROPERTIES & value.keys()) >= 2:
        return True
    from difflib import get_close_matches

    close = [key for key in list(value)[:20] if len(key) < 30 and get_close_matches(key, PROPERTIES, 1, 0.8)]
    return len(close) >= 2


def _value(data: bytes) -> object:
    """The value of JSON with comments; None for anything else."""
    import json  # rarely needed

    try:
        return json.loads(re.sub(_COMMENT, lambda match: match[1] or b" ", data))
    except (ValueError, RecursionError):
        return None


Keep = Callable[[str], bool]
"""Whether a path is not excluded."""


class Keeper:
    """Tests whether paths are excluded, and remembers whether any was."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self.has_excluded = False

    def __call__(self, path: str) -> bool:
        """Whether a path is not excluded."""
        is_included = self._keep(path)
        self.has_excluded = self.has_excluded or not is_included
        return is_included

    def nothing_in(self, place: str, *, has_links: bool) -> SourceError:
        """The error for a place without definitions."""
        rest = " that is not excluded by the configuration" if self.has_excluded else ""
        rest += "; links are not followed" if has_links else ""
        return NothingThereError(f"nothing to check: no message definition in {place}{rest}")


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
    """The definition files of one directory; `lone` if it is a single named file without siblings.

    `directory` is the path to show; `relative` the same, relative to the directory, revision or archive that was
    named, with slashes, and empty for its root. `left_out` are the JSON files beside them that are not definitions.
    `links` are the links that were not followed, all of a tree in its first set.
    """

    directory: str
    files: tuple[SchemaFile, ...]
    lone: bool = False
    relative: str = ""
    left_out: tuple[str, ...] = ()
    links: tuple[str, ...] = ()


def definitions(files: Iterable[SchemaFile], *, certain: bool) -> tuple[SchemaFile, ...]:
    """The files of one directory that are definitions.

    Where there are some, also those that are meant to be; and where it is `certain` that there should be, also those
    too broken to tell: empty, or not text.
    """
    return sorted_out(files, certain=certain)[0]


def sorted_out(files: Iterable[SchemaFile], *, certain: bool) -> tuple[tuple[SchemaFile, ...], tuple[str, ...]]:
    """The files of one directory that are definitions, as above, and where there are some the paths of the others."""
    kinds = [(file, kind_of(file.data, os.path.basename(file.path))) for file in files]
    has_definition = any(kind == "definition" for _, kind in kinds)
    definition_kinds = {"definition"} | ({"malformed"} if has_definition else set())
    definition_kinds |= {"broken"} if has_definition or certain else set()
    left_out = tuple(file.path for file, kind in kinds if kind not in definition_kinds) if has_definition else ()
    return tuple(file for file, kind in kinds if kind in definition_kinds), left_out


def is_walked(folder: str) -> bool:
    """Whether a folder is searched: all but hidden folders and `node_modules`."""
    return not folder.startswith(".") and folder != "node_modules"


def with_context(directory: str, selection: Iterable[SchemaFile], others: Iterable[SchemaFile]) -> SchemaFiles:
    """The set of files that were named, each a definition, and of the definitions beside them.

    Raises SourceError for a named file that is JSON of another kind.
    """
    files = list(selection)
    for file in files:
        if is_other_json(file.data, os.path.basename(file.path)):
            raise SourceError(f"{file.path} is JSON, but not a message definition (it has no validVersions)")
    together = sorted((*files, *definitions(others, certain=False)), key=lambda file: file.path)
    return SchemaFiles(directory, tuple(together), lone=len(together) == 1)
