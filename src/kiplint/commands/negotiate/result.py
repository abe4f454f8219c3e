"""The results of `kiplint negotiate`: of a client with its brokers, and of a matrix of releases; and their JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Annotated, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from kiplint.compat.negotiation.releases import ReleaseMatrix
from kiplint.compat.negotiation.result import Negotiation
from kiplint.render.report import RunResult


class NegotiationResult(RunResult, frozen=True):
    """A negotiation. `status` is `findings` where an RPC of both sides cannot be used."""

    negotiation: Negotiation
    """The exchanges, the RPCs and the features."""

    command = "negotiate"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.negotiate.text:write",
        "html": "kiplint.commands.negotiate.page:write",
    }
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


DOCUMENTS: Final[Mapping[str, type]] = {"negotiate": Negotiation, "matrix": MatrixDocument}


class MatrixResult(RunResult, frozen=True):
    """Every set as the client of every set. `status` is `findings` where an RPC of both sides cannot be used."""

    matrix: ReleaseMatrix
    """The releases, and each pair of them."""

    command = "matrix"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.negotiate.text:write_matrix",
        "html": "kiplint.commands.negotiate.page:write_matrix",
    }
    unread = "not compared"

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
