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


def uses_of(messages: Iterable[Message], files: Collection[str] | None = None) -> Uses:
    """The uses, in live requests and responses, of all field names of the selected files; case is ignored."""
    live = [message for message in messages if message.is_rpc and message.valid]
    selected_messages = live if files is None else [message for message in live if message.file in files]
    every = len(selected_messages) == len(live)
    names = None if every else {spec.name.lower() for message in selected_messages for spec in specs(message.spec)}
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


class Votes:
    """The votes on a name: what each RPC gives it, counted once; `value_of` returns None for what does not count."""

    def __init__(self, uses: Iterable[tuple[str, FieldSpec]], value_of: Callable[[FieldSpec], str | None]) -> None:
        self._values: dict[str, set[str]] = {}
        for rpc, spec in uses:
            if (value := value_of(spec)) is not None:
                self._values.setdefault(rpc, set()).add(value)
        self._givers: dict[str, list[int]] = {}
        self._numbers = {rpc: number for number, rpc in enumerate(self._values)}
        for number, values in enumerate(self._values.values()):
            for value in sorted(values):
                self._givers.setdefault(value, []).append(number)
        self._alone = Counter(next(iter(values)) for values in self._values.values() if len(values) == 1)
        self._order = sorted(self._givers, key=lambda value: -len(self._givers[value]))

    def without(self, own: str) -> Vote:
        """The vote of the RPCs other than `own`. Of values with as many votes, the one that came first counts."""
        mine = self._values.get(own, set())
        # Only the values of this RPC lose a vote, so that the first of all others is the best of them.
        first = next((value for value in self._order if value not in mine), None)
        candidates = [value for value in (*mine, first) if value is not None]
        votes = {value: len(self._givers[value]) - (value in mine) for value in candidates}
        if not any(votes.values()):
            return Vote()
        number = self._numbers.get(own, -1)
        value = min(candidates, key=lambda value: (-votes[value], self._first(value, number), value))
        others = len(self._values) - bool(mine) - (self._alone[value] - (mine == {value}))
        return Vote(value, votes[value], others)

    def _first(self, value: str, own: int) -> int:
        """The number of the first RPC other than `own` that gives the value."""
        return next((number for number in self._givers[value] if number != own), len(self._values))


_SIGNED = ("int8", "int16", "int32", "int64")
_UNSIGNED = ("uint16", "uint32")


def last_word(name: str) -> str:
    """The last word of a name: `Epoch` of `SnapshotEpoch`."""
    return name[max(len(name.rstrip("abcdefghijklmnopqrstuvwxyz")) - 1, 0) :]


def signed_names(messages: Iterable[Message]) -> dict[str, Counter[str]]:
    """By last word of the live fields' names: how many signed integers each name has; without words of two unsigned."""
    fields = [spec for message in messages if message.valid for spec in specs(message.spec)]
    unsigned: dict[str, set[str]] = {}
    for name in {spec.name for spec in fields if spec.type in _UNSIGNED}:
        unsigned.setdefault(last_word(name), set()).add(name)
    signed = {word: Counter[str]() for word, names in unsigned.items() if len(names) == 1}
    endings = tuple(signed)[:10]  # which are tried first, as they are few but for a set made to be slow
    for spec in fields:
        if spec.type in _SIGNED and (len(signed) > 10 or spec.name.endswith(endings)):
            word = last_word(spec.name)
            if word in signed:
                signed[word][spec.name] += 1
    return signed


def primitive(spec: FieldSpec) -> str | None:
    """The type, if it is a primitive or an array of primitives."""
    return spec.type if parse_type(spec.type).primitive else None


def entity(spec: FieldSpec) -> str:
    """The entity type, empty when there is none."""
    return value_or(spec.entity_type, "").strip()


def contested_values(uses: Uses, value_of: Callable[[FieldSpec], str | None]) -> dict[str, str]:
    """By name whose uses differ: the value that most RPCs give it, unless that is empty."""
    usual = {}
    for name, those in uses.items():
        if len(those) > FEWEST and len({value_of(spec) for _, spec in those}) > 1:
            most = Votes(those, value_of).without("")
            if most.value and most.votes >= FEWEST and most.votes > most.dissent:
                usual[name] = most.value
    return usual


class Spellings(NamedTuple):
    """The number of RPCs by spelling of a name, and the spelling that most of them have."""

    counts: dict[str, int]
    usual: str


def spellings(uses: Uses) -> dict[str, Spellings]:
    """By name that has another spelling: what the RPCs make of its case."""
    alike: dict[str, list[str]] = {}
    for name in uses:
        alike.setdefault(name.lower(), []).append(name)
    ways = ({name: len({rpc for rpc, _ in uses[name]}) for name in names} for names in alike.values() if len(names) > 1)
    all_spellings = (Spellings(counts, max(counts, key=counts.__getitem__)) for counts in ways)
    return {name: each for each in all_spellings for name in each.counts}
