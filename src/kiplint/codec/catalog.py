"""The messages of one or more schema sets, found by name or by API key, with their codecs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kiplint.codec.codec import Codec
from kiplint.codec.sources import Definitions, Messages
from kiplint.model.header_map import header_of
from kiplint.model.message import Message

HEADERS = {"request": "RequestHeader", "response": "ResponseHeader"}


class Catalog:
    """Where several sets have a version of a message, the first of them is taken.

    The files in `context` were not asked for: they lie beside one that was.
    """

    def __init__(self, sets: Sequence[Definitions | Messages], context: frozenset[str] = frozenset()) -> None:
        self._sets = sets
        self.context = context
        self._named: dict[str, list[Message]] = {}
        self._keyed: dict[tuple[str, int], list[Message]] = {}
        self._homes: dict[int, Definitions | Messages] = {}
        self._codecs: dict[tuple[int, int], Codec] = {}

    @classmethod
    def of(cls, messages: Iterable[Message]) -> Catalog:
        """The catalog of messages that are at hand."""
        return cls([Messages(messages)])

    @property
    def broken(self) -> list[str]:
        """The definitions that were looked at and could not be read."""
        return [file for one in self._sets for file in one.broken]

    @property
    def names(self) -> list[str]:
        """The names of all messages."""
        return list(dict.fromkeys(message.name for one in self._sets for message in one.all()))

    @property
    def api_keys(self) -> list[int]:
        """The API keys of all requests, lowest first."""
        messages = (message for one in self._sets for message in one.all())
        return sorted(
            {message.api_key for message in messages if message.type == "request" and message.api_key is not None}
        )

    def named(self, name: str) -> list[Message]:
        """The messages of that name, of every set that has one."""
        if name not in self._named:
            self._named[name] = [message for one in self._sets for message in self._at_home(one, one.named(name))]
        return self._named[name]

    def keyed(self, kind: str, api_key: int) -> list[Message]:
        """The messages of a type with an API key: requests, responses, or metadata records."""
        if (kind, api_key) not in self._keyed:
            found = (message for one in self._sets for message in self._at_home(one, one.keyed(api_key)))
            self._keyed[kind, api_key] = [message for message in found if message.type == kind]
        return self._keyed[kind, api_key]

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
        number, name = header_of(message, version), HEADERS[message.type]
        home = self._homes.get(id(message))
        for one in [*(home.named(name) if home else ()), *self.named(name)]:
            if one.type == "header" and one.valid.covers(number):
                return number, self.codec(one, number)
        return number, None

    def _at_home(self, home: Definitions | Messages, messages: list[Message]) -> list[Message]:
        for message in messages:
            self._homes[id(message)] = home
        return messages


def having(messages: Iterable[Message], version: int) -> Message | None:
    """The first of the messages that has the version."""
    return next((one for one in messages if one.valid.covers(version)), None)
