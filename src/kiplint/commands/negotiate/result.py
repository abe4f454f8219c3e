"""The result of `kiplint negotiate`: a client with its brokers; and its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kiplint.commands.negotiate.clients.result import DOCUMENTS as CLIENT_DOCUMENTS
from kiplint.commands.negotiate.matrix.result import DOCUMENTS as MATRIX_DOCUMENTS
from kiplint.compat.negotiation.result import Negotiation
from kiplint.render.report import RunResult, written_by


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


DOCUMENTS: Final[Mapping[str, type]] = {"negotiate": Negotiation, **MATRIX_DOCUMENTS, **CLIENT_DOCUMENTS}
