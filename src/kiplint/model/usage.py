"""The conventions of a set for the names of fields: the type, entity type and spelling that most RPCs give a name.

An RPC has a vote for each value that its request or response gives. All of it is read from the JSON, once for a set,
and only when a rule needs it.
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
    """The value that most other RPCs give a name, how many these are, and how many give another value at least once."""

    value: str = ""
    votes: int = 0
    dissent: int = 0


def uses_of(messages: Iterable[Message], selected: Collection[str] | None = None) -> Uses:
    """Every use of the names that selected files have, in any case, in the live requests and responses."""
    live = [message for message in messages if message.is_rpc and message.valid]
    chosen = live if selected is None else [message for message in live if message.file in selected]
    every = len(chosen) == len(live)
    names = None if every else {spec.name.lower() for message in chosen for spec in specs(message.spec)}
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
    """The vote of the RPCs other than `own`; `made` returns None for a use that does not count."""
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
    """The type, if it is a primitive or an array of primitives."""
    return spec.type if parse_type(spec.type).primitive else None


def entity(spec: FieldSpec) -> str:
    """The entity type, empty when there is none."""
    return value_or(spec.entity_type, "").strip()


def contested(uses: Uses, made: Callable[[FieldSpec], str | None]) -> dict[str, str]:
    """By name whose uses differ: the value that most RPCs give it, unless that is empty."""
    usual = {}
    for name, those in uses.items():
        if len(those) > FEWEST and len({made(spec) for _, spec in those}) > 1:
            most = vote(those, "", made)
            if most.value and most.votes >= FEWEST and most.votes > most.dissent:
                usual[name] = most.value
    return usual


def spellings(uses: Uses) -> dict[str, dict[str, int]]:
    """By name that has another spelling: the number of RPCs by spelling."""
    alike: dict[str, list[str]] = {}
    for name in uses:
        alike.setdefault(name.lower(), []).append(name)
    ways = ({name: len({rpc for rpc, _ in uses[name]}) for name in names} for names in alike.values() if len(names) > 1)
    return {name: each for each in ways for name in each}
