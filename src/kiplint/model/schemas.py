"""A schema set: the messages of one directory, as Kafka's generator takes them."""

from __future__ import annotations

from kiplint.model.fact import fact
from kiplint.model.message import Message
from kiplint.model.rpc import Rpc

_FIRST = {"request": "request", "coordinator-key": "coordinator"}
_SECOND = {"response": "request", "coordinator-value": "coordinator"}


class SchemaSet:
    """The messages of one directory. `partial` says that a lone file stands for a set that is not known."""

    def __init__(self, messages: tuple[Message, ...], directory: str = "", partial: bool = False) -> None:
        self._messages = messages
        self.directory = directory
        self.partial = partial
        for message in messages:
            vars(message)["schemas"] = self

    @fact
    def messages(self) -> tuple[Message, ...]:
        """The messages, in the order of their files."""
        return self._messages

    @fact
    def by_name(self) -> dict[str, Message]:
        """The messages by name; of several with one name, the first."""
        return {message.name: message for message in reversed(self._messages)}

    @fact
    def request_header(self) -> Message | None:
        """The message RequestHeader, or None."""
        return self.by_name.get("RequestHeader")

    @fact
    def response_header(self) -> Message | None:
        """The message ResponseHeader, or None."""
        return self.by_name.get("ResponseHeader")

    @fact
    def declares_headers(self) -> bool:
        """Whether any message of the set has `headerVersions` (KIP-1313)."""
        return any(message.says_headers for message in self._messages)

    @fact
    def declares_listeners(self) -> bool:
        """Whether requests of the set say their listeners, as Kafka's do since 2.8; true for a lone file."""
        return self.partial or any(message.says_listeners for message in self._messages)

    @fact
    def has_zookeeper(self) -> bool:
        """Whether several requests are served by `zkBroker`, as in Kafka before 4.0."""
        return sum("zkBroker" in message.listeners for message in self._messages) > 1

    @fact
    def rpcs(self) -> tuple[Rpc, ...]:
        """The RPCs and the coordinator records, by API key."""
        halves: dict[tuple[str, int], list[Message | None]] = {}
        for message in self._messages:
            for place, kinds in enumerate((_FIRST, _SECOND)):
                if message.spec.type in kinds and message.api_key is not None:
                    pair = halves.setdefault((kinds[message.spec.type], message.api_key), [None, None])
                    pair[place] = pair[place] or message
        return tuple(Rpc(key, pair[0], pair[1], partial=self.partial) for (_, key), pair in sorted(halves.items()))

    @fact
    def key_owners(self) -> dict[tuple[str, int], Message]:
        """By message type and API key: the first message that has them."""
        keyed = ((message, message.api_key) for message in reversed(self._messages))
        return {(message.type, key): message for message, key in keyed if key is not None}
