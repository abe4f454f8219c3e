"""Which message and version is meant: `Metadata@12`, `3@12`, `MetadataRequest@12`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kiplint.codec.catalog import Catalog, having
from kiplint.codec.sources import Definitions
from kiplint.engine.errors import UsageError
from kiplint.model.message import Message
from kiplint.runs.configuration import Path
from kiplint.sources.open import open_sets
from kiplint.text.suggest import did_you_mean
from kiplint.versions import VersionRange


def open_catalog(sets: Sequence[Path], repository: Path | None) -> Catalog:
    """The messages of all sets, the first set first; definitions are read when they are asked for."""
    found = []
    asked: dict[str, bool] = {}
    for one in sets:
        opened = open_sets(
            [os.fspath(one)], lambda path: True, repository=os.fspath(repository) if repository else None
        )
        for files in opened:
            found.append(Definitions([(file.path, file.data) for file in files.files]))
            asked |= {file.path: file.wanted or asked.get(file.path, False) for file in files.files}
    return Catalog(found, frozenset(path for path, wanted in asked.items() if not wanted))


def chosen_message(catalog: Catalog, text: str) -> tuple[Message, int]:
    """The message and version of `NAME@VERSION`; raises UsageError when no set has it."""
    name, version = _split(text, "MESSAGE@VERSION, such as MetadataRequest@12")
    return _having(catalog.named(name), version, name, catalog)


def chosen_response(catalog: Catalog, text: str) -> tuple[int, int]:
    """The API key and version of `KEY@VERSION`, where KEY may be the RPC's name; raises UsageError."""
    name, version = _split(text, "KEY@VERSION, such as Metadata@12 or 3@12")
    if name.isdecimal():
        messages = catalog.keyed("response", int(name))
    else:
        messages = [one for one in catalog.named(f"{name.removesuffix('Response')}Response") if one.type == "response"]
    message, _ = _having(messages, version, name, catalog)
    if message.api_key is None:
        raise UsageError(f"{message.name} has no API key")
    return message.api_key, version


def _split(text: str, wanted: str) -> tuple[str, int]:
    name, at, version = text.partition("@")
    if not (name and at and version.isascii() and version.isdecimal() and len(version) < 6):
        raise UsageError(f"{text} is not {wanted}")
    return name, int(version)


def _having(messages: list[Message], version: int, name: str, catalog: Catalog) -> tuple[Message, int]:
    message = having(messages, version)
    if message is None and messages:
        known = VersionRange(pair for one in messages for pair in one.valid)
        raise UsageError(f"{messages[0].name} has no version {version}; its valid versions are {known}")
    if message is None:
        raise UsageError(f"no set has {name}{did_you_mean(name, catalog.names)}")
    return message, version
