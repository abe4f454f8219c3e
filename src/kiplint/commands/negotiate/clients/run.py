"""What released clients can do with brokers."""

from __future__ import annotations

from kiplint.commands.negotiate.brokers import broker_sets, open_brokers
from kiplint.commands.negotiate.clients.result import ClientListResult, ClientsResult
from kiplint.compat.negotiation.clients import known_rpcs, releases, releases_named, use_of_clients
from kiplint.compat.roles import Mode
from kiplint.compat.tree import Tree, broken
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.render.report import Status


def known_clients() -> ClientListResult:
    """The released clients whose versions are known, each with its versions and their sources."""
    return ClientListResult(releases())


def negotiate_clients(
    *brokers: Path,
    clients: str = "all",
    unstable: bool = False,
    mode: Mode | None = None,
    repository: Path | None = None,
) -> ClientsResult:
    """What released clients can do with each of the brokers, and which releases of a client work with it.

    `clients` is `all`, or a list with commas of releases such as `librdkafka@2.8.0`, or of clients for all their
    releases. The status is `findings` where a release loses an RPC. Raises UsageError and SourceError as `negotiate`
    does.
    """
    named_releases = releases_named(clients)
    if not brokers:
        raise UsageError("released clients need at least one broker")
    sources = open_brokers(brokers, repository)
    sets, notes = broker_sets(sources, known_rpcs())
    rows = use_of_clients(named_releases, sets, unstable=unstable, mode=mode)
    unread = broken(*(broker for broker in sources if isinstance(broker, Tree)))
    works = all(use.status == "works" for row in rows for cell in row.brokers for use in cell.releases)
    status: Status = "error" if unread or notes else "ok" if works else "findings"
    names = tuple(name for name, _ in sets)
    return ClientsResult(names, rows, status=status, broken=unread, notes=tuple(notes))
