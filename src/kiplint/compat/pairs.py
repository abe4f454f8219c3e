"""Which message and which field of an old set became which of a new one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kiplint.model.fields import Container, Field
from kiplint.model.message import Message
from kiplint.model.schemas import partner

FieldPair = tuple[Field | None, Field | None]
Footprint = tuple[object, ...]
MessagePair = tuple[Message | None, Message | None]


class Both(NamedTuple):
    """A message that both sets have."""

    old: Message
    new: Message


def concerns(pair: MessagePair, role: str) -> bool:
    """Whether a message matters to a role: records to `storage`; all RPCs to `broker`, those of the broker listener to
    `client`; headers, and data beside RPCs, to these two.
    """
    messages = [message for message in pair if message]
    if role == "storage":
        return any(message.is_record for message in messages)
    if not any(message.is_rpc for message in messages):
        return any(
            message.type == "header" or (message.type == "data" and message.schemas.rpcs) for message in messages
        )
    requests = [message if message.type == "request" else partner(message) for message in messages]
    listeners = {listener for request in requests if request for listener in request.listeners}
    return role == "broker" or "broker" in listeners or not listeners


def pair_fields(old: Container, new: Container) -> list[FieldPair]:
    """Pair the fields of two messages or structs, first by name, then as renames.

    A renamed field has the same position, type and versions. Fields that share a name, as after a copy, pair in order.
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
    by_footprint: dict[Footprint, list[Field]] = {}
    for field in reversed(gained_fields):
        for footprint in _footprints(field):
            by_footprint.setdefault(footprint, []).append(field)
    renames: dict[int, Field] = {}
    taken_ids: set[int] = set()
    for field in lost_fields:
        candidates = []
        for footprint in _footprints(field):
            gained_there = by_footprint.get(footprint, [])
            while gained_there and id(gained_there[-1]) in taken_ids:
                gained_there.pop()
            candidates += gained_there[-1:]
        if candidates:
            renames[id(field)] = min(candidates, key=lambda candidate: candidate.position)
            taken_ids.add(id(renames[id(field)]))
    return renames


def _footprints(field: Field) -> list[Footprint]:
    """What a field shares with the field that it became: its encoding with its tag, its index or its neighbours."""
    kind = "" if field.is_struct else field.element_type
    encoding = (field.tag, field.versions, field.is_array, kind)
    if field.tag is not None:
        return [encoding]
    fields, at = field.owner.fields, field.position
    neighbours = (fields[at - 1].name if at else "", fields[at + 1].name if at + 1 < len(fields) else "")
    return [(*encoding, at), (*encoding, neighbours)]


def pair_messages(old: Iterable[Message], new: Iterable[Message], *, are_of_one_set: bool = True) -> list[MessagePair]:
    """The messages of both sides, paired by name, then by type and API key; only RPCs have theirs in all sets alike.

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
        if message.api_key is not None and (are_of_one_set or message.is_rpc)
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


def _has_same_fields(old: Message, new: Message) -> bool:
    if (new.type, new.api_key) != (old.type, None):
        return False
    common = old.valid & new.valid
    before, after = (
        {(field.name, field.type) for field in message.fields if field.versions & common} for message in (old, new)
    )
    return bool(before) and before == after
