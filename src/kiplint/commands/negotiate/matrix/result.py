"""A matrix: what sets agree on, each as the client of each; and its JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Final, Literal

import msgspec
from msgspec import Meta

from kiplint.compat.negotiation.releases import ReleaseMatrix, release_matrix
from kiplint.compat.roles import Mode
from kiplint.model.schemas import SchemaSet
from kiplint.render.report import RunResult, Status


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


DOCUMENTS: Final = {"matrix": MatrixDocument}


class MatrixResult(RunResult, frozen=True):
    """Every set as the client of every set. `status` is `findings` where an RPC of both sides cannot be used."""

    matrix: ReleaseMatrix
    """The releases, and each pair of them."""
    other: ReleaseMatrix | None = None
    """The same with the brokers that can run in two modes in the other one; None where there are none."""

    command = "matrix"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.negotiate.matrix.text:write",
        "html": "kiplint.commands.negotiate.matrix.page:write",
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
        both = not mode and any(len(release.modes) > 1 and release.mode == "kraft" for release in matrix.releases)
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
