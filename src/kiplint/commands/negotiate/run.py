"""Negotiation: what a client and its brokers agree on."""

from __future__ import annotations

import os

from kiplint.commands.negotiate.brokers import Brokers, broker_sets, open_brokers
from kiplint.commands.negotiate.result import NegotiationResult
from kiplint.commands.probe.result import ProbedOffers, read_offers
from kiplint.compat.negotiation.clients import client_names, known_rpcs, release_named, released_side
from kiplint.compat.negotiation.negotiate import negotiate as agree
from kiplint.compat.negotiation.negotiate import read_features
from kiplint.compat.negotiation.sides import Side, client_side, ranged_side
from kiplint.compat.roles import Mode
from kiplint.compat.tree import Tree, broken, load_rpcs
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.limits import INPUT_BYTES, TEXT_BYTES
from kiplint.model.schemas import SchemaSet
from kiplint.render.report import Status
from kiplint.sources.disk import STDIN, read_input
from kiplint.text.files import open_file
from kiplint.versions import NONE, VersionRange


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

    A broker is a schema set, or a file with the JSON of `kiplint probe`. The client is one too, or a released client
    such as `librdkafka@2.8.0`, or a capture, whose requests have its versions. `feature` is a file that lists the RPCs
    which features of the client need. With `unstable` the brokers offer unstable versions too. `mode` is the mode of
    the brokers, by default KRaft where it is for production, from 3.3 on; over `sasl` the client begins with version 0
    of ApiVersions. Raises UsageError for mistakes in the arguments and SourceError for what cannot be opened.
    """
    if not brokers:
        raise UsageError("negotiate takes a client and at least one broker")
    features = read_features(os.fspath(feature), read_input(os.fspath(feature), TEXT_BYTES)) if feature else {}
    name = os.fspath(client)
    tree = None if _is_special(name) else load_rpcs(name, repository)
    special = read_offers(name) if tree is None else None  # before the brokers, so that `-` is the client
    sources = open_brokers(brokers, repository)
    if tree:
        side = client_side(tree.name, tree.main)
    elif special:
        side = _probed_client(name, special, sources)
    else:
        side = (
            _captured_client(name, sources, repository) if os.path.exists(name) else released_side(release_named(name))
        )
    sets, notes = broker_sets(sources, side.schemas)
    negotiation = agree(side, sets, features, unstable=unstable, mode=mode, sasl=sasl)
    unread = broken(tree, *(broker for broker in sources if isinstance(broker, Tree)))
    failing = negotiation.in_trouble or any(not feature.usable for feature in negotiation.features)
    status: Status = "error" if unread or notes else "findings" if failing else "ok"
    return NegotiationResult(negotiation, status=status, broken=unread, notes=tuple(notes))


def _is_special(client: str) -> bool:
    """Whether a CLIENT is a released client, a capture, or the answer of a probe, and not a schema set."""
    if not os.path.exists(client):
        return client == STDIN or (":" not in client and (client.partition("@")[0] in client_names() or "@" in client))
    if not os.path.isfile(client):
        return False
    from kiplint.codec.capture import is_capture

    with open_file(client) as file:
        return is_capture(file.read(4)) or (client.endswith(".json") and read_offers(client) is not None)


def _first_set(brokers: Brokers) -> SchemaSet:
    """The layouts for a client without layouts of its own: the first broker that is a set."""
    return next((broker.main for broker in brokers if isinstance(broker, Tree)), None) or known_rpcs()


def _probed_client(name: str, probe: ProbedOffers, brokers: Brokers) -> Side:
    """A client with the versions that a probed broker offers, as another broker has when it connects."""
    first, *others = probe.offers.values()
    if any(other != first for other in others):
        raise UsageError(f"{name} has brokers that differ: probe one of them to take it as the client")
    versions = {row.api_key: VersionRange.of(max(row.lowest, 0), row.highest) for row in first}
    usable = {api_key: ours for api_key, ours in versions.items() if ours}
    return ranged_side(next(iter(probe.offers)), usable, _first_set(brokers))


def _captured_client(name: str, brokers: Brokers, repository: Path | None) -> Side:
    """A client with the versions of the requests in a capture."""
    from kiplint.codec.capture import UnreadableCapture, read_capture
    from kiplint.codec.catalog import open_catalog

    sets = [broker.name for broker in brokers if isinstance(broker, Tree)]
    if not sets:
        raise UsageError(f"{name} needs a broker that is a schema set: it has the layouts to read a capture with")
    try:
        capture = read_capture(open_catalog(sets, repository), read_input(name, INPUT_BYTES))
    except UnreadableCapture as error:
        raise UsageError(f"{name}: {error}") from None
    versions: dict[int, VersionRange] = {}
    for frame in capture.frames:
        if frame.direction == "request" and frame.api_version >= 0:
            version = VersionRange.of(frame.api_version, frame.api_version)
            versions[frame.api_key] = versions.get(frame.api_key, NONE) | version
    if not versions:
        raise UsageError(f"{name} has no request that can be read with the layouts of {sets[0]}")
    note = "only the versions of the captured requests are known; the client may have more"
    note += "; the capture is too long, and its end is not read" * capture.limited
    return ranged_side(name, versions, _first_set(brokers), note)
