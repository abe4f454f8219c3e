"""Which message or field of the old set became which of the new one: by name first, then as a rename."""

from __future__ import annotations

from collections.abc import Iterable

from kiplint.model.container import Container
from kiplint.model.field import Field
from kiplint.model.message import Message

FieldPair = tuple[Field | None, Field | None]
MessagePair = tuple[Message | None, Message | None]
KEYED = ("request", "response", "metadata", "coordinator-key", "coordinator-value")
"""The message types with API keys. Each set has its own, but for those of RPCs, which are the same everywhere."""


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
    for field in lost:
        renamed = next((one for one in gained if _is_rename(field, one)), None)
        if renamed is not None:
            gained.remove(renamed)
        pairs.append((field, renamed))
    return [*pairs, *((None, field) for field in gained)]


def _is_rename(old: Field, new: Field) -> bool:
    if (old.tag, old.versions, old.is_array) != (new.tag, new.versions, new.is_array):
        return False
    if old.tag is None and _neighbours(old) != _neighbours(new) and old.position != new.position:
        return False
    return (old.is_struct and new.is_struct) or old.element_type == new.element_type


def _neighbours(field: Field) -> tuple[str, str]:
    fields, place = field.owner.fields, field.position
    before = fields[place - 1].name if place else ""
    return before, fields[place + 1].name if place + 1 < len(fields) else ""


def pair_messages(old: Iterable[Message], new: Iterable[Message], keyed: tuple[str, ...] = KEYED) -> list[MessagePair]:
    """The messages of both sets, paired by name, then by type and API key, if the type is one of `keyed`."""
    by_name = {message.name: message for message in new}
    pairs: list[MessagePair] = []
    lost: list[Message] = []
    for message in old:
        twin = by_name.pop(message.name, None)
        if twin is not None:
            pairs.append((message, twin))
        else:
            lost.append(message)
    by_key = {(one.type, one.api_key): one for one in by_name.values() if one.type in keyed}
    for message in lost:
        renamed = by_key.pop((message.type, message.api_key), None) if message.api_key is not None else None
        if renamed is not None:
            del by_name[renamed.name]
        pairs.append((message, renamed))
    return [*pairs, *((None, message) for message in by_name.values())]
