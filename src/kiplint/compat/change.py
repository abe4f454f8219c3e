"""A change, and what it takes: pairs of old and new messages and fields, and layouts in one line."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache, cached_property
from typing import Annotated, Any, ClassVar, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta, to_builtins

from kiplint.compat.standing import Standing
from kiplint.model.element import value_or
from kiplint.model.fields import Container, Field
from kiplint.model.layout import Layout, Slot, describe
from kiplint.model.message import Message
from kiplint.versions import NONE, VersionRange

FieldPair = tuple[Field | None, Field | None]
Footprint = tuple[object, ...]
MessagePair = tuple[Message | None, Message | None]
KEYED = ("request", "response", "metadata", "coordinator-key", "coordinator-value")
"""The message types with API keys. Only the keys of RPCs mean the same in all sets."""


class Both(NamedTuple):
    """A message that both sets have."""

    old: Message
    new: Message


def partner(message: Message) -> Message | None:
    """The other half of a request's or response's RPC, in the set that the message is in."""
    if not message.is_rpc or message.api_key is None:
        return None
    other = "request" if message.type == "response" else "response"
    return message.schemas.key_owners.get((other, message.api_key))


def concerns(pair: MessagePair, role: str) -> bool:
    """Whether a message matters to a role: records to `storage`; all RPCs to `broker`, those of the broker listener to
    `client`; headers, and data beside RPCs, to these two.
    """
    messages = [message for message in pair if message]
    if role == "storage":
        return any(message.type in RECORDS for message in messages)
    if not any(message.is_rpc for message in messages):
        return any(
            message.type == "header" or (message.type == "data" and message.schemas.rpcs) for message in messages
        )
    requests = [message if message.type == "request" else partner(message) for message in messages]
    listeners = {listener for request in requests if request for listener in request.listeners}
    return role == "broker" or "broker" in listeners or not listeners


def pair_fields(old: Container, new: Container) -> list[FieldPair]:
    """Pair the fields of two messages or structs, first by name, then as renames.

    A renamed field has the same place, type and versions. Fields that share a name, as after a copy, pair in order.
    """
    pairs: list[FieldPair] = []
    lost_fields: list[Field] = []
    same: dict[str, list[Field]] = {}
    for field in reversed(new.fields):
        same.setdefault(field.name, []).append(field)
    for field in old.fields:
        if candidates := same.get(field.name):
            pairs.append((field, candidates.pop()))
        else:
            lost_fields.append(field)
    unpaired_ids = {id(field) for fields in same.values() for field in fields}
    gained_fields = [field for field in new.fields if id(field) in unpaired_ids]
    renames = _renamed_fields(lost_fields, gained_fields) if lost_fields and gained_fields else {}
    taken_ids = {id(field) for field in renames.values()}
    pairs += [(field, renames.get(id(field))) for field in lost_fields]
    return [*pairs, *((None, field) for field in gained_fields if id(field) not in taken_ids)]


def _renamed_fields(lost_fields: list[Field], gained_fields: list[Field]) -> dict[int, Field]:
    """By id of a lost field: the field that it became, of several the first that no other field became."""
    places: dict[Footprint, list[Field]] = {}
    for field in reversed(gained_fields):
        for place in _places(field):
            places.setdefault(place, []).append(field)
    renames: dict[int, Field] = {}
    taken_ids: set[int] = set()
    for field in lost_fields:
        candidates = []
        for place in _places(field):
            gained_there = places.get(place, [])
            while gained_there and id(gained_there[-1]) in taken_ids:
                gained_there.pop()
            candidates += gained_there[-1:]
        if candidates:
            renames[id(field)] = min(candidates, key=lambda candidate: candidate.position)
            taken_ids.add(id(renames[id(field)]))
    return renames


def _places(field: Field) -> list[Footprint]:
    """What a field shares with the field that it became: its encoding with its tag, its index or its neighbours."""
    kind = "" if field.is_struct else field.element_type
    encoding = (field.tag, field.versions, field.is_array, kind)
    if field.tag is not None:
        return [encoding]
    fields, at = field.owner.fields, field.position
    around = (fields[at - 1].name if at else "", fields[at + 1].name if at + 1 < len(fields) else "")
    return [(*encoding, at), (*encoding, around)]


def pair_messages(old: Iterable[Message], new: Iterable[Message], types: tuple[str, ...] = KEYED) -> list[MessagePair]:
    """The messages of both sets, paired by name, then by type and API key, if the type is in `types`.

    A message without an API key is recognized by its fields and types in the versions that both have.
    """
    by_name = {message.name: message for message in new}
    pairs: list[MessagePair] = []
    lost_messages: list[Message] = []
    for message in old:
        same_name = by_name.pop(message.name, None)
        if same_name is not None:
            pairs.append((message, same_name))
        else:
            lost_messages.append(message)
    by_key = {
        (message.type, message.api_key): message
        for message in by_name.values()
        if message.type in types and message.api_key is not None
    }
    for message in lost_messages:
        if message.api_key is None:
            successor = next((other for other in by_name.values() if _has_same_fields(message, other)), None)
        else:
            successor = by_key.pop((message.type, message.api_key), None)
        if successor is not None:
            del by_name[successor.name]
        pairs.append((message, successor))
    return [*pairs, *((None, message) for message in by_name.values())]


USUAL_FIELDS: Final = frozenset({"ErrorCode", "ErrorMessage", "ThrottleTimeMs"})
"""The fields that many unrelated messages have."""


def are_related(old: Message, new: Message) -> bool:
    """Whether two messages with one API key are one under two names; else one of them took the key of the other.

    They, or the other halves of their RPCs, share more than half of the words of the shorter name, or more than half of
    the fields of the smaller one, `USUAL_FIELDS` left out. So AlterIsr became AlterPartition.
    """
    pairs = [(old, new), (partner(old), partner(new))]
    return any(
        before and after and (before.name == after.name or any(map(_share_most, _marks(before), _marks(after))))
        for before, after in pairs
    )


def _marks(message: Message) -> tuple[Collection[str], Collection[str]]:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z]*|[a-z0-9]+", message.base_name)
    return words, {field.name for field in message.all_fields} - USUAL_FIELDS


def _share_most(first: Collection[str], second: Collection[str]) -> bool:
    return 2 * len({*first} & {*second}) > min(len(first), len(second))


def _has_same_fields(old: Message, new: Message) -> bool:
    if (new.type, new.api_key) != (old.type, None):
        return False
    common = old.valid & new.valid
    before, after = (
        {(field.name, field.type) for field in message.fields if field.versions & common} for message in (old, new)
    )
    return bool(before) and before == after


MOST_SHOWN: Final = 200
"""The most fields, with nested ones, of a layout that is shown whole. Kafka's largest has half as many."""

AROUND: Final = 10
"""Of a larger layout: how many fields are shown before and after the field that matters."""

LEFT_OUT: Final = "..."


def shown_layout(body: Layout, near: Field | None = None, *, empty_tags: bool = False) -> str:
    """A layout in one line: `ErrorCode int16, Topics array of (Name compact string), tags {0: Rack string}`.

    A tag section without tags is left out, unless `empty_tags` is set: then that of the outermost struct is shown. Of
    a layout with more than `MOST_SHOWN` fields only those `near` a field are shown, or the first.
    """
    around = AROUND if _is_larger(body, MOST_SHOWN) else None
    tags = body.tags or ()
    at = _place(tags, near, by_tag=True) if near else 0
    is_tagged = not body.slots or any(slot.field is near for slot in tags[at : at + 1])
    parts = _descriptions(body.slots, near, around, is_elsewhere=is_tagged)
    if tags or (empty_tags and body.tags is not None):
        tag_parts = _descriptions(tags, near, around, is_elsewhere=not is_tagged, by_tag=True)
        parts.append(f"tags {{{', '.join(tag_parts)}}}")
    return ", ".join(parts)


def _descriptions(
    slots: Sequence[Slot], near: Field | None, around: int | None, *, is_elsewhere: bool, by_tag: bool = False
) -> list[str]:
    """Each slot in words, with its tag if `by_tag`; with `around` only so many before and after a field."""
    if around is not None and is_elsewhere:
        return [LEFT_OUT] if slots else []
    first, last = 0, len(slots)
    if around is not None:
        at = _place(slots, near, by_tag=by_tag) % len(slots) if near and slots else 0
        first, last = max(at - around, 0), min(at + around + 1, last)
    descriptions = [
        (f"{slot.field.tag}: " if by_tag else "") + _description(slot, around) for slot in slots[first:last]
    ]
    return [*([LEFT_OUT] if first else []), *descriptions, *([LEFT_OUT] if last < len(slots) else [])]


def _place(slots: Sequence[Slot], near: Field, *, by_tag: bool) -> int:
    """The index of the slot of a field, or of the first slot behind it. Slots are sorted by tag if `by_tag` is set."""

    def order(field: Field) -> tuple[int, int]:
        return (field.tag or 0) if by_tag else 0, field.index

    return bisect_left(slots, order(near), key=lambda slot: order(slot.field))


def _description(slot: Slot, around: int | None) -> str:
    if slot.body is None:
        return f"{slot.field.name} {describe(slot)}"
    words = describe(slot).removesuffix(slot.field.element_type)
    is_hidden = around is not None and _is_larger(slot.body, 2 * around)
    return f"{slot.field.name} {words}({LEFT_OUT if is_hidden else shown_layout(slot.body)})"


def _is_larger(body: Layout, most: int) -> bool:
    """Whether a layout has more than `most` fields, structs unfolded; stops counting there."""
    waiting = [body]
    count = 0
    while waiting and count <= most:
        body = waiting.pop()
        slots = (*body.slots[: most + 1], *(body.tags or ())[: most + 1])
        count += len(slots)
        waiting += [slot.body for slot in slots if slot.body]
    return count > most


RECORDS = ("metadata", "data", "coordinator-key", "coordinator-value")
Properties = Mapping[str, object]
"""One side of a change in the JSON output, by property."""


class Spot(NamedTuple):
    """A place in one of the two trees: the file, a JSON pointer, and the key of a property there, or empty."""

    file: str
    pointer: str = ""
    key: str = ""

    @property
    def path(self) -> str:
        """The JSON pointer of the property, or of the object without a key."""
        return f"{self.pointer}/{self.key}" if self.key else self.pointer


@cache
def name_of(kind: type[Change]) -> str:
    """The name of a kind of change and of its rule: `layout-changed` for `LayoutChanged`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()


class _Standing(msgspec.Struct, frozen=True, kw_only=True):
    standing: Standing = "released"
    release: str = ""
    """The release that the versions are compared with, where that is not the old set."""


class Change(_Standing, frozen=True, dict=True):
    """One difference between two sets. Each kind of change is a subclass, and is named after its class."""

    messages: MessagePair
    """The message in the old set and in the new one; None on the side that does not have it."""
    versions: Annotated[VersionRange, "The versions that the change is about."] = NONE
    key: ClassVar[str] = ""
    attribute: ClassVar[str] = ""
    """The attribute with the value of the property `key`, for a change of that property alone."""

    @cached_property
    def name(self) -> str:
        """The change in the words of the compat pack, such as `layout-changed`."""
        return name_of(type(self))

    @cached_property
    def kind(self) -> str:
        """The change more closely, such as `field-removed`."""
        return self.detail or self.name

    @cached_property
    def message(self) -> Message:
        """The message in the new set; in the old one where it was removed."""
        message = self.messages[1] or self.messages[0]
        assert message is not None
        return message

    @cached_property
    def former(self) -> Message | None:
        """The message in the old set; None where it is new."""
        return self.messages[0]

    @cached_property
    def message_name(self) -> str:
        """The message's name."""
        return self.message.name

    @cached_property
    def message_type(self) -> str:
        """The message's type."""
        return self.message.type

    @cached_property
    def is_record(self) -> bool:
        """Whether the message is kept on disk, so that what breaks bytes breaks storage."""
        return self.message.type in RECORDS

    @cached_property
    def is_early(self) -> bool:
        """Whether a comment of the old file says that the message may still change incompatibly."""
        return self.former is not None and self.former.is_in_flux

    @cached_property
    def field(self) -> str:
        """The field's path, names joined by dots; empty for a change of the whole message."""
        return ""

    @cached_property
    def next_version(self) -> int:
        """The first version that may change: the highest of the new set if the old one lacks it, else the next."""
        highest = self.message.valid.highest
        return highest if self.former and highest > self.former.valid.highest else highest + 1

    @cached_property
    def bump(self) -> str:
        """How to add `next_version`, followed by `, then `, to begin a help text; empty if the new set has it."""
        message = self.message
        if self.next_version in message.valid:
            return ""
        if message.is_rpc:
            return f"run `kiplint migrate bump {message.base_name}`, then "
        return f'set "validVersions": "{message.valid | VersionRange.of(self.next_version, self.next_version)}", then '

    @cached_property
    def header(self) -> int:
        """For a change of headers: the header version now; else -1."""
        header = self.new.get("header")
        return header if isinstance(header, int) else -1

    @cached_property
    def default(self) -> str:
        """The field's default in the new set, as written, or empty."""
        return str(value_or(self.new.get("default"), ""))

    @property
    def detail(self) -> str:
        """The kind, where it is more precise than the name; else empty."""
        return ""

    @property
    def spot(self) -> Spot | None:
        """Its place in the new tree; None where the message was removed."""
        return Spot(self.messages[1].file, "", self.key) if self.messages[1] else None

    @property
    def old_spot(self) -> Spot | None:
        """Its place in the old tree; None where that is not known."""
        return Spot(self.messages[0].file, "", self.key) if self.messages[0] else None

    @property
    def old(self) -> Properties:
        """The old side in the JSON output."""
        return self._side(0)

    @property
    def new(self) -> Properties:
        """The new side in the JSON output."""
        return self._side(1)

    def _side(self, number: int) -> Properties:
        message = self.messages[number]
        if message is None or not self.attribute:
            return {}
        value = getattr(message, self.attribute)
        return {self.key: str(value) if isinstance(value, VersionRange) else to_builtins(value)}


Side = Literal["old", "new"]
OTHER: Final[dict[Side, Side]] = {"old": "new", "new": "old"}
"""The side that reads what a side writes."""


class Witness(msgspec.Struct, frozen=True):
    """An example message that proves a break: bytes that one side writes and the other misreads or refuses."""

    reader: Side
    version: Annotated[int, Meta(description="The version of the message.")]
    writer: Side
    outcome: Literal["misread", "refused"]
    hex: Annotated[str, Meta(description="The bytes of the message, in hexadecimal digits.")]
    value: Annotated[dict[str, Any], Meta(description="The message, as `kiplint decode` shows it.")]
    offset: Annotated[int, Meta(ge=0, description="The first byte that the two sides read differently.")]
    field: Annotated[str, Meta(description="The field that the writer puts there; empty for none.")]
    wrote: Annotated[Any, Meta(description="The value that the writer puts there.")]
    read_as: Annotated[str, Meta(description="The field that the reader takes it for; empty for none.")]
    read: Annotated[Any, Meta(description="The value that the reader takes it for, or why it refuses.")]
    rule: Annotated[str | None, Meta(description="The rule that a refusing reader names.")] = None

    @property
    def shows(self) -> int:
        """How plainly it shows the break: 0 for another value or a failure, 2 for an empty value that is the same."""
        return 0 if self.outcome == "refused" or self.wrote != self.read else 2 - bool(self.wrote)
