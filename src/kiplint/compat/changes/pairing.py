"""Which message or field of the old set became which of the new one: by name first, then as a rename."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kiplint.model.container import Container
from kiplint.model.field import Field
from kiplint.model.message import Message

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
