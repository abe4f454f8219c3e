"""Values with the tagged fields that the bytes leave out."""

from __future__ import annotations

from typing import Any

from kiplint.codec.shape import default_of, key_of
from kiplint.model.layout import Body, Slot


def filled(body: Body, value: dict[str, Any]) -> dict[str, Any]:
    """The values of a body with the default of every absent tagged field, at every depth."""
    slots = (*body.slots, *(body.tags or ()))
    known = {key_of(slot): slot for slot in slots}
    whole = {key: _filled(known[key], one) if key in known else one for key, one in value.items()}
    return whole | {key_of(slot): default_of(slot) for slot in body.tags or () if key_of(slot) not in whole}


def _filled(slot: Slot, value: Any) -> Any:
    if slot.body is None or value is None:
        return value
    if slot.array:
        return [filled(slot.body, one) for one in value]
    return filled(slot.body, value)
