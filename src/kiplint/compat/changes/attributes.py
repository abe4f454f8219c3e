"""What changed about fields apart from their bytes: names, defaults, markers; and fields of new versions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiplint.compat.changes import attribute_kinds as kinds
from kiplint.compat.changes.change import Change
from kiplint.compat.changes.pairing import Both, pair_fields
from kiplint.model.container import Container
from kiplint.model.field import Field
from kiplint.model.types import INTEGERS
from kiplint.versions import VersionRange

PLAIN = (kinds.EntityTypeChanged, kinds.MapKeyChanged, kinds.IgnorableChanged, kinds.AboutChanged)


def compare_attributes(
    messages: Both, old: Container, new: Container, released: VersionRange, seen: set[tuple[int, int]]
) -> Iterator[Change]:
    """The changes of paired fields that no byte shows, and the fields that only versions not yet released have."""
    if (id(old), id(new)) in seen:
        return
    seen.add((id(old), id(new)))
    for before, after in pair_fields(old, new):
        if before and after:
            yield from _of_pair(messages, before, after)
            if before.struct and after.struct:
                yield from compare_attributes(messages, before.struct, after.struct, released, seen)
        elif after and after.present and not after.versions & released:
            yield from _new_field(messages, after)


def _of_pair(messages: Both, old: Field, new: Field) -> Iterator[Change]:
    pair, versions = (old, new), new.versions & messages.new.valid
    if old.name != new.name:
        yield kinds.FieldRenamed(messages, versions, pair)
    if old.is_struct and new.is_struct and old.element_type != new.element_type:
        yield kinds.StructRenamed(messages, versions, pair)
    if _default(old) != _default(new) and kinds.quoted(old) != kinds.quoted(new):
        yield kinds.DefaultChanged(messages, versions, pair)
    for kind in PLAIN:
        if getattr(old, kind.attribute) != getattr(new, kind.attribute):
            yield kind(messages, versions, pair)


def _new_field(messages: Both, field: Field) -> Iterator[Change]:
    old, new = messages
    yield kinds.NewField((old, new), field.present, (None, field))
    older = bool(old.valid & new.valid - field.present)
    if older and new.is_rpc and not field.ignorable:
        yield kinds.NewFieldNotIgnorable(messages, field.present, (None, field))


def _default(field: Field) -> Any:
    """The default as a value, so that `0`, `0x0` and none at all are the same number."""
    text = field.default
    if field.defaults_to_null:
        return None
    if field.is_array or field.is_struct:
        return ""
    if field.element_type in INTEGERS:
        try:
            return int(text or "0", 16 if text.startswith("0x") else 10)
        except ValueError:
            return text
    if field.element_type == "bool":
        return (text or "false").lower()
    if field.element_type == "float64":
        try:
            return float(text or "0")
        except ValueError:
            return text
    return text
