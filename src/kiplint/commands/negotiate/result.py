"""The results of `kiplint negotiate`: a client with its brokers, a matrix, released clients; and their JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from kiplint.compat.negotiation.clients import ClientRelease, ClientRow
from kiplint.compat.negotiation.releases import ReleaseMatrix, release_matrix
from kiplint.compat.negotiation.result import Negotiation
from kiplint.compat.roles import Mode
from kiplint.model.schemas import SchemaSet
from kiplint.render.report import RunResult, Status, written_by


class NegotiationResult(RunResult, frozen=True):
    """A negotiation. `status` is `findings` where an RPC of both sides cannot be used."""

    negotiation: Negotiation
    """The exchanges, the RPCs and the features."""

    command = "negotiate"
    renderers = written_by("negotiate", "text", "html")
    unread = "not compared"

    @property
    def document(self) -> Negotiation:
        """The JSON document."""
        return self.negotiation

    def __str__(self) -> str:
        negotiation = self.negotiation
        rows = (f"{row.name} {'-' if row.chosen is None else row.chosen} {row.status}" for row in negotiation.rpcs)
        return "\n".join((f"{negotiation.client} with {', '.join(negotiation.brokers)}", *rows))


class MatrixPair(msgspec.Struct, frozen=True):
    """A release as the client of another, or of itself."""

    client: str
    broker: str
    statuses: Annotated[dict[str, int], Meta(description="How many RPCs there are of each status.")]
    trouble: Annotated[list[str], Meta(description="The RPCs of clients that both have and cannot use.")]


class MatrixDocument(msgspec.Struct, frozen=True):
    """What `kiplint negotiate --matrix --output-format json` writes."""

    version: Literal[1]
    releases: list[str]
    pairs: list[MatrixPair]


class ClientsSummary(msgspec.Struct, frozen=True):
    """The number of releases by status."""

    releases: int
    works: int
    limited: int
    refused: int


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


DOCUMENTS: Final[Mapping[str, type]] = {
    "negotiate": Negotiation,
    "matrix": MatrixDocument,
    "clients": ClientsDocument,
    "client-list": ClientListDocument,
}


class ClientsResult(RunResult, frozen=True):
    """What released clients can do with brokers. `status` is `findings` where a release loses an RPC."""

    brokers: tuple[str, ...]
    """The brokers."""
    clients: tuple[ClientRow, ...]
    """Each client with its releases."""

    command = "clients"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.negotiate.text:write_clients"}
    listing = "clients"
    unread = "not compared"

    @property
    def document(self) -> ClientsDocument:
        """The JSON document."""
        counts = Counter(use.status for row in self.clients for use in row.releases)
        summary = ClientsSummary(counts.total(), counts["works"], counts["limited"], counts["refused"])
        return ClientsDocument(1, self.brokers, self.clients, summary)


class ClientListResult(RunResult, frozen=True):
    """The released clients whose versions are known."""

    releases: tuple[ClientRelease, ...]
    """The releases, by client and version."""

    command = "client-list"
    renderers: ClassVar[Mapping[str, str]] = {"text": "kiplint.commands.negotiate.text:write_client_list"}
    listing = "releases"

    @property
    def document(self) -> ClientListDocument:
        """The JSON document."""
        return ClientListDocument(1, self.releases)


class MatrixResult(RunResult, frozen=True):
    """Every set as the client of every set. `status` is `findings` where an RPC of both sides cannot be used."""

    matrix: ReleaseMatrix
    """The releases, and each pair of them."""
    other: ReleaseMatrix | None = None
    """The same with the brokers that can run in two modes in the other one; None where there are none."""

    command = "matrix"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.negotiate.text:write_matrix",
        "html": "kiplint.commands.negotiate.page:write_matrix",
    }
    unread = "not compared"

    @classmethod
    def of(
        cls,
        sets: Sequence[tuple[str, SchemaSet]],
        unread: tuple[str, ...] = (),
        *,
        unstable: bool = False,
        mode: Mode | None = None,
    ) -> MatrixResult:
        """The matrix of sets, each a name and a schema set. Raises UsageError for a mode that no set has."""
        matrix = release_matrix(sets, unstable=unstable, mode=mode)
        both = not mode and any(len(release.modes) > 1 for release in matrix.releases)
        other = release_matrix(sets, unstable=unstable, mode="zookeeper") if both else None
        status: Status = "error" if unread else "findings" if matrix.trouble else "ok"
        return cls(matrix, other, status=status, broken=unread)

    @property
    def document(self) -> MatrixDocument:
        """The JSON document."""
        matrix = self.matrix
        names = [release.name for release in matrix.releases]
        pairs = [(client, broker) for client in names for broker in names if matrix.has(client, broker)]
        return MatrixDocument(
            version=1,
            releases=names,
            pairs=[
                MatrixPair(
                    client=pair[0],
                    broker=pair[1],
                    statuses=dict(sorted(Counter(cell.status for cell in matrix.pairs[pair]).items())),
                    trouble=matrix.trouble.get(pair, []),
                )
                for pair in pairs
            ],
        )

    def __str__(self) -> str:
        return "\n".join((*(" ".join(row) for row in self.matrix.runs()), self.matrix.note))
