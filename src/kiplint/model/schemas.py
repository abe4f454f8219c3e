"""A schema set: the messages of one directory, as Kafka's generator takes them."""

from __future__ import annotations

from collections.abc import Sequence

from kiplint.model.element import fact
from kiplint.model.message import Message
from kiplint.model.spec import ENTITY_TYPES
from kiplint.model.words import Habits
from kiplint.versions import NONE, VersionRange

FROZEN = {"SaslHandshake": VersionRange.of(0, 1)}
"""By RPC: the versions beyond which it must never be bumped (KIP-1313, KAFKA-9577)."""


class Rpc:
    """The pair, or the half that is there. Coordinator keys and values pair in the same way."""

    def __init__(self, api_key: int, request: Message | None, response: Message | None, *, partial: bool) -> None:
        self._api_key = api_key
        self._request = request
        self._response = response
        self._partial = partial

    @fact
    def api_key(self) -> int:
        """The API key."""
        return self._api_key

    @fact
    def request(self) -> Message | None:
        """The request (or coordinator key), None when the set has none."""
        return self._request

    @fact
    def response(self) -> Message | None:
        """The response (or coordinator value), None when the set has none."""
        return self._response

    @fact
    def is_pair(self) -> bool:
        """Whether both halves are there."""
        return self._request is not None and self._response is not None

    @fact
    def is_coordinator(self) -> bool:
        """Whether the pair is a coordinator record's key and value, no RPC."""
        half = self._request or self._response
        return half is not None and half.type.startswith("coordinator")

    @fact
    def may_be_partial(self) -> bool:
        """Whether a missing half means nothing: the set is one lone file, or the half may be in an unread one."""
        return self._partial

    @fact
    def name(self) -> str:
        """The name without Request or Response (Key or Value)."""
        half = self._request or self._response
        return half.base_name if half else ""

    @fact
    def is_dead(self) -> bool:
        """Whether no half has a valid version left."""
        return not any(half.valid for half in (self._request, self._response) if half)

    @fact
    def lagging(self) -> Message | None:
        """The half whose versions end lower; the response when both end alike; None unless both are there."""
        if self._request is None or self._response is None:
            return None
        return self._request if self._request.valid.highest < self._response.valid.highest else self._response

    @fact
    def says_versions(self) -> bool:
        """Whether the valid versions of both halves that are there can be read, and have an end."""
        return not any(half.valid_problem or half.valid.open for half in (self._request, self._response) if half)

    @fact
    def namesake(self) -> Message | None:
        """For one half: the other one by name, where it has another API key; else None."""
        half = None if self.is_pair else self._request or self._response
        return half.schemas.partner_of(half) if half else None

    @fact
    def common(self) -> VersionRange:
        """The versions that are valid in both halves."""
        return self._request.valid & self._response.valid if self._request and self._response else NONE

    @fact
    def has_suffixes(self) -> bool:
        """Whether both halves have the suffix that their type asks for."""
        return all(half is not None and half.name.endswith(half.suffix) for half in (self._request, self._response))

    @fact
    def says_flexible(self) -> bool:
        """Whether both halves are there and give flexible versions that can be read."""
        halves = (self._request, self._response)
        return all(half is not None and half.says_flexible and not half.flexible_problem for half in halves)


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
