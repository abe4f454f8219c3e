"""Tag numbers that came back with another meaning; a number once used is never free again (KIP-482)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kiplint.compat.change import Change, Place
from kiplint.compat.pairing import pair_fields
from kiplint.model.container import Container
from kiplint.model.field import Field
from kiplint.model.message import Message


def reused_tags(new: Message, old: Message | None, older: Iterable[Message]) -> Iterator[Change]:
    """The tags that mean another field than they meant in the old message, or in any older one."""
    reported: set[str] = set()
    for ancestor in ([old] if old else []) + list(older):
        for before, after in _reused(ancestor, new, set()):
            if after.path not in reported:
                reported.add(after.path)
                yield _change(ancestor, new, before, after)


def _reused(old: Container, new: Container, seen: set[tuple[int, int]]) -> Iterator[tuple[Field, Field]]:
    if (id(old), id(new)) in seen:
        return
    seen.add((id(old), id(new)))
    pairs = pair_fields(old, new)
    successor = {before.name: after for before, after in pairs if before}
    by_tag = {field.tag: field for field in new.tagged_fields}
    for field in old.tagged_fields:
        holder = by_tag.get(field.tag)
        if holder is not None and holder is not successor.get(field.name):
            yield field, holder
    for before, after in pairs:
        if before and after and before.struct and after.struct:
            yield from _reused(before.struct, after.struct, seen)


def _change(old: Message, new: Message, before: Field, after: Field) -> Change:
    return Change(
        "tag-reused",
        "tag-reused",
        new,
        versions=after.tagged & new.valid,
        field=after.path,
        detail=f"tag {after.tag} belonged to {before.name} ({before.type}); {after.name} needs a number of its own",
        old={"tag": before.tag, "name": before.name, "type": before.type},
        new={"tag": after.tag, "name": after.name, "type": after.type},
        place=Place(new.file, after.pointer, "tag"),
        before=Place(old.file, before.pointer, "tag"),
    )
