"""The files of schema sets, as bytes: what a directory, an archive or a revision holds of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

LARGEST_ENTRY = (1 << 20) + 1
"""How much is read of a file that stands in a revision or an archive: enough to see that it is too large."""

MOST_LOOKED_AT = 64 << 20
"""How far a file that is too large is looked at, to know whether it is a definition; beyond, it is taken for one."""

_MARKS = (b"validVersions", b"flexibleVersions", b"apiKey", b"type")

Keep = Callable[[str], bool]
"""Whether a path is not excluded."""


class Keeper:
    """Asks whether paths are excluded, and remembers whether one was."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self.excluded = False

    def __call__(self, path: str) -> bool:
        """Whether a path is not excluded."""
        kept = self._keep(path)
        self.excluded = self.excluded or not kept
        return kept

    def nothing_in(self, place: str) -> SourceError:
        """The error for a place without definitions."""
        rest = " that is not excluded by the configuration" if self.excluded else ""
        return SourceError(f"nothing to check: no message definition in {place}{rest}")


class SourceError(Exception):
    """A source that cannot be read or holds nothing to check; the text says which, and why."""


class SchemaFile(msgspec.Struct, frozen=True):
    """One file: the path to show, its bytes, and whether it was asked for or is only context for the others."""

    path: str
    data: bytes
    wanted: bool = True


class SchemaFiles(msgspec.Struct, frozen=True):
    """The definition files of one directory; `lone` when one file was asked for and nothing stands beside it.

    `directory` is the path to show; `relative` the same, relative to the directory, revision or archive that was
    named, with slashes, and empty for its root.
    """

    directory: str
    files: tuple[SchemaFile, ...]
    lone: bool = False
    relative: str = ""


def label(path: str) -> str:
    """A path that can be printed anywhere: signs that act on a terminal or break a line are written as escapes."""
    if path.isprintable():
        return path
    return "".join(char if char.isprintable() else f"\\u{ord(char):04x}" for char in path)


def is_definition(data: bytes) -> bool:
    """Whether bytes look like a message definition, well-formed or not, and not like some other JSON."""
    valid, flexible, key, kind = (mark in data for mark in _MARKS)
    return valid or flexible or (key and kind)


def marks_of(read: Callable[[int], bytes]) -> tuple[bytes, int]:
    """What the rest of a file that is too large has of the words that `is_definition` looks for, and its bytes.

    Who reads only the beginning puts them behind it, so that no length of comments makes a definition something else.
    """
    found: set[bytes] = set()
    seen, before = 0, b""
    while seen < MOST_LOOKED_AT and (piece := read(1 << 16)):
        seen += len(piece)
        found.update(mark for mark in _MARKS if mark in before + piece)
        before = piece[-20:]
    return b" ".join(sorted(found)) if seen < MOST_LOOKED_AT else _MARKS[0], seen


def kind_of(data: bytes) -> str:
    """What a JSON file is, as far as one file tells: `definition`, `broken` (empty, or no text), or `other`."""
    return "definition" if is_definition(data) else "broken" if _is_broken(data) else "other"


def is_other_json(data: bytes) -> bool:
    """Whether bytes are JSON that is no definition: an object or list with something in it, for another use."""
    if is_definition(data) or not any(mark in data for mark in (b":", b",")):
        return False
    import json  # only for a named file that looks like none of ours

    try:
        return isinstance(json.loads(data), (dict, list))
    except (ValueError, RecursionError):
        return False


def definitions(files: Iterable[SchemaFile], *, certain: bool) -> tuple[SchemaFile, ...]:
    """The files of one directory that are definitions.

    Where there are some, or it is `certain` that there should be, also those too broken to tell: empty, or not text.
    """
    found = list(files)
    certain = certain or any(is_definition(one.data) for one in found)
    kinds = ("definition", "broken") if certain else ("definition",)
    return tuple(one for one in found if kind_of(one.data) in kinds)


def is_walked(folder: str) -> bool:
    """Whether a folder of this name is looked into: not a hidden one, nor one of foreign packages."""
    return not folder.startswith(".") and folder != "node_modules"


def with_context(directory: str, named: Iterable[SchemaFile], others: Iterable[SchemaFile]) -> SchemaFiles:
    """The set of files that were named, each a definition, and of the definitions beside them.

    Raises SourceError for a named file that is JSON of another kind.
    """
    files = list(named)
    for one in files:
        if is_other_json(one.data):
            raise SourceError(f"{one.path} is JSON, but not a message definition (it has no validVersions)")
    together = sorted((*files, *definitions(others, certain=False)), key=lambda one: one.path)
    return SchemaFiles(directory, tuple(together), lone=len(together) == 1)


def nearest(word: str, known: Iterable[str], before: str = "") -> str:
    """`; did you mean X?` with the closest of the known words and what goes before it, or empty if none is close."""
    from difflib import get_close_matches

    found = next(iter(get_close_matches(word, list(known)[:20_000], 1)), "")
    return f"; did you mean {before}{found}?" if found else ""


def _is_broken(data: bytes) -> bool:
    if not data.strip():
        return True
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return len(data) < LARGEST_ENTRY or error.start < LARGEST_ENTRY - 4  # where it is cut, a character may be
    return False
