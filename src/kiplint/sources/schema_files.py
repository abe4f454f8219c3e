"""The files of schema sets, as bytes: what a directory, an archive or a revision holds of them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import msgspec

from kiplint.sources.recognize import is_other_json, kind_of

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
        return NothingThereError(f"nothing to check: no message definition in {place}{rest}")


class SourceError(Exception):
    """A source that cannot be read or holds nothing to check; the text says which, and why."""


class NothingThereError(SourceError):
    """A source without any definition."""


class SchemaFile(msgspec.Struct, frozen=True):
    """One file: the path to show, its bytes, and whether it was asked for or is only context for the others."""

    path: str
    data: bytes
    wanted: bool = True


class SchemaFiles(msgspec.Struct, frozen=True):
    """The definition files of one directory; `lone` when one file was asked for and nothing stands beside it.

    `directory` is the path to show; `relative` the same, relative to the directory, revision or archive that was
    named, with slashes, and empty for its root. `left_out` are the JSON files beside them that are no definitions.
    """

    directory: str
    files: tuple[SchemaFile, ...]
    lone: bool = False
    relative: str = ""
    left_out: tuple[str, ...] = ()


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
    accepted = {"definition"} | ({"meant"} if has_definition else set())
    accepted |= {"broken"} if has_definition or certain else set()
    left_out = tuple(file.path for file, kind in kinds if kind not in accepted) if has_definition else ()
    return tuple(file for file, kind in kinds if kind in accepted), left_out


def is_walked(folder: str) -> bool:
    """Whether a folder of this name is looked into: not a hidden one, nor one of foreign packages."""
    return not folder.startswith(".") and folder != "node_modules"


def with_context(directory: str, named: Iterable[SchemaFile], others: Iterable[SchemaFile]) -> SchemaFiles:
    """The set of files that were named, each a definition, and of the definitions beside them.

    Raises SourceError for a named file that is JSON of another kind.
    """
    files = list(named)
    for file in files:
        if is_other_json(file.data, os.path.basename(file.path)):
            raise SourceError(f"{file.path} is JSON, but not a message definition (it has no validVersions)")
    together = sorted((*files, *definitions(others, certain=False)), key=lambda file: file.path)
    return SchemaFiles(directory, tuple(together), lone=len(together) == 1)


def nearest(word: str, known: Iterable[str], before: str = "") -> str:
    """`; did you mean X?` with the closest of the known words and what goes before it, or empty if none is close."""
    from difflib import get_close_matches

    match = next(iter(get_close_matches(word, list(known)[:20_000], 1)), "")
    return f"; did you mean {before}{match}?" if match else ""
