"""Every release as the client of every release as the broker: how many RPCs they can use, and why not the others.

Releases with the same RPCs in the same versions are compared only once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from kiplint.compat.negotiation.exchange import exchange
from kiplint.compat.negotiation.negotiate import agree
from kiplint.compat.negotiation.result import TROUBLE
from kiplint.compat.negotiation.sides import Side, broker_side, check_mode, client_side
from kiplint.compat.roles import TITLES, Mode, is_between_nodes, modes_of
from kiplint.model.headers import API_VERSIONS, header_map
from kiplint.model.schemas import SchemaSet

MOST_NAMED = 4
"""How many RPCs a line names; it counts the others."""

Pair = tuple[str, str]


class RpcCell(NamedTuple):
    """The agreement of a client and a broker on an RPC; the status is an `Outcome`."""

    api_key: int
    name: str
    status: str
    chosen: int | None


class ReleaseOffers(NamedTuple):
    """The versions of each RPC that a release uses as a client, and offers as a broker, by API key.

    `modes` are the modes that its brokers can run in, `mode` is the mode in which they are taken.
    """

    name: str
    client: Mapping[int, str]
    broker: Mapping[int, str]
    mode: Mode
    modes: tuple[Mode, ...]


class ReleaseMatrix(msgspec.Struct, frozen=True, dict=True):
    """The releases in their order, and for each pair, client and broker, the RPCs of either by API key."""

    releases: tuple[ReleaseOffers, ...]
    pairs: Mapping[Pair, tuple[RpcCell, ...]]

    @cached_property
    def trouble(self) -> dict[Pair, list[str]]:
        """The RPCs of clients that both have and cannot use, by name, for the pairs that have any."""
        trouble = {
            pair: sorted({cell.name for cell in cells if in_trouble(cell)}) for pair, cells in self.pairs.items()
        }
        return {pair: names for pair, names in trouble.items() if names}

    @property
    def note(self) -> str:
        """How many pairs have no trouble, and in which mode the brokers are that can run in two."""
        fine = len(self.pairs) - len(self.trouble)
        summary = f"{fine:,} of {len(self.pairs):,} pairs agree on every RPC of clients that both have."
        both = (release for release in self.releases if len(release.modes) > 1)
        spans = [
            (mode, _span([release.name.removesuffix(":") for release in group]))
            for mode, group in groupby(both, key=lambda release: release.mode)
        ]
        if not spans:
            return summary
        modes = ", those of ".join(f"{span} are in {TITLES[mode]} mode" for mode, span in spans)
        others = [other for other in TITLES if {mode for mode, _ in spans} != {other}]
        choices = " and ".join(f"for {TITLES[other]} mode: --mode {other}" for other in others)
        return f"{summary} Brokers of {modes}; {choices}."

    def has(self, client: str, broker: str) -> bool:
        """Whether the pair is known."""
        return (client, broker) in self.pairs

    def runs(self) -> Iterator[tuple[str, ...]]:
        """Client, brokers, number and names of RPCs: brokers next to each other with the same trouble as one line."""
        names = [release.name for release in self.releases]
        for client in names:
            brokers = [broker for broker in names if self.has(client, broker)]
            for trouble, some in groupby(brokers, key=lambda broker: self.trouble.get((client, broker), [])):
                if trouble:
                    span = list(some)
                    yield client, _span(span), str(len(trouble)), _join_names(trouble)


def release_matrix(
    sets: Sequence[tuple[str, SchemaSet]], *, unstable: bool = False, mode: Mode | None = None
) -> ReleaseMatrix:
    """The matrix of sets, each a name and a schema set; `mode` is for the brokers that can run in it.

    Raises UsageError for a mode that no set has.
    """
    modes = [modes_of(schemas) for _, schemas in sets]
    if not any(mode in own_modes or not own_modes for own_modes in modes):
        for name, schemas in sets:
            check_mode(name, schemas, mode)
    clients = [client_side(name, schemas) for name, schemas in sets]
    brokers = [
        broker_side(name, schemas, unstable=unstable, mode=mode if mode in own_modes else None)
        for (name, schemas), own_modes in zip(sets, modes, strict=True)
    ]
    cells: dict[tuple[Any, Any], tuple[RpcCell, ...]] = {}
    pairs: dict[Pair, tuple[RpcCell, ...]] = {}
    client_keys, broker_keys = ([_comparison_key(side) for side in sides] for sides in (clients, brokers))
    for client, client_key in zip(clients, client_keys, strict=True):
        for broker, broker_key in zip(brokers, broker_keys, strict=True):
            if (client_key, broker_key) not in cells:
                cells[client_key, broker_key] = tuple(_cells(client, broker))
            pairs[client.name, broker.name] = cells[client_key, broker_key]
    releases = (
        ReleaseOffers(client.name, _versions(client), _versions(broker), broker.mode, own_modes)
        for client, broker, own_modes in zip(clients, brokers, modes, strict=True)
    )
    return ReleaseMatrix(tuple(releases), pairs)


def in_trouble(cell: RpcCell) -> bool:
    """Whether both sides have an RPC of clients, and cannot use it."""
    return cell.status in TROUBLE and not is_between_nodes(cell.api_key, cell.name)


def _cells(client: Side, broker: Side) -> Iterator[RpcCell]:
    opening = exchange(client, broker)
    for key in sorted({*client.offers, *broker.offers}):
        agreement = agree(key, client, broker, opening)
        name = (client.offers.get(key) or broker.offers[key]).name
        yield RpcCell(key, name, agreement.status, agreement.chosen)


def _comparison_key(side: Side) -> Any:
    """The facts on which the agreements of a side depend: sides with equal keys agree on the same with any other side.

    The fields of ApiVersions are among them, because they decide how a connection begins.
    """
    return tuple(
        (
            (key, offer.name, offer.versions, offer.hidden, header_map(offer.request), header_map(offer.response)),
            tuple((field.name, field.versions) for field in offer.request.fields) if key == API_VERSIONS else (),
        )
        for key, offer in sorted(side.rpcs.items())
    )


def _versions(side: Side) -> dict[int, str]:
    return {key: str(offer.versions) for key, offer in side.offers.items()}


def _span(brokers: Sequence[str]) -> str:
    return brokers[0] if len(brokers) == 1 else f"{brokers[0]} to {brokers[-1]}"


def _join_names(names: Sequence[str]) -> str:
    rest = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED + 1 else ""
    return ", ".join(names[: MOST_NAMED if rest else MOST_NAMED + 1]) + rest
