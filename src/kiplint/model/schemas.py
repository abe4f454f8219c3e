"""A schema set: the messages of one directory, as Kafka's generator takes them, and the RPCs that they form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from kiplint.model.fields import find_duplicates
from kiplint.model.spec import ENTITY_TYPES
from kiplint.versions import NONE, VersionRange

if TYPE_CHECKING:
    from kiplint.model.message import Message

FROZEN: Final = {"SaslHandshake": VersionRange.of(0, 1)}
"""By RPC: the versions beyond which it must never be bumped (KIP-1313, KAFKA-9577)."""


class Rpc:
    """A request and a response with the same API key, or the one that exists.

    Coordinator keys and values pair in the same way.
    """

    api_key: int
    """The API key."""
    request: Message | None
    """The request (or coordinator key), None when the set has none."""
    response: Message | None
    """The response (or coordinator value), None when the set has none."""
    may_be_partial: bool
    """Whether a missing message means nothing: the set is a single file, or it may be in an unreadable file."""

    def __init__(
        self, api_key: int, request: Message | None, response: Message | None, *, may_be_partial: bool
    ) -> None:
        self.api_key = api_key
        self.request = request
        self.response = response
        self.may_be_partial = may_be_partial
        self._messages = [message for message in (request, response) if message]

    @cached_property
    def name(self) -> str:
        """The name without Request or Response (Key or Value)."""
        return self._messages[0].base_name if self._messages else ""

    @cached_property
    def rpc_name(self) -> str:
        """The RPC by its API key: Kafka's name where rules protect that RPC, else its own."""
        return self._messages[0].rpc_name if self._messages else ""

    @cached_property
    def is_pair(self) -> bool:
        """Whether both messages exist."""
        return len(self._messages) == 2

    @cached_property
    def is_coordinator(self) -> bool:
        """Whether the pair is a coordinator record's key and value, not an RPC."""
        return any(message.type.startswith("coordinator") for message in self._messages[:1])

    @cached_property
    def is_dead(self) -> bool:
        """Whether neither message has valid versions any more."""
        return not any(message.valid for message in self._messages)

    @cached_property
    def common(self) -> VersionRange:
        """The versions that are valid in both messages."""
        return self.request.valid & self.response.valid if self.request and self.response else NONE

    @cached_property
    def lagging(self) -> Message | None:
        """The message whose versions end lower; the response when both end alike; None unless both exist."""
        if self.request is None or self.response is None:
            return None
        return self.request if self.request.valid.highest < self.response.valid.highest else self.response

    @cached_property
    def bumped(self) -> Message | None:
        """The message whose versions alone differ from the base; without such a message the lagging one."""
        return self._changed_message("valid") or self.lagging

    @cached_property
    def flexed(self) -> Message | None:
        """The message whose flexible versions alone differ from the base; without such a message the response."""
        return self._changed_message("flexible") or self.response

    @cached_property
    def renamed(self) -> Message | None:
        """The message whose name alone differs from the base; without such a message the request."""
        return self._changed_message("name") or self.request

    def _changed_message(self, attribute: str) -> Message | None:
        changed = [
            message
            for message in self._messages
            if message.former is None or getattr(message, attribute) != getattr(message.former, attribute)
        ]
        return changed[0] if len(changed) == 1 and self.is_pair else None

    @cached_property
    def namesake(self) -> Message | None:
        """Of a request or response alone: the other message by name, where it has another API key; else None."""
        message = self._messages[0] if len(self._messages) == 1 else None
        return message.schemas.partner_by_name(message) if message else None


_PLACES = {
    "request": ("request", 0),
    "response": ("request", 1),
    "coordinator-key": ("coordinator", 0),
    "coordinator-value": ("coordinator", 1),
}
_PARTNERS = {
    "request": ("response", "Response"),
    "response": ("request", "Request"),
    "coordinator-key": ("coordinator-value", "Value"),
    "coordinator-value": ("coordinator-key", "Key"),
}
_SUFFIXES = tuple(suffix for _, suffix in _PARTNERS.values())


class SchemaSet:
    """The messages of one directory, as Kafka's generator takes them.

    `single_file` means that a file stands for a set that is not known. `selected` are the files whose findings are
    reported, None for all; `base` is the set that it is compared with.
    """

    messages: tuple[Message, ...]
    """The messages, in the order of their files."""
    directory: str
    """The path of the directory; empty where it is not known."""
    is_single_file: bool
    """Whether the set is a single file whose siblings are not known."""
    unparsable_names: frozenset[str]
    """The likely names of the messages in files that cannot be read."""

    def __init__(
        self,
        messages: tuple[Message, ...],
        directory: str = "",
        single_file: bool = False,
        unparsable_names: frozenset[str] = frozenset(),
        selected: frozenset[str] | None = None,
        base: SchemaSet | None = None,
    ) -> None:
        self.messages = messages
        self.directory = directory
        self.is_single_file = single_file
        self.unparsable_names = unparsable_names
        self.selected = selected
        for message in messages:
            message.schemas = self
        if base is not None:
            for message in sorted(messages, key=lambda message: message.name not in base.by_name):
                message.former = base.former_of(message)

    # Messages

    @cached_property
    def by_name(self) -> dict[str, Message]:
        """The messages by name; of several with the same name, the probable original."""
        if len({message.name for message in self.messages}) == len(self.messages):
            return {message.name: message for message in self.messages}
        return {message.name: message for message in _oldest_last(self.messages)}

    def former_of(self, message: Message) -> Message | None:
        """The earlier state of a message of a later set: by name, else by API key if it was renamed."""
        former = self.by_name.get(message.name)
        if former is None and message.api_key is not None:
            former = self.key_owners.get((message.type, message.api_key))
        return former if former and former.type == message.type and is_same(former, message) else None

    @cached_property
    def duplicate_names(self) -> dict[Message, Message]:
        """For messages whose name another has: the other, an older one if the base is known."""
        others = find_duplicates(self.messages, lambda message: message.name, _right)
        return {self.messages[index]: other for index, other in others.items()}

    @cached_property
    def duplicate_keys(self) -> dict[Message, Message]:
        """For messages whose type and API key another has: the other, an older one if the base is known."""
        others = find_duplicates(self._keyed, lambda message: (message.type, message.api_key), _right)
        return {self._keyed[index]: other for index, other in others.items()}

    @cached_property
    def _keyed(self) -> list[Message]:
        return [message for message in self.messages if message.api_key is not None and not message.is_mistyped]

    @cached_property
    def requests(self) -> dict[str, Message]:
        """The requests by RPC: by Kafka's name for the API key where rules protect it, else by their own."""
        return {message.rpc_name: message for message in reversed(self.messages) if message.type == "request"}

    @cached_property
    def request_header(self) -> Message | None:
        """The message RequestHeader, or None."""
        return self.by_name.get("RequestHeader")

    # RPCs and API keys

    @cached_property
    def rpcs(self) -> tuple[Rpc, ...]:
        """The RPCs and the coordinator records, by API key."""
        pairs: dict[tuple[str, int], list[Message | None]] = {}
        for message in self._keyed:
            kind, place = _PLACES.get(message.type, ("", 0))
            if kind and message.api_key is not None:
                pair = pairs.setdefault((kind, message.api_key), [None, None])
                if pair[place] is None or self.key_owners.get((message.type, message.api_key), message) is message:
                    pair[place] = message
        return tuple(
            Rpc(key, *pair, may_be_partial=self.is_single_file or self._may_be_incomplete(pair))
            for (_, key), pair in sorted(pairs.items())
        )

    def _may_be_incomplete(self, pair: Sequence[Message | None]) -> bool:
        """Whether the missing message may be in a file that cannot be read."""
        message = pair[0] or pair[1]
        if message is None or (pair[0] and pair[1]):
            return False
        doubtful = self.unparsable_names | self.doubtful
        return message.name in doubtful or any(message.base_name + suffix in doubtful for suffix in _SUFFIXES)

    @cached_property
    def doubtful(self) -> frozenset[str]:
        """The names of the messages that their API key does not identify."""
        return frozenset(
            message.name for message in self.messages if message.type not in ("header", "data") and message.is_doubtful
        )

    def partner_by_name(self, message: Message) -> Message | None:
        """The other message of an RPC or record by its name, or None."""
        kind, suffix = _PARTNERS.get(message.type, ("", ""))
        partner = self.by_name.get(message.base_name + suffix) if kind else None
        return partner if partner and partner.type == kind else None

    def key_of_partner(self, message: Message) -> int | None:
        """The API key of that message, or None."""
        partner = self.partner_by_name(message)
        return partner.api_key if partner else None

    @cached_property
    def key_owners(self) -> dict[tuple[str, int], Message]:
        """The message of each message type and API key; of several, the probable original."""
        owners = self._keyed
        if len({(message.type, message.api_key) for message in owners}) < len(owners):
            owners = _oldest_last(owners)
            owners.sort(key=lambda message: message.api_key == self.key_of_partner(message))
            owners.sort(key=lambda message: message.former is not None and message.former.api_key == message.api_key)
        return {(message.type, message.api_key): message for message in owners if message.api_key is not None}

    @cached_property
    def next_api_key(self) -> int:
        """The API key after the highest one of the requests and responses."""
        return max((key for kind, key in self.key_owners if kind in ("request", "response")), default=-1) + 1

    # What is usual in the set

    @cached_property
    def declares_headers(self) -> bool:
        """Whether any message of the set has `headerVersions` (KIP-1313)."""
        return any(message.declares_headers for message in self.messages)

    @cached_property
    def header_users(self) -> dict[tuple[str, int], int]:
        """By message type and header version: how many live messages declare that header for a valid version."""
        return Counter(
            (message.type, header)
            for message in self.messages
            if message.is_rpc
            for header in {entry.header for entry in message.header_ranges if entry.live and entry.header >= 0}
        )

    @cached_property
    def headerless(self) -> tuple[Message, ...]:
        """The live requests and responses without a header map; those whose findings are reported come first."""
        live = (message for message in self.messages if message.is_rpc and message.valid)
        headerless = [message for message in live if not message.header_ranges and not message.loses_header_ranges]
        if (selected := self.selected) is not None:
            headerless.sort(key=lambda message: message.file not in selected)
        return tuple(headerless)

    @cached_property
    def declares_listeners(self) -> bool:
        """Whether requests of the set state their listeners, as Kafka's do since 2.8; true for a single file."""
        return self.is_single_file or any(message.declares_listeners for message in self.messages)

    @cached_property
    def live_requests(self) -> int:
        """How many requests have valid versions."""
        return sum(message.type == "request" and bool(message.valid) for message in self.messages)

    @cached_property
    def throttled_responses(self) -> int:
        """How many of the live responses have ThrottleTimeMs."""
        live = (message for message in self.messages if message.type == "response" and message.valid)
        return sum("ThrottleTimeMs" in message.by_name for message in live)

    @cached_property
    def listening_requests(self) -> int:
        """How many of the live requests state their listeners, as all of Kafka's do since 2.8."""
        return sum(
            message.type == "request" and message.declares_listeners and bool(message.valid)
            for message in self.messages
        )

    @cached_property
    def live_messages(self) -> int:
        """How many messages have valid versions."""
        return sum(bool(message.valid) for message in self.messages)

    @cached_property
    def flexible_messages(self) -> int:
        """How many of the live messages have `flexibleVersions`, as all of Kafka's do since 3.0."""
        return sum(message.declares_flexible and bool(message.valid) for message in self.messages)

    @cached_property
    def has_zookeeper(self) -> bool:
        """Whether the set is of Kafka before 4.0.

        It then has a live RPC of a controller in ZooKeeper (API keys 4 to 7), or `zkBroker` serves a quarter of the
        requests that state their listeners.
        """
        if any(
            message.type == "request" and message.api_key in range(4, 8) and message.valid for message in self.messages
        ):
            return True
        count = sum("zkBroker" in message.listeners for message in self.messages)
        return count > 1 and 4 * count >= sum(bool(message.listeners) for message in self.messages)

    @cached_property
    def own_words(self) -> int:
        """How many fields have an entity type that Kafka does not know."""
        return sum(
            field.entity_type not in ("", *ENTITY_TYPES) for message in self.messages for field in message.all_fields
        )


def partner(message: Message) -> Message | None:
    """The other message of a request's or response's RPC, in the set that the message is in."""
    if not message.is_rpc or message.api_key is None:
        return None
    other = "request" if message.type == "response" else "response"
    return message.schemas.key_owners.get((other, message.api_key))


USUAL_FIELDS: Final = frozenset({"ErrorCode", "ErrorMessage", "ThrottleTimeMs"})
"""The fields that many unrelated messages have."""


def are_related(old: Message, new: Message) -> bool:
    """Whether two messages with one API key are one under two names; else one of them took the key of the other.

    They, or the other messages of their RPCs, share more than half of the words of the shorter name, or of
    the fields of the smaller one, `USUAL_FIELDS` left out. So AlterIsr became AlterPartition.
    """
    pairs = [(old, new), (partner(old), partner(new))]
    return any(
        before and after and (before.name == after.name or any(map(_share_most, _marks(before), _marks(after))))
        for before, after in pairs
    )


def is_same(old: Message, new: Message) -> bool:
    """Whether a message with the name or the API key of an older one is this one, maybe renamed."""
    return old.name == new.name or (old.name not in new.schemas.by_name and are_related(old, new))


def _marks(message: Message) -> tuple[Collection[str], Collection[str]]:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z0-9]+", message.base_name)
    return words, {field.name for field in message.all_fields} - USUAL_FIELDS


def _share_most(first: Collection[str], second: Collection[str]) -> bool:
    return 2 * len({*first} & {*second}) > min(len(first), len(second))


def _oldest_last(messages: Sequence[Message]) -> list[Message]:
    """The messages by how old they look; of those that look alike, the first of the set comes last.

    A copied file has another message's name, and older messages have more versions.
    """
    by_age = [*messages]
    by_age.reverse()
    by_age.sort(key=lambda message: (*_right(message), message.valid.highest))
    return by_age


def _right(message: Message) -> tuple[int, bool]:
    """How much of a message the base has, 0 for a new message; and whether the file has its name."""
    former = message.former
    similarity = 1 + (former.api_key == message.api_key) + (former.file_name == message.file_name) if former else 0
    return similarity, message.file_stem == message.name
