"""Negotiation: what a client and its brokers agree on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from kiplint.compat.negotiation.broker_versions import offered_set, read_broker_versions
from kiplint.compat.negotiation.negotiate import negotiate as agree
from kiplint.compat.negotiation.result import TROUBLE, Negotiation
from kiplint.compat.tree import broken, load_rpcs
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.limits import TEXT_BYTES
from kiplint.render.report import RunResult, Status, Verdict, set_titles, written_by
from kiplint.sources.disk import STDIN, read_input
from kiplint.sources.open import ARCHIVES
from kiplint.text.words import join_words, plural


class NegotiationResult(RunResult, frozen=True):
    """A negotiation. `status` is `findings` where an RPC of both sides cannot be used."""

    negotiation: Negotiation
    """The exchanges and the RPCs."""

    command = "negotiate"
    renderers = written_by("negotiate", "text")
    unread = "not compared"

    @property
    def verdict(self) -> Verdict:
        """`2.8.0 clients work with 4.1.0 brokers: 52 of 52 RPCs that both use.`, and the RPCs that do not, with why."""
        client, *brokers = set_titles(self.negotiation.client, *self.negotiation.brokers)
        rows = [
            row
            for row in self.negotiation.rpcs
            if row.in_trouble or (not row.between_nodes and row.status in (*TROUBLE, "agreed"))
        ]
        bad = [row for row in rows if row.in_trouble]
        verb = "work" if not bad else "do not work" if len(bad) == len(rows) else "work in part"
        return Verdict.of(
            f"{client} clients {verb} with {join_words(brokers)} brokers: "
            f"{len(rows) - len(bad)} of {plural(len(rows), 'RPC')} that both use.",
            [f"{row.name}: {row.message}" for row in bad],
        )

    @property
    def document(self) -> Negotiation:
        """The JSON document."""
        return self.negotiation

    def __str__(self) -> str:
        negotiation = self.negotiation
        rows = (f"{row.name} {'-' if row.chosen is None else row.chosen} {row.status}" for row in negotiation.rpcs)
        return "\n".join((f"{negotiation.client} with {', '.join(negotiation.brokers)}", *rows))


DOCUMENTS: Final[Mapping[str, type]] = {"negotiate": Negotiation}


def negotiate(
    client: Path, *brokers: Path, unstable: bool = False, repository: Path | None = None
) -> NegotiationResult:
    """The ApiVersions exchange with each broker, and for each RPC the resulting versions and headers.

    A broker is a schema set, or a file with the output of `kafka-broker-api-versions.sh`, which may have several. With
    `unstable` the brokers offer unstable versions too. Raises UsageError for mistakes in the arguments and SourceError
    for what cannot be opened.
    """
    if not brokers:
        raise UsageError("negotiate takes a client and at least one broker")
    tree = load_rpcs(client, repository)
    trees, named_sets, notes = [tree], [], []
    for broker in brokers:
        name = os.fspath(broker)
        if name == STDIN or (os.path.isfile(name) and not name.lower().endswith((".json", *ARCHIVES))):
            text = read_input(name, TEXT_BYTES).decode(errors="replace")
            offers, errors = read_broker_versions("standard input" if name == STDIN else name, text)
            named_sets += [(address, offered_set(rows, tree.main)) for address, rows in offers.items()]
            notes += [f"warning: {address} is left out: {error}" for address, error in errors.items()]
        else:
            trees.append(load_rpcs(name, repository))
            named_sets.append((trees[-1].name, trees[-1].main))
    negotiation = agree((tree.name, tree.main), named_sets, unstable=unstable)
    unread = broken(*trees)
    status: Status = "error" if unread or notes else "findings" if negotiation.in_trouble else "ok"
    return NegotiationResult(negotiation, status=status, broken=unread, notes=tuple(notes))
