"""Negotiation: what a client and its brokers agree on, and every release with every other."""

from __future__ import annotations

import os

from kiplint.commands.negotiate.result import MatrixResult, NegotiationResult
from kiplint.commands.probe.result import read_offers
from kiplint.compat.negotiation.negotiate import Named, read_features
from kiplint.compat.negotiation.negotiate import negotiate as agree
from kiplint.compat.negotiation.releases import release_matrix
from kiplint.compat.roles import Mode
from kiplint.compat.tree import broken, load_rpcs
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.render.report import Status
from kiplint.sources.disk import read


def negotiate(
    client: Path,
    *brokers: Path,
    feature: Path | None = None,
    unstable: bool = False,
    mode: Mode | None = None,
    sasl: bool = False,
    repository: Path | None = None,
) -> NegotiationResult:
    """The ApiVersions exchange with each broker, and for each RPC the resulting versions and headers.

    A broker is a schema set, or a file with the JSON of `kiplint probe`. `feature` is a file that lists the RPCs which
    features of the client need. With `unstable` the brokers offer unstable versions too. `mode` is the mode of the
    brokers, by default KRaft where they support it; over `sasl` the client begins with version 0 of ApiVersions. Raises
    UsageError for mistakes in the arguments and SourceError for what cannot be opened.
    """
    if not brokers:
        raise UsageError("negotiate takes a client and at least one broker")
    features = read_features(os.fspath(feature), read(os.fspath(feature))) if feature else {}
    trees = [load_rpcs(client, repository)]
    client_set = trees[0].main
    broker_sets: list[Named] = []
    notes: list[str] = []
    for broker in brokers:
        name = os.fspath(broker)
        probed = read_offers(name)
        if probed:
            broker_sets += probed.sets(client_set)
            notes += [f"warning: {address} is left out: {error}" for address, error in probed.failed.items()]
        else:
            trees.append(load_rpcs(name, repository))
            broker_sets.append((trees[-1].name, trees[-1].main))
    negotiation = agree((trees[0].name, client_set), broker_sets, features, unstable=unstable, mode=mode, sasl=sasl)
    unread = broken(*trees)
    failing = negotiation.in_trouble or any(not feature.usable for feature in negotiation.features)
    status: Status = "error" if unread or notes else "findings" if failing else "ok"
    return NegotiationResult(negotiation, status=status, broken=unread, notes=tuple(notes))


def negotiate_all(
    *sets: Path, unstable: bool = False, mode: Mode | None = None, repository: Path | None = None
) -> MatrixResult:
    """Every set as the client of every set, itself included. Raises UsageError and SourceError as `negotiate` does."""
    trees = [load_rpcs(name, repository) for name in sets]
    names = [tree.name for tree in trees]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name} is named twice")
    matrix = release_matrix([(tree.name, tree.main) for tree in trees], unstable=unstable, mode=mode)
    unread = broken(*trees)
    return MatrixResult(matrix, status="error" if unread else "findings" if matrix.trouble else "ok", broken=unread)
