"""The mode that each broker runs in, and which of the client's RPCs it decides about."""

from __future__ import annotations

from collections.abc import Iterator

from kiplint.compat.negotiation.result import BrokerMode
from kiplint.compat.negotiation.sides import Side, broker_side
from kiplint.compat.roles import TITLES, Mode, modes_of
from kiplint.engine.errors import UsageError
from kiplint.model.schemas import SchemaSet


def check_mode(name: str, schemas: SchemaSet, mode: Mode | None) -> None:
    """Raise UsageError for a broker that cannot run in the mode that was asked for."""
    modes = modes_of(schemas)
    if mode and modes and mode not in modes:
        has = TITLES[modes[0]]
        raise UsageError(f"{name} cannot run in {TITLES[mode]} mode, only in {has} mode; leave --mode {mode} out")


def mode_of(client: Side, broker: Side, asked: Mode | None, *, unstable: bool) -> BrokerMode:
    """What the mode of a broker comes to: the client's RPCs whose versions it would not offer alike in the other."""
    others = [mode for mode in modes_of(broker.schemas) if mode != broker.mode]
    if not others:
        return BrokerMode(broker.name, broker.mode)
    other = broker_side(broker.name, broker.schemas, unstable=unstable, mode=others[0])
    only, not_here = (tuple(_more(client, *pair)) for pair in ((broker, other), (other, broker)))
    return BrokerMode(broker.name, broker.mode, asked is None, only, not_here)


def _more(client: Side, one: Side, other: Side) -> Iterator[str]:
    """The client's RPCs that the one side offers and the other does not, by API key."""
    for key in sorted(client.offers):
        offer = client.offers[key]
        if key in one.offers and key not in other.offers and not offer.between_nodes:
            yield offer.name
