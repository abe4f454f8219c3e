"""A schema set: the messages of one directory, as Kafka's generator reads them, and the RPCs that they form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from kiplint.model import counterparts
from kiplint.model.counterparts import Counterparts, Owners, find_counterparts, has_usable_key
from kiplint.model.definition import SUFFIXES, Definition
from kiplint.model.fields import find_duplicates
from kiplint.model.headers import HEADER_WITH_ID
from kiplint.model.message import Message
from kiplint.model.spec import ENTITY_TYPES
from kiplint.versions import NONE, VersionRange


class Rpc:
    """A request and a response with the same API key, or the one that exists; or a coordinator key and its value."""

    api_key: int
    """The API key."""
    request: Message | None
    """The request (or coordinator key), None when the set has none."""
    response: Message | None
    """The response (or coordinator value), None when the set has none."""
    name: str
    """The name without Request or Response (Key or Value)."""
    rpc_name: str
    """The RPC by its API key: Kafka's name if rules protect that RPC, otherwise its own."""
    is_pair: bool
    """Whether both messages exist."""
    is_coordinator: bool
    """Whether the pair is a coordinator record's key and value, not an RPC."""
    is_dead: bool
    """Whether neither message has valid versions."""
    common_versions: VersionRange
    """The versions that are valid in both messages."""
    may_be_partial: bool
    """Whether a missing message may not be a mistake: the set is a single file, or one of its files is unreadable."""

    def __init__(
        self, api_key: int, request: Message | None, response: Message | None, *, may_be_partial: bool
    ) -> None:
        self.api_key = api_key
        self.request = request
        self.response = response
        self.may_be_partial = may_be_partial
        self._messages = [message for message in (request, response) if message]
        self.name = self._messages[0].base_name
        self.rpc_name = self._messages[0].rpc_name
        self.is_pair = len(self._messages) == 2
        self.is_coordinator = self._messages[0].type.startswith("coordinator")
        self.is_dead = not any(message.valid for message in self._messages)
        self.common_versions = request.valid & response.valid if request and response else NONE

    @cached_property
    def bumped_message(self) -> Message | None:
        """The only one of a pair whose versions differ from the base, the one with lower versions, or the response."""
        changed = self._changed_message("valid")
        if changed or self.request is None or self.response is None:
            return changed
        return self.request if self.request.valid.highest < self.response.valid.highest else self.response

    @cached_property
    def reencoded_message(self) -> Message | None:
        """The only one of the two messages whose flexible versions differ from the base; otherwise the response."""
        return self._changed_message("flexible") or self.response

    @cached_property
    def renamed_message(self) -> Message | None:
        """The only one of the two messages whose name differs from the base; otherwise the request."""
        return self._changed_message("name") or self.request

    def _changed_message(self, attribute: str) -> Message | None:
        """The only one of the two messages in which a fact, such as `valid`, differs from the base; otherwise None."""
        changed = [
            message
            for message in self._messages
            if message.base is None or getattr(message, attribute) != getattr(message.base, attribute)
        ]
        return changed[0] if self.is_pair and len(changed) == 1 else None

    @cached_property
    def namesake(self) -> Message | None:
        """For an unpaired message: the one with the matching name, such as FetchResponse for FetchRequest, or None."""
        return None if self.is_pair else self._messages[0].schemas.partner_by_name(self._messages[0])


class SchemaSet:
    """The messages of one directory, as Kafka's generator reads them, made from definitions.

    `single_file` means that the other files of the set are not known. `selected` are the paths of the files whose
    findings are reported, None for all; `base` is the set that it is compared with.
    """

    directory: str
    """The path of the directory; empty where it is not known."""
    is_single_file: bool
    """Whether the set is a single file whose siblings are not known."""
    unparsable_names: frozenset[str]
    """The likely names of the messages in files that cannot be read."""

    def __init__(
        self,
        definitions: Iterable[Definition] = (),
        directory: str = "",
        single_file: bool = False,
        selected: frozenset[str] | None = None,
        base: SchemaSet | None = None,
    ) -> None:
        self.definitions = tuple(definitions)
        self.directory = directory
        self.is_single_file = single_file
        self.selected = selected
        unreadable = (definition for definition in self.definitions if not definition.is_readable)
        self.unparsable_names = frozenset(name for definition in unreadable for name in definition.likely_names)

        self._readable = [definition for definition in self.definitions if definition.is_readable]
        self._base = base
        self._messages: dict[Definition, Message] = {}  # those that were asked for: of a release that is only a few

    @cached_property
    def messages(self) -> tuple[Message, ...]:
        """The messages, in the order of their files."""
        return tuple(map(self.message_of, self._readable))

    def message_of(self, definition: Definition) -> Message:
        """The message of one of the definitions that can be read; always the same object."""
        message = self._messages.get(definition)
        if message is None:
            counterpart = self._counterparts.get(definition)
            base_message = self._base.message_of(counterpart) if self._base and counterpart else None
            message = self._messages[definition] = Message(definition, self, base_message)
        return message

    @property
    def owners(self) -> Owners:
        """Which of the definitions owns a name, and which an API key."""
        return self._owners_and_counterparts[0]

    @property
    def _counterparts(self) -> Counterparts:
        return self._owners_and_counterparts[1]

    @cached_property
    def _owners_and_counterparts(self) -> tuple[Owners, Counterparts]:
        return find_counterparts(self._readable, self._base.owners if self._base else Owners((), {}))

    # Messages

    @cached_property
    def by_name(self) -> dict[str, Message]:
        """The messages by name; of several with the same name, the probable original."""
        return {name: self.message_of(definition) for name, definition in self.owners.by_name.items()}

    @cached_property
    def duplicate_names(self) -> dict[Message, Message]:
        """For each message with the name of another, unless it is the probable original: the other message."""
        return dict(find_duplicates(self.messages, lambda message: message.name, _originality))

    @cached_property
    def duplicate_keys(self) -> dict[Message, Message]:
        """For each message with the type and API key of another, unless it is the probable original: the other."""
        messages = filter(has_usable_key, self.messages)
        return dict(find_duplicates(messages, lambda message: (message.type, message.api_key), _originality))

    @cached_property
    def requests(self) -> dict[str, Message]:
        """The requests by `rpc_name`: Kafka's name of the RPC if rules protect it, otherwise their own."""
        return {message.rpc_name: message for message in reversed(self.messages) if message.type == "request"}

    @cached_property
    def request_header(self) -> Message | None:
        """The header RequestHeader, or None."""
        message = self.by_name.get("RequestHeader")
        return message if message and message.type == "header" else None

    # RPCs and API keys

    @cached_property
    def rpcs(self) -> tuple[Rpc, ...]:
        """The coordinator records, then the RPCs, both in the order of their API keys."""
        rpcs: list[Rpc] = []
        for first_type, second_type in (("coordinator-key", "coordinator-value"), ("request", "response")):
            for api_key in sorted({key for kind, key in self.key_owners if kind in (first_type, second_type)}):
                first = self.key_owners.get((first_type, api_key))
                second = self.key_owners.get((second_type, api_key))
                may_be_partial = self.is_single_file or self._may_be_incomplete(first, second)
                rpcs.append(Rpc(api_key, first, second, may_be_partial=may_be_partial))
        return tuple(rpcs)

    def _may_be_incomplete(self, first: Message | None, second: Message | None) -> bool:
        """Whether only one of two messages exists, and the other may be in an unreadable file or under a wrong key."""
        message = first or second
        if message is None or (first and second):
            return False
        names_of_other = {message.name, *(message.base_name + suffix for suffix in SUFFIXES.values())}
        return not names_of_other.isdisjoint(self._unidentified_names)

    @cached_property
    def _unidentified_names(self) -> frozenset[str]:
        """The names of messages that cannot be read, or that have no API key of their own but need one."""
        messages = (message for message in self.messages if message.type not in ("header", "data"))
        return self.unparsable_names | {message.name for message in messages if message.is_doubtful}

    def partner_by_name(self, message: Message) -> Message | None:
        """The other message of an RPC or coordinator record, found by its name, or None."""
        partner = self.owners.partner_by_name(message)
        return self.message_of(partner) if partner else None

    @cached_property
    def key_owners(self) -> dict[tuple[str, int], Message]:
        """The message of each message type and API key; of several, the probable original."""
        return {key: self.message_of(definition) for key, definition in self.owners.by_key.items()}

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
        """By message type and header version: how many messages declare that header for a valid version."""
        users: dict[tuple[str, int], int] = Counter()
        for message in self.messages:
            headers = {entry.header for entry in message.header_ranges if entry.live and entry.header >= 0}
            for header in headers if message.is_rpc else ():
                users[message.type, header] += 1
        return users

    @cached_property
    def first_with_id(self) -> Message | None:
        """The first request that declares header 3 or above, which has the client instance id (KIP-1313); or None."""
        requests = (message for message in self.messages if message.type == "request" and message.declares_headers)
        return next((request for request in requests if max(request.headers, default=0) >= HEADER_WITH_ID), None)

    @cached_property
    def headerless(self) -> tuple[Message, ...]:
        """The live requests and responses without a header map; those whose findings are reported come first."""
        headerless = [
            message
            for message in self._valid_messages
            if message.is_rpc and not message.header_ranges and not message.loses_header_ranges
        ]
        selected = self.selected
        if selected is not None:
            headerless.sort(key=lambda message: message.file not in selected)
        return tuple(headerless)

    @cached_property
    def file_of_headerless(self) -> str:
        """The file with the one finding about all `headerless` messages: the first one's; empty if there are none.

        If the base declares no headers, the change that begins to declare them is to blame: the finding is in the
        first file that does.
        """
        bases = [message.base for message in self.messages if message.base]
        begins = bool(bases) and not any(base.declares_headers for base in bases)
        declaring = [message for message in self._valid_messages if message.is_rpc and message.header_ranges]
        if self.headerless and begins and declaring:
            selected = self.selected
            return min(declaring, key=lambda message: selected is not None and message.file not in selected).file
        return self.headerless[0].file if self.headerless else ""

    @cached_property
    def declares_listeners(self) -> bool:
        """Whether requests of the set state their listeners, as Kafka's do since 2.8; true for a single file."""
        return self.is_single_file or any(message.declares_listeners for message in self.messages)

    @cached_property
    def _valid_messages(self) -> list[Message]:
        return [message for message in self.messages if message.valid]

    @cached_property
    def live_messages(self) -> int:
        """The number of messages with valid versions."""
        return len(self._valid_messages)

    @cached_property
    def live_requests(self) -> int:
        """The number of requests with valid versions."""
        return len([message for message in self._valid_messages if message.type == "request"])

    @cached_property
    def throttled_responses(self) -> int:
        """The number of live responses with ThrottleTimeMs."""
        responses = [message for message in self._valid_messages if message.type == "response"]
        return len([response for response in responses if "ThrottleTimeMs" in response.by_name])

    @cached_property
    def listening_requests(self) -> int:
        """The number of live requests with listeners, as all of Kafka's have since 2.8."""
        requests = [message for message in self._valid_messages if message.type == "request"]
        return len([request for request in requests if request.declares_listeners])

    @cached_property
    def flexible_messages(self) -> int:
        """The number of live messages with `flexibleVersions`, as all of Kafka's have since 3.0."""
        return len([message for message in self._valid_messages if message.declares_flexible])

    @cached_property
    def has_zookeeper(self) -> bool:
        """Whether the set is of Kafka before 4.0.

        It then has a live RPC of a controller in ZooKeeper (API keys 4 to 7), or `zkBroker` serves two or more
        requests and a quarter of those that state their listeners.
        """
        if any(message.type == "request" and message.api_key in (4, 5, 6, 7) for message in self._valid_messages):
            return True
        listener_lists = [message.listeners for message in self.messages if message.listeners]
        zookeeper_lists = [listeners for listeners in listener_lists if "zkBroker" in listeners]
        return len(zookeeper_lists) > 1 and 4 * len(zookeeper_lists) >= len(listener_lists)

    @cached_property
    def own_words(self) -> int:
        """The number of fields with an entity type that Kafka does not define."""
        words = [field.entity_type for message in self.messages for field in message.all_fields]
        return len([word for word in words if word not in ("", *ENTITY_TYPES)])


def partner(message: Message) -> Message | None:
    """The response to a request, or the request of a response, by its API key; None for messages of other types."""
    schemas = message.schemas
    definition = schemas.owners.partner(message)
    return schemas.message_of(definition) if definition else None


def are_related(base: Message, head: Message) -> bool:
    """Whether two messages with one API key are one message, maybe under two names, not two different messages."""
    return counterparts.are_related(base, base.schemas.owners, head, head.schemas.owners)


def is_same(base: Message, head: Message) -> bool:
    """Whether `head`, which has the name or the API key of `base`, is a later state of the message, maybe renamed."""
    return base.name == head.name or counterparts.is_renamed(base, base.schemas.owners, head, head.schemas.owners)


def _originality(message: Message) -> tuple[int, bool]:
    """A sort key for messages with one name or API key: the highest is the probable original."""
    return counterparts.originality(message, message.base)
