"""Which message or field of the old set became which of the new one: by name first, then as a rename."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, ClassVar, Final, NamedTuple

import msgspec

from kiplint.model.element import fact, value_or
from kiplint.model.fields import Container, Field
from kiplint.model.layout import Layout, Slot, describe
from kiplint.model.message import Message
from kiplint.versions import NONE, VersionRange

FieldPair = tuple[Field | None, Field | None]
Footprint = tuple[object, ...]
MessagePair = tuple[Message | None, Message | None]
KEYED = ("request", "response", "metadata", "coordinator-key", "coordinator-value")
"""The message types with API keys. Each set has its own, but for those of RPCs, which are the same everywhere."""


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


def pair_fields(old: Container, new: Container) -> list[FieldPair]:
    """The fields of both, paired; renames are fields at the same place with the same type and versions."""
    pairs: list[FieldPair] = []
    lost: list[Field] = []
    for field in old.fields:
        twin = new.by_name.get(field.name)
        if twin is not None:
            pairs.append((field, twin))
        else:
            lost.append(field)
    gained = [field for field in new.fields if field.name not in old.by_name]
    heirs = _heirs(lost, gained) if lost and gained else {}
    taken = {id(field) for field in heirs.values()}
    pairs += [(field, heirs.get(id(field))) for field in lost]
    return [*pairs, *((None, field) for field in gained if id(field) not in taken)]


def _heirs(lost: list[Field], gained: list[Field]) -> dict[int, Field]:
    """By id of a lost field: what it is called now, of several the first that no other field became."""
    places: dict[Footprint, list[Field]] = {}
    for field in reversed(gained):
        for place in _places(field):
            places.setdefault(place, []).append(field)
    found: dict[int, Field] = {}
    taken: set[int] = set()
    for field in lost:
        candidates = []
        for place in _places(field):
            known = places.get(place, [])
            while known and id(known[-1]) in taken:
                known.pop()
            candidates += known[-1:]
        if candidates:
            found[id(field)] = min(candidates, key=lambda one: one.position)
            taken.add(id(found[id(field)]))
    return found


def _places(field: Field) -> list[Footprint]:
    """Where a field stands, in words that its successor shares: its tag, or its index or neighbours."""
    kind = "" if field.is_struct else field.element_type
    encoding = (field.tag, field.versions, field.is_array, kind)
    if field.tag is not None:
        return [encoding]
    fields, at = field.owner.fields, field.position
    around = (fields[at - 1].name if at else "", fields[at + 1].name if at + 1 < len(fields) else "")
    return [(*encoding, at), (*encoding, around)]


def pair_messages(old: Iterable[Message], new: Iterable[Message], keyed: tuple[str, ...] = KEYED) -> list[MessagePair]:
    """The messages of both sets, paired by name, then by type and API key, if the type is one of `keyed`.

    Without an API key a message is known by its fields: all of the versions that both have, with their types.
    """
    by_name = {message.name: message for message in new}
    pairs: list[MessagePair] = []
    lost: list[Message] = []
    for message in old:
        twin = by_name.pop(message.name, None)
        if twin is not None:
            pairs.append((message, twin))
        else:
            lost.append(message)
    by_key = {(one.type, one.api_key): one for one in by_name.values() if one.type in keyed and one.api_key is not None}
    for message in lost:
        if message.api_key is None:
            renamed = next((one for one in by_name.values() if _is_same(message, one)), None)
        else:
            renamed = by_key.pop((message.type, message.api_key), None)
        if renamed is not None:
            del by_name[renamed.name]
        pairs.append((message, renamed))
    return [*pairs, *((None, message) for message in by_name.values())]


def _is_same(old: Message, new: Message) -> bool:
    if (new.type, new.api_key) != (old.type, None):
        return False
    common = old.valid & new.valid
    fields = [{(one.name, one.type) for one in side.fields if one.versions & common} for side in (old, new)]
    return bool(fields[0]) and fields[0] == fields[1]


MOST_SHOWN: Final = 200
"""The fields of a layout that is shown whole, those of structs counted. Kafka's largest has half as many."""

AROUND: Final = 10
"""Of a larger layout: the fields shown before and after the one that it is about."""

LEFT_OUT: Final = "..."


def shown_layout(body: Layout, near: Field | None = None, *, empty_tags: bool = False) -> str:
    """A layout in one line: `ErrorCode int16, Topics array of (Name compact string), tags {0: Rack string}`.

    A tag section without tags is left out unless `empty_tags` are wanted, of the outermost struct only. Of a layout
    with more than `MOST_SHOWN` fields only those are shown that stand `near` a field, or at the beginning.
    """
    if _is_larger(body, MOST_SHOWN):
        return _part(body, near)
    return _whole(body, empty_tags=empty_tags)


def _whole(body: Layout, *, empty_tags: bool = False) -> str:
    parts = [_shown(one) for one in body.slots]
    if body.tags or (empty_tags and body.tags is not None):
        parts.append("tags {" + ", ".join(f"{one.field.tag}: {_shown(one)}" for one in body.tags) + "}")
    return ", ".join(parts)


def _part(body: Layout, near: Field | None) -> str:
    tags = body.tags or ()
    at = bisect_left(tags, near.tag or 0, key=lambda one: one.field.tag or 0) if near else 0
    tagged = at < len(tags) and tags[at].field is near
    place = bisect_left(body.slots, near.index, key=lambda one: one.field.index) if near and not tagged else 0
    slots = [] if tagged else _window(body.slots, place)
    numbered = _window(tags, at, numbers=True) if tagged or not body.slots else [LEFT_OUT] if tags else []
    parts = slots or ([LEFT_OUT] if body.slots else [])
    return ", ".join([*parts, "tags {" + ", ".join(numbered) + "}"] if tags else parts)


def _window(slots: Sequence[Slot], place: int, *, numbers: bool = False) -> list[str]:
    first, last = max(place - AROUND, 0), place + AROUND + 1
    shown = [(f"{one.field.tag}: " if numbers else "") + _shown(one, most=2 * AROUND) for one in slots[first:last]]
    return [*([LEFT_OUT] if first else []), *shown, *([LEFT_OUT] if last < len(slots) else [])]


def _shown(one: Slot, most: int | None = None) -> str:
    if one.body is None:
        return f"{one.field.name} {describe(one)}"
    words = describe(one).removesuffix(one.field.element_type)
    hidden = most is not None and _is_larger(one.body, most)
    return f"{one.field.name} {words}({LEFT_OUT if hidden else _whole(one.body)})"


def _is_larger(body: Layout, most: int) -> bool:
    """Whether a layout has more fields than that, structs unfolded; looks no further than it has to."""
    waiting = [body]
    count = 0
    while waiting and count <= most:
        one = waiting.pop()
        slots = (*one.slots[: most + 1], *(one.tags or ())[: most + 1])
        count += len(slots)
        waiting += [inner.body for inner in slots if inner.body]
    return count > most


RECORDS = ("metadata", "data", "coordinator-key", "coordinator-value")
Side = Mapping[str, object]
"""What the JSON output tells of one side of a change, by property."""


class Spot(NamedTuple):
    """Where to look in one of the two trees: the file, a JSON pointer, and the property wanted there."""

    file: str
    pointer: str = ""
    wanted: str = ""


@cache
def name_of(kind: type[Change]) -> str:
    """The name of a kind of change, which its rule has too: `layout-changed` for `LayoutChanged`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", kind.__name__).lower()


class Change(msgspec.Struct, frozen=True, dict=True):
    """One difference. Each kind is a class below this one, and its name is the class's name in words."""

    messages: MessagePair
    versions: Annotated[VersionRange, "The versions that the change is about."] = NONE
    wanted: ClassVar[str] = ""

    @fact
    def name(self) -> str:
        """The change in the words of the compat pack, such as `layout-changed`."""
        return name_of(type(self))

    @fact
    def kind(self) -> str:
        """The change more closely, such as `field-removed`."""
        return self.closer or self.name

    @fact
    def message(self) -> Message:
        """The message in the new set; in the old one where it was removed."""
        found = self.messages[1] or self.messages[0]
        assert found is not None
        return found

    @fact
    def former(self) -> Message | None:
        """The message in the old set; None where it is new."""
        return self.messages[0]

    @fact
    def message_name(self) -> str:
        """The message's name."""
        return self.message.name

    @fact
    def message_type(self) -> str:
        """The message's type."""
        return self.message.type

    @fact
    def is_record(self) -> bool:
        """Whether the message is kept on disk, so that what breaks bytes breaks storage."""
        return self.message.type in RECORDS

    @fact
    def is_early(self) -> bool:
        """Whether a comment of the old file says that the message may still change incompatibly."""
        return self.former is not None and self.former.is_in_flux

    @fact
    def field(self) -> str:
        """The field's path, names joined by dots; empty for a change of the whole message."""
        return ""

    @fact
    def header(self) -> int:
        """For a change of headers: the header version now; else -1."""
        found = self.new.get("header")
        return found if isinstance(found, int) else -1

    @fact
    def default(self) -> str:
        """The field's default in the new set, as written, or empty."""
        return str(value_or(self.new.get("default"), ""))

    @property
    def closer(self) -> str:
        """The kind, where it says more than the name; else empty."""
        return ""

    @property
    def place(self) -> Spot | None:
        """Where it is in the new tree; None where the message is gone."""
        return Spot(self.messages[1].file, "", self.wanted) if self.messages[1] else None

    @property
    def before(self) -> Spot | None:
        """Where it was in the old tree; None where that is not known."""
        return Spot(self.messages[0].file, "", self.wanted) if self.messages[0] else None

    @property
    def old(self) -> Side:
        """What the JSON output tells of the old side."""
        return {}

    @property
    def new(self) -> Side:
        """What the JSON output tells of the new side."""
        return {}
