"""The files of schema sets, as bytes: what a directory, an archive or a revision holds of them."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


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


def is_definition(data: bytes) -> bool:
    """Whether bytes look like a message definition, well-formed or not, and not like some other JSON."""
    if b"validVersions" in data or b"flexibleVersions" in data:
        return True
    return b"apiKey" in data and b"type" in data


def is_other_json(data: bytes) -> bool:
    """Whether bytes look like JSON that is no definition: an object or list with something in it, for another use."""
    return not is_definition(data) and any(mark in data for mark in (b":", b",")) and data.strip()[:1] in (b"{", b"[")


def definitions(files: Iterable[SchemaFile], *, certain: bool) -> tuple[SchemaFile, ...]:
    """The files of one directory that are definitions.

    Where there are some, or it is `certain` that there should be, also those too broken to tell: empty, or not text.
    """
    found = list(files)
    certain = certain or any(is_definition(one.data) for one in found)
    return tuple(one for one in found if is_definition(one.data) or (certain and _is_broken(one.data)))


def _is_broken(data: bytes) -> bool:
    if not data.strip():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return True
    return False
