"""The result of `kiplint negotiate`: a client with its brokers; and its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kiplint.commands.negotiate.clients.result import DOCUMENTS as CLIENT_DOCUMENTS
from kiplint.commands.negotiate.matrix.result import DOCUMENTS as MATRIX_DOCUMENTS
from kiplint.compat.negotiation.result import TROUBLE, Negotiation
from kiplint.render.report import RunResult, Verdict, set_titles, written_by
from kiplint.text.words import join_words, plural


class NegotiationResult(RunResult, frozen=True):
    """A negotiation. `status` is `findings` where an RPC of both sides cannot be used."""

    negotiation: Negotiation
    """The exchanges, the RPCs and the features."""

    command = "negotiate"
    renderers = written_by("negotiate", "text")
    unread = "not compared"

    @property
    def verdict(self) -> Verdict:
        """`2.8.0 clients work with 4.1.0 brokers: 52 of 52 RPCs that both use.`, and the RPCs that do not, with why."""
        client, *brokers = set_titles(self.negotiation.client, *self.negotiation.brokers)
        rows = [row for row in self.negotiation.rpcs if not row.between_nodes and row.status in (*TROUBLE, "agreed")]
        bad = [row for row in rows if row.in_trouble]
        verb = "work" if not bad else "do not work" if len(bad) == len(rows) else "work in part"
        return Verdict.of(
            f"{client} clients {verb} with {join_words(brokers)} brokers: "
            f"{len(rows) - len(bad)} of {plural(len(rows), 'RPC')} that both use.",
            [f"{row.name}: {row.message or row.unserved}" for row in bad],
        )

    @property
    def document(self) -> Negotiation:
        """The JSON document."""
        return self.negotiation

    def __str__(self) -> str:
        negotiation = self.negotiation
        rows = (f"{row.name} {'-' if row.chosen is None else row.chosen} {row.status}" for row in negotiation.rpcs)
        return "\n".join((f"{negotiation.client} with {', '.join(negotiation.brokers)}", *rows))


DOCUMENTS: Final[Mapping[str, type]] = {"negotiate": Negotiation, **MATRIX_DOCUMENTS, **CLIENT_DOCUMENTS}
