"""The results about released clients: which work with which brokers, and their versions; and their JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import ClassVar, Final, Literal

import msgspec

from kiplint.compat.negotiation.clients import ClientRelease, ClientRow
from kiplint.render.report import RunResult


class ClientsSummary(msgspec.Struct, frozen=True):
    """The number of pairs of a release and a broker, by status."""

    releases: int
    works: int
    core: int
    fails: int


class ClientsDocument(msgspec.Struct, frozen=True):
    """What `kiplint negotiate --clients RELEASES --output-format json` writes."""

    version: Literal[1]
    brokers: tuple[str, ...]
    clients: tuple[ClientRow, ...]
    summary: ClientsSummary


class ClientListDocument(msgspec.Struct, frozen=True):
    """What `kiplint negotiate --list-clients --output-format json` writes."""

    version: Literal[1]
    releases: tuple[ClientRelease, ...]


DOCUMENTS: Final = {"clients": ClientsDocument, "client-list": ClientListDocument}


class ClientsResult(RunResult, frozen=True):
    """What released clients can do with brokers. `status` is `findings` where a release loses an RPC."""

    brokers: tuple[str, ...]
    """The brokers."""
    clients: tuple[ClientRow, ...]
    """Each client with each broker, and its releases with it."""

    command = "clients"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.negotiate.clients.text:write"}
    listing = "clients"
    unread = "not compared"

    @property
    def document(self) -> ClientsDocument:
        """The JSON document."""
        uses = [use for row in self.clients for cell in row.brokers for use in cell.releases]
        counts = Counter(use.status for use in uses)
        releases = len({(row.client, use.version) for row in self.clients for use in row.brokers[0].releases})
        summary = ClientsSummary(releases, counts["works"], counts["core"], counts["fails"])
        return ClientsDocument(1, self.brokers, self.clients, summary)


class ClientListResult(RunResult, frozen=True):
    """The released clients whose versions are known."""

    releases: tuple[ClientRelease, ...]
    """The releases, by client and version."""

    command = "client-list"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.negotiate.clients.text:write_list"}
    listing = "releases"

    @property
    def document(self) -> ClientListDocument:
        """The JSON document."""
        return ClientListDocument(1, self.releases)
