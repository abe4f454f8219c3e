"""The brokers of a negotiation: schema sets, or what `kiplint probe` wrote."""

from __future__ import annotations

import os
from collections.abc import Sequence

from kiplint.commands.probe.result import ProbedOffers, read_offers
from kiplint.compat.negotiation.negotiate import NamedSet
from kiplint.compat.tree import Tree, load_rpcs
from kiplint.engine.config import Path
from kiplint.model.schemas import SchemaSet

Brokers = Sequence[Tree | ProbedOffers]
"""Brokers: the trees of schema sets, and the answers of probed brokers."""


def open_brokers(brokers: Sequence[Path], repository: Path | None) -> Brokers:
    """The brokers that the arguments name. Raises UsageError and SourceError."""
    return [read_offers(os.fspath(broker)) or load_rpcs(broker, repository) for broker in brokers]


def broker_sets(brokers: Brokers, layouts: SchemaSet) -> tuple[list[NamedSet], list[str]]:
    """The brokers as sets, with the layouts of another set where they are probed; and warnings."""
    sets: list[NamedSet] = []
    notes: list[str] = []
    for broker in brokers:
        if isinstance(broker, Tree):
            sets.append((broker.name, broker.main))
        else:
            sets += broker.sets(layouts)
            notes += [f"warning: {address} is left out: {error}" for address, error in broker.failed.items()]
    return sets, notes
