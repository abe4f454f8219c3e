"""The messages of schema sets by name or API key, with their codecs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from kiplint.codec.codec import Codec
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.model.error_codes import ERRORS, ERRORS_JAVA, ErrorCode, read_errors
from kiplint.model.headers import header_of
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet
from kiplint.sources.open import open_sets, text_of_tree
from kiplint.text.words import did_you_mean
from kiplint.versions import VersionRange

HEADERS = {"request": "RequestHeader", "response": "ResponseHeader"}

SCANS = 16
"""How many names are searched for in the bytes of a set before its strings are indexed: most runs need fewer."""

_PIECE = re.compile(rb"""[^"'\\\r\n]+""")
"""A string, a part of one without quotes and escapes, or what stands between strings."""

_API_KEY = re.compile(rb"""apiKey["']?\s*:\s*["']?(-?)0*(\d{1,9})\b""")
"""The property `apiKey`: the sign of its value, and its digits without leading zeros."""


class Catalog:
    """The messages of several sets. Where several sets have a version of a message, the first set wins.

    The files in `context` were not selected: they lie beside a selected file. `errors` are the error codes.
    """

    def __init__(
        self,
        sets: Sequence[Definitions],
        context: frozenset[str] = frozenset(),
        errors: Mapping[int, ErrorCode] = ERRORS,
    ) -> None:
        self._sets = sets
        self.context = context
        self.errors = errors
        self._messages_by_name: dict[str, list[Message]] = {}
        self._messages_by_key: dict[tuple[str, int], list[Message]] = {}
        self._homes: dict[int, Definitions] = {}
        self._codecs: dict[tuple[int, int], Codec] = {}
        self._headers: dict[tuple[int, int], tuple[int, Codec | None]] = {}
        self._frames: dict[tuple[str, int, int], tuple[int, Codec, Codec] | None] = {}

    @property
    def broken(self) -> list[str]:
        """The definitions that were loaded and cannot be read."""
        return [file for home in self._sets for file in home.broken]

    def _all(self) -> Iterator[Message]:
        return (message for home in self._sets for message in home.all())

    @property
    def names(self) -> list[str]:
        """The names of all messages."""
        return list(dict.fromkeys(message.name for message in self._all()))

    @property
    def api_keys(self) -> list[int]:
        """The API keys of all requests, lowest first."""
        requests = (message for message in self._all() if message.type == "request")
        return sorted({message.api_key for message in requests if message.api_key is not None})

    def with_name(self, name: str) -> list[Message]:
        """The messages of that name, from every set that has it."""
        if name not in self._messages_by_name:
            messages = (message for home in self._sets for message in self._at_home(home, home.with_name(name)))
            self._messages_by_name[name] = list(messages)
        return self._messages_by_name[name]

    def with_key(self, kind: str, api_key: int) -> list[Message]:
        """The messages of a type with an API key: requests, responses, or metadata records."""
        if (kind, api_key) not in self._messages_by_key:
            messages = (message for home in self._sets for message in self._at_home(home, home.with_key(api_key)))
            self._messages_by_key[kind, api_key] = [message for message in messages if message.type == kind]
        return self._messages_by_key[kind, api_key]

    def beside(self, message: Message) -> list[Message]:
        """The messages of the set that a message of this catalog is from."""
        home = self._homes[id(message)]
        return self._at_home(home, [*home.all()])

    def codec(self, message: Message, version: int) -> Codec:
        """The codec of a version of a message, made once."""
        key = (id(message), version)
        if key not in self._codecs:
            self._codecs[key] = Codec(message, version)
        return self._codecs[key]

    def header(self, message: Message, version: int) -> tuple[int, Codec | None]:
        """The header version in front of a version of a request or response, and its codec, None where unknown."""
        key = (id(message), version)
        if key not in self._headers:
            self._headers[key] = self._header(message, version)
        return self._headers[key]

    def codecs(self, kind: str, api_key: int, version: int) -> tuple[int, Codec, Codec] | None:
        """The header version, and the codecs of header and body, where both can be read."""
        key = (kind, api_key, version)
        if key not in self._frames:
            message = having(self.with_key(kind, api_key), version)
            number, header = self.header(message, version) if message else (-1, None)
            body = self.codec(message, version) if message else None
            if header is None or body is None or header.unusable or body.unusable:
                self._frames[key] = None
            else:
                self._frames[key] = number, header, body
        return self._frames[key]

    def _header(self, message: Message, version: int) -> tuple[int, Codec | None]:
        number, name = header_of(message, version), HEADERS[message.type]
        home = self._homes.get(id(message))
        candidates = [*(home.with_name(name) if home else ()), *self.with_name(name)]
        header = having((candidate for candidate in candidates if candidate.type == "header"), number)
        return number, self.codec(header, number) if header else None

    def _at_home(self, home: Definitions, messages: list[Message]) -> list[Message]:
        for message in messages:
            self._homes[id(message)] = home
        return messages


def having(messages: Iterable[Message], version: int) -> Message | None:
    """The first of the messages that has the version."""
    return next((message for message in messages if version in message.valid), None)


class Definitions:
    """The definition files of one directory, as pairs of path and bytes. A file is loaded when a search matches it.

    The place of a file is its index among them. `broken` are the loaded files that cannot be read.
    """

    def __init__(self, files: Sequence[tuple[str, bytes]]) -> None:
        self._files = files
        self._loaded: dict[int, Message | None] = {}
        self._places_by_name: dict[str, list[int]] = {}
        self._places_by_key: dict[int | None, list[int]] = {}
        self._scan_count = 0
        self.broken: list[str] = []

    def with_name(self, name: str) -> list[Message]:
        """The messages of that name."""
        if len(self._loaded) < len(self._files):
            self._load(self._places_of_text(name.encode("utf-8", "replace")))
        return self._at(self._places_by_name.get(name, ()))

    def with_key(self, api_key: int) -> list[Message]:
        """The messages with that API key, of whatever type."""
        self._load(self._unread_by_key.pop(api_key, ()))
        return self._at(self._places_by_key.get(api_key, ()))

    def all(self) -> tuple[Message, ...]:
        """All messages, as one set."""
        return self._whole.messages

    @cached_property
    def _whole(self) -> SchemaSet:
        places = range(len(self._files))
        self._load(places)
        return SchemaSet(tuple(self._at(places)))

    def _places_of_text(self, text: bytes) -> Iterable[int]:
        """The places of the files that have the text as a string, and maybe of some others that were not loaded."""
        if self._scan_count < SCANS:
            self._scan_count += 1
            return [place for place, (_, data) in enumerate(self._files) if text in data]
        return self._unread_by_piece.pop(max(_PIECE.findall(text), key=len, default=b""), ())

    @cached_property
    def _unread_by_piece(self) -> dict[bytes, Iterable[int]]:
        return {b"": range(len(self._files)), **self._index(_PIECE.findall)}

    @cached_property
    def _unread_by_key(self) -> dict[int, list[int]]:
        return self._index(lambda data: (int(sign + digits) for sign, digits in _API_KEY.findall(data)))

    def _index(self, find: Callable[[bytes], Iterable[Any]]) -> dict[Any, list[int]]:
        """For each result of `find`, the places of the files that have it. A search removes the entry that it loads."""
        places: dict[Any, list[int]] = {}
        for place, (_, data) in enumerate(self._files):
            for item in set(find(data)):
                places.setdefault(item, []).append(place)
        return places

    def _load(self, places: Iterable[int]) -> None:
        for place in places:
            if place not in self._loaded:
                path, data = self._files[place]
                message = self._loaded[place] = load(path, data).message
                if message is None:
                    self.broken.append(path)
                else:
                    self._places_by_name.setdefault(message.name, []).append(place)
                    self._places_by_key.setdefault(message.api_key, []).append(place)

    def _at(self, places: Iterable[int]) -> list[Message]:
        """The messages at the places, in the order of the files."""
        return [message for place in sorted(places) if (message := self._loaded[place])]


def open_catalog(sets: Sequence[Path], repository: Path | None) -> Catalog:
    """The messages of all sets, the first set first; each definition is read when it is needed.

    The error codes come from the first tree that has an `Errors.java`, else from Kafka.
    """
    homes = []
    selection: dict[str, bool] = {}
    for path in sets:
        for schema_files in open_sets(
            [os.fspath(path)], lambda path: True, repository=os.fspath(repository) if repository else None
        ):
            homes.append(Definitions([(file.path, file.data) for file in schema_files.files]))
            selection |= {file.path: file.is_reported or selection.get(file.path, False) for file in schema_files.files}
    place = os.fspath(repository) if repository else None
    texts = (text_of_tree(os.fspath(path), ERRORS_JAVA, place) for path in sets)
    errors = next((errors for text in texts if text and (errors := read_errors(text))), ERRORS)
    return Catalog(homes, frozenset(path for path, is_selected in selection.items() if not is_selected), errors)


def chosen_message(catalog: Catalog, text: str) -> tuple[Message, int]:
    """The message and version of `NAME@VERSION`; raises UsageError when no set has it."""
    name, version = _split(text, "MESSAGE@VERSION, such as MetadataRequest@12")
    return _having(catalog.with_name(name), version, name, catalog)


def chosen_response(catalog: Catalog, text: str) -> tuple[int, int]:
    """The API key and version of `KEY@VERSION`, where KEY may be the RPC's name; raises UsageError."""
    name, version = _split(text, "KEY@VERSION, such as Metadata@12 or 3@12")
    if name.isdecimal():
        messages = catalog.with_key("response", int(name))
    else:
        responses = catalog.with_name(f"{name.removesuffix('Response')}Response")
        messages = [message for message in responses if message.type == "response"]
    message, _ = _having(messages, version, name, catalog)
    if message.api_key is None:
        raise UsageError(f"{message.name} has no API key")
    return message.api_key, version


def _split(text: str, expected: str) -> tuple[str, int]:
    name, at, version = text.partition("@")
    if not (name and at and version.isascii() and version.isdecimal() and len(version) < 6):
        raise UsageError(f"{text} is not {expected}")
    return name, int(version)


def _having(messages: list[Message], version: int, name: str, catalog: Catalog) -> tuple[Message, int]:
    message = having(messages, version)
    if message is None and messages:
        versions = VersionRange(pair for message in messages for pair in message.valid.intervals)
        raise UsageError(f"{messages[0].name} has no version {version}; its valid versions are {versions}")
    if message is None:
        raise UsageError(f"no set has {name}{did_you_mean(name, catalog.names)}")
    return message, version
