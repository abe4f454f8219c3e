"""The messages of one or more schema sets, found by name or by API key, with their codecs."""

from __future__ import annotations

from collections.abc import Iterable

from kiplint.codec.codec import Codec
from kiplint.model.header_map import header_of
from kiplint.model.message import Message

HEADERS = {"request": "RequestHeader", "response": "ResponseHeader"}


class Catalog:
    """Where several sets have a version of a message, the first of them is taken."""

    def __init__(self, messages: Iterable[Message]) -> None:
        self._by_name: dict[str, list[Message]] = {}
        self._by_key: dict[tuple[str, int], list[Message]] = {}
        self._codecs: dict[tuple[int, int], Codec] = {}
        for message in messages:
            self._by_name.setdefault(message.name, []).append(message)
            if message.api_key is not None:
                self._by_key.setdefault((message.type, message.api_key), []).append(message)

    @property
    def names(self) -> list[str]:
        """The names of all messages."""
        return list(self._by_name)

    def named(self, name: str) -> list[Message]:
        """The messages of that name, of every set that has one."""
        return self._by_name.get(name, [])

    def keyed(self, kind: str, api_key: int) -> list[Message]:
        """The messages of a type with an API key: requests, responses, or metadata records."""
        return self._by_key.get((kind, api_key), [])

    @property
    def api_keys(self) -> list[int]:
        """The API keys of all requests, lowest first."""
        return sorted(key for kind, key in self._by_key if kind == "request")

    def codec(self, message: Message, version: int) -> Codec:
        """The codec of a version of a message, made once."""
        key = (id(message), version)
        if key not in self._codecs:
            self._codecs[key] = Codec(message, version)
        return self._codecs[key]

    def header(self, message: Message, version: int) -> tuple[int, Codec | None]:
        """The header version in front of a version of a request or response, and its codec, None where unknown."""
        number = header_of(message, version)
        candidates = [*message.schemas.messages, *self.named(HEADERS[message.type])]
        for one in candidates:
            if one.name == HEADERS[message.type] and one.type == "header" and one.valid.covers(number):
                return number, self.codec(one, number)
        return number, None


def having(messages: Iterable[Message], version: int) -> Message | None:
    """The first of the messages that has the version."""
    return next((one for one in messages if one.valid.covers(version)), None)
