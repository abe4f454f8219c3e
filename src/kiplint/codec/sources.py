"""Where a catalog's messages are from: definitions that are read when they are asked for, or messages at hand.

Decoding one frame takes three definitions out of hundreds, so most files are only searched for a name or a number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.model.schemas import SchemaSet


class Definitions:
    """The definition files of one directory, as pairs of path and bytes. `broken` are those that could not be read."""

    def __init__(self, files: Sequence[tuple[str, bytes]]) -> None:
        self._files = files
        self._loaded: dict[str, Message | None] = {}
        self._set: SchemaSet | None = None
        self.broken: list[str] = []

    def named(self, name: str) -> list[Message]:
        """The messages of that name."""
        text = name.encode("utf-8", "replace")
        return [one for one in self._load(file for file in self._files if text in file[1]) if one.name == name]

    def keyed(self, api_key: int) -> list[Message]:
        """The messages with that API key, of whatever type."""
        pattern = re.compile(rb"""apiKey["']?\s*:\s*["']?0*%d\b""" % api_key) if api_key >= 0 else re.compile(b"apiKey")
        return [
            one for one in self._load(file for file in self._files if pattern.search(file[1])) if one.api_key == api_key
        ]

    def all(self) -> tuple[Message, ...]:
        """All messages, as one set."""
        if self._set is None:
            self._set = SchemaSet(tuple(self._load(self._files)))
        return self._set.messages

    def _load(self, files: Iterable[tuple[str, bytes]]) -> list[Message]:
        found = []
        for path, data in files:
            if path not in self._loaded:
                self._loaded[path] = load(path, data).message
                if self._loaded[path] is None:
                    self.broken.append(path)
            message = self._loaded[path]
            if message is not None:
                found.append(message)
        return found


class Messages:
    """Messages that are at hand."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._messages = tuple(messages)
        self._by_name: dict[str, list[Message]] = {}
        self._by_key: dict[int | None, list[Message]] = {}
        for message in self._messages:
            self._by_name.setdefault(message.name, []).append(message)
            self._by_key.setdefault(message.api_key, []).append(message)
        self.broken: list[str] = []

    def named(self, name: str) -> list[Message]:
        """The messages of that name."""
        return self._by_name.get(name, [])

    def keyed(self, api_key: int) -> list[Message]:
        """The messages with that API key, of whatever type."""
        return self._by_key.get(api_key, [])

    def all(self) -> tuple[Message, ...]:
        """All messages."""
        return self._messages
