"""Tag numbers that came back with another meaning; a number once used is never free again (KIP-482)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kiplint.compat.changes.pairing import FieldPair, pair_fields
from kiplint.compat.changes.tag_kinds import TagReused
from kiplint.compat.limits import Budget
from kiplint.model.container import Container
from kiplint.model.field import Field
from kiplint.model.message import Message


def reused_tags(new: Message, old: Message | None, older: Iterable[Message]) -> Iterator[TagReused]:
    """The tags that mean another field than they meant in the old message, or in any older one.

    What looks like a rename since an older message is one only if the old message has the field too: a number that
    was given up in between is burned.
    """
    older = list(older)
    for message in (new, *older):
        Budget(message).spend(message)
    reported: set[str] = set()
    kept = _kept(old, new) if old else set()
    for ancestor in ([old] if old else []) + older:
        for pairs in _structs(ancestor, new):
            for before, after in _reused(pairs, kept if ancestor is not old else None):
                if after.path not in reported:
                    reported.add(after.path)
                    yield TagReused((ancestor, new), after.tagged & new.valid, (before, after))


def _structs(old: Container, new: Container) -> Iterator[list[FieldPair]]:
    """The paired fields of two messages, and of the structs inside, each pair of structs once."""
    seen: set[tuple[int, int]] = set()
    waiting = [(old, new)]
    while waiting:
        one, other = waiting.pop()
        if (id(one), id(other)) not in seen:
            seen.add((id(one), id(other)))
            pairs = pair_fields(one, other)
            yield pairs
            waiting += [(a.struct, b.struct) for a, b in pairs if a and b and a.struct and b.struct]


def _kept(old: Message, new: Message) -> set[int]:
    """The ids of the new message's fields that had their tag in the old one."""
    pairs = (pair for fields in _structs(old, new) for pair in fields)
    return {id(after) for before, after in pairs if before and after and before.tag == after.tag is not None}


def _reused(pairs: list[FieldPair], kept: set[int] | None) -> Iterator[tuple[Field, Field]]:
    by_tag = {after.tag: after for _, after in pairs if after and after.tag is not None}
    for before, after in pairs:
        holder = by_tag.get(before.tag) if before and before.tag is not None else None
        if before and after and holder and after.tag == before.tag:
            holder = after  # of several with one tag, the field's own
        if before is None or holder is None:
            continue
        same = holder is after and (kept is None or id(holder) in kept or _is_back(before, holder))
        if not same:
            yield before, holder


def _is_back(old: Field, new: Field) -> bool:
    """Whether a field that was gone for a while is what it was."""
    return (old.name, old.element_type, old.is_array) == (new.name, new.element_type, new.is_array)
