"""What changed between the fields of two versions of one message, interval by interval."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from kiplint.compat.changes.encodings import Piece, differences
from kiplint.compat.changes.field_kinds import FieldChange
from kiplint.compat.changes.pairing import Both, FieldPair, pair_fields
from kiplint.compat.limits import Budget
from kiplint.model.container import Container
from kiplint.model.layout import ranges_of
from kiplint.versions import NONE, VersionRange, boundaries


class Twins(NamedTuple):
    """A struct (or message) of the old message and what became of it, with the versions in which both are used."""

    old: Container
    new: Container
    fields: list[FieldPair]
    versions: VersionRange


def compare_fields(messages: Both, within: VersionRange) -> Iterator[FieldChange]:
    """The changes of the fields of the messages and of all structs inside, in versions that both have."""
    budget = Budget(messages.new)
    for old, new, pairs, versions in _twins(messages, within):
        found: dict[FieldChange, VersionRange] = {}
        pieces = list(boundaries({*_ranges_below(old), *_ranges_below(new)}, versions))
        for side in (old, new):
            budget.spend(side, len(pieces))
        for piece in pieces:
            for one in differences(Piece(messages, (old, new), piece.lowest), pairs):
                found[one] = found.get(one, piece) | piece
        for one, affected in found.items():
            yield replace(one, versions=affected)


def _ranges_below(container: Container) -> Iterator[VersionRange]:
    """Every range that bears on the layout of the container, structs inside it included."""
    seen = {id(container)}
    waiting = [container]
    while waiting:
        one = waiting.pop()
        yield from ranges_of(one)
        inner = [field.struct for field in one.fields if field.is_struct and field.struct]
        waiting += [struct for struct in inner if id(struct) not in seen]
        seen.update(map(id, inner))


def _twins(messages: Both, within: VersionRange) -> Iterable[Twins]:
    """The messages and the structs inside, each pair once however many fields have it."""
    reached: dict[tuple[int, int], Twins] = {}
    waiting: list[tuple[Container, Container, VersionRange]] = [(*messages, within)]
    while waiting:
        old, new, versions = waiting.pop()
        known = reached.get((id(old), id(new))) or Twins(old, new, pair_fields(old, new), NONE)
        fresh = versions - known.versions
        if fresh:
            reached[id(old), id(new)] = known._replace(versions=known.versions | fresh)
            for before, after in known.fields:
                if before and after and before.struct and after.struct:
                    waiting.append((before.struct, after.struct, fresh & before.versions & after.versions))
    return reached.values()
