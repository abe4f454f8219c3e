"""What the RPCs of a set make of the names of fields: what most of them make of one is the convention.

An RPC has one vote for each thing that its request or response makes of a name. All of it is read off the JSON, once
for a set, and only when a rule asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from kiplint.model.element import value_or
from kiplint.model.spec import FieldSpec, MessageSpec, StructSpec
from kiplint.model.types import parse_type

if TYPE_CHECKING:
    from kiplint.model.message import Message

FEWEST = 3
"""Fewer RPCs make no convention; rules ask for more."""

Uses = dict[str, list[tuple[str, FieldSpec]]]
"""By name of a field: the names of the RPCs that have it, each with its JSON."""


class Vote(NamedTuple):
    """What most other RPCs make of a name, how many these are, and how many make something else of it, if only once."""

    value: str = ""
    votes: int = 0
    dissent: int = 0


def uses_of(messages: Iterable[Message], wanted: Collection[str] | None = None) -> Uses:
    """Every use of every name in the live requests and responses; of names that wanted files have, in any case."""
    live = [message for message in messages if message.is_rpc and message.valid]
    asking = live if wanted is None else [message for message in live if message.file in wanted]
    names = None if len(asking) == len(live) else {spec.name.lower() for one in asking for spec in specs(one.spec)}
    uses: Uses = {}
    for message in live:
        for spec in specs(message.spec):
            if names is None or spec.name.lower() in names:
                uses.setdefault(spec.name, []).append((message.base_name, spec))
    return uses


def specs(top: MessageSpec) -> Iterator[FieldSpec]:
    """The JSON of every field, at every depth."""
    waiting: list[MessageSpec | StructSpec | FieldSpec] = [top, *value_or(top.common_structs, [])]
    while waiting:
        for spec in value_or(waiting.pop().fields, []):
            yield spec
            if spec.fields:
                waiting.append(spec)


def vote(uses: Iterable[tuple[str, FieldSpec]], own: str, made: Callable[[FieldSpec], str | None]) -> Vote:
    """The vote of the RPCs but for the one called `own`; `made` gives None for a use that does not count."""
    by_rpc: dict[str, set[str]] = {}
    for rpc, spec in uses:
        if rpc != own and (value := made(spec)) is not None:
            by_rpc.setdefault(rpc, set()).add(value)
    counts = Counter(value for values in by_rpc.values() for value in sorted(values))
    if not counts:
        return Vote()
    value = max(counts, key=counts.__getitem__)
    return Vote(value, counts[value], sum(values != {value} for values in by_rpc.values()))


def primitive(spec: FieldSpec) -> str | None:
    """The type, if it is a primitive or an array of one."""
    return spec.type if parse_type(spec.type).primitive else None


def entity(spec: FieldSpec) -> str:
    """The entity type, empty when there is none."""
    return value_or(spec.entity_type, "").strip()


def contested(uses: Uses, made: Callable[[FieldSpec], str | None]) -> dict[str, str]:
    """By name of which not all uses are the same: what most RPCs make of it, unless that is nothing."""
    found = {}
    for name, those in uses.items():
        if len(those) > FEWEST and len({made(spec) for _, spec in those}) > 1:
            most = vote(those, "", made)
            if most.value and most.votes >= FEWEST and most.votes > most.dissent:
                found[name] = most.value
    return found


def spellings(uses: Uses) -> dict[str, dict[str, int]]:
    """By name of which there is another spelling: the number of RPCs by spelling."""
    found: dict[str, list[str]] = {}
    for name in uses:
        found.setdefault(name.lower(), []).append(name)
    ways = ({name: len({rpc for rpc, _ in uses[name]}) for name in names} for names in found.values() if len(names) > 1)
    return {name: each for each in ways for name in each}
