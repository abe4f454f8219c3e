"""A schema set: the messages of one directory, as Kafka's generator takes them."""

from __future__ import annotations

from collections.abc import Sequence

from kiplint.model.fact import fact
from kiplint.model.habits import Habits
from kiplint.model.message import Message
from kiplint.model.rpc import Rpc
from kiplint.model.spec import ENTITY_TYPES

_FIRST = {"request": "request", "coordinator-key": "coordinator"}
_SECOND = {"response": "request", "coordinator-value": "coordinator"}


_ENOUGH_KEYS = 10
_PARTNERS = {
    "request": ("response", "Response"),
    "response": ("request", "Request"),
    "coordinator-key": ("coordinator-value", "Value"),
    "coordinator-value": ("coordinator-key", "Key"),
}
_SUFFIXES = tuple(suffix for _, suffix in _PARTNERS.values())


class SchemaSet(Habits):
    """The messages of one directory. `partial` says that a lone file stands for a set that is not known.

    `unread` are the likely names of those of whose files nothing could be made; `wanted` the files whose findings are
    reported, None for all.
    """

    def __init__(
        self,
        messages: tuple[Message, ...],
        directory: str = "",
        partial: bool = False,
        unread: frozenset[str] = frozenset(),
        wanted: frozenset[str] | None = None,
    ) -> None:
        self._messages = messages
        self.directory = directory
        self.partial = partial
        self.unread = unread
        self.wanted = wanted
        for message in messages:
            vars(message)["schemas"] = self

    @fact
    def messages(self) -> tuple[Message, ...]:
        """The messages, in the order of their files."""
        return self._messages

    @fact
    def by_name(self) -> dict[str, Message]:
        """The messages by name; of several with one name, the one that was probably there first."""
        if len({message.name for message in self._messages}) == len(self._messages):
            return {message.name: message for message in self._messages}
        return {message.name: message for message in _oldest_last(self._messages)}

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
    def headerless(self) -> tuple[Message, ...]:
        """The live requests and responses without a header map; those whose findings are reported come first."""
        live = [one for one in self._messages if one.is_rpc and one.valid]
        found = [one for one in live if not one.header_ranges and not one.spoils_headers]
        return tuple(sorted(found, key=lambda one: self.wanted is not None and one.file not in self.wanted))

    @fact
    def declares_listeners(self) -> bool:
        """Whether requests of the set say their listeners, as Kafka's do since 2.8; true for a lone file."""
        return self.partial or any(message.says_listeners for message in self._messages)

    @fact
    def own_words(self) -> int:
        """How many fields have an entity type that Kafka does not know."""
        return sum(
            field.entity_type not in ("", *ENTITY_TYPES) for message in self._messages for field in message.all_fields
        )

    @fact
    def live_requests(self) -> int:
        """How many requests have valid versions."""
        return sum(message.type == "request" and bool(message.valid) for message in self._messages)

    @fact
    def listening_requests(self) -> int:
        """How many of the live requests say their listeners, as all of Kafka's do since 2.8."""
        return sum(
            message.type == "request" and message.says_listeners and bool(message.valid) for message in self._messages
        )

    @fact
    def live_messages(self) -> int:
        """How many messages have valid versions."""
        return sum(bool(message.valid) for message in self._messages)

    @fact
    def flexible_messages(self) -> int:
        """How many of the live messages give `flexibleVersions`, as all of Kafka's do since 3.0."""
        return sum(message.says_flexible and bool(message.valid) for message in self._messages)

    @fact
    def is_lone(self) -> bool:
        """Whether the set is one lone file, of whose siblings nothing is known."""
        return self.partial

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
                if message.spec.type in kinds and message.api_key is not None and not message.is_mistyped:
                    pair = halves.setdefault((kinds[message.spec.type], message.api_key), [None, None])
                    if pair[place] is None or not message.api_key_owner:
                        pair[place] = message
        return tuple(
            Rpc(key, *pair, partial=self.partial or self._has_unread_half(pair))
            for (_, key), pair in sorted(halves.items())
        )

    def _has_unread_half(self, pair: Sequence[Message | None]) -> bool:
        """Whether the half that is missing may be in a file of which nothing could be made."""
        half = pair[0] or pair[1]
        if half is None or (pair[0] and pair[1]):
            return False
        doubtful = self.unread | self.doubtful
        return half.name in doubtful or any(half.base_name + suffix in doubtful for suffix in _SUFFIXES)

    @fact
    def doubtful(self) -> frozenset[str]:
        """The names of the messages that cannot be found by their API key."""
        return frozenset(one.name for one in self._messages if one.type not in ("header", "data") and one.is_doubtful)

    def partner_of(self, message: Message) -> Message | None:
        """The other half of an RPC or record by its name, or None."""
        other = _PARTNERS.get(message.type)
        found = self.by_name.get(message.base_name + other[1]) if other else None
        return found if found and other and found.type == other[0] else None

    def key_of_partner(self, message: Message) -> int | None:
        """The API key of the other half by name, or None."""
        partner = self.partner_of(message)
        return partner.api_key if partner else None

    @fact
    def key_owners(self) -> dict[tuple[str, int], Message]:
        """By message type and API key: the message that has them, of several the one that was probably there first."""
        keyed = [one for one in self._messages if one.api_key is not None and not one.is_mistyped]
        if len({(one.type, one.api_key) for one in keyed}) < len(keyed):
            keyed = _oldest_last(keyed)
            alone = [one for one in keyed if one.api_key != self.key_of_partner(one)]
            keyed = [*alone, *(one for one in keyed if one not in alone)]
        return {(one.type, one.api_key): one for one in keyed if one.api_key is not None}

    @fact
    def next_api_key(self) -> int:
        """The API key after the highest one of the requests and responses."""
        return max((key for kind, key in self.key_owners if kind in ("request", "response")), default=-1) + 1

    @fact
    def skipped_api_keys(self) -> dict[int, int]:
        """By API key: the unused one before it, for the first key that leaves a gap in a set numbered from 0."""
        keys = sorted({key for kind, key in self.key_owners if kind == "request"})
        gap = next((place for place, key in enumerate(keys) if place != key), 0)
        return {keys[gap]: gap} if gap >= _ENOUGH_KEYS else {}


def _oldest_last(messages: Sequence[Message]) -> list[Message]:
    """The messages by how old they look; of those that look alike, the first of the set comes last."""
    ranked = list(messages)
    ranked.reverse()
    ranked.sort(key=_age)
    return ranked


def _age(message: Message) -> tuple[bool, int]:
    """How old a message looks: a copied file has another message's name, and what is old has had more versions."""
    return message.file_stem == message.name, message.valid.highest
