"""What a client and its brokers agree on."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import ClassVar

from kiplint.commands.probe.document import recorded
from kiplint.compat.negotiation.negotiate import Named, read_features
from kiplint.compat.negotiation.negotiate import negotiate as agree
from kiplint.compat.negotiation.releases import ReleaseMatrix, release_matrix
from kiplint.compat.negotiation.result import Negotiation
from kiplint.compat.roles import Mode
from kiplint.compat.tree import broken, load_rpcs
from kiplint.engine.configure import Path
from kiplint.engine.errors import UsageError
from kiplint.render.report import RunResult, Status
from kiplint.sources.disk import read


class NegotiationResult(RunResult, frozen=True):
    """What was agreed on. `status` is `findings` where an RPC of both sides cannot be used; `broken` as in Report."""

    negotiation: Negotiation

    command = "negotiate"
    unread = "not compared"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.negotiate.text",
        "json": "kiplint.commands.negotiate.result",
        "html": "kiplint.commands.negotiate.page",
    }

    def __str__(self) -> str:
        found = self.negotiation
        rows = (f"{row.name} {'-' if row.chosen is None else row.chosen} {row.status}" for row in found.rpcs)
        return "\n".join((f"{found.client} with {', '.join(found.brokers)}", *rows))


class MatrixResult(RunResult, frozen=True):
    """What every set makes of every other, as client and broker; `status` and `broken` as for a negotiation."""

    matrix: ReleaseMatrix

    command = "matrix"
    unread = "not compared"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.negotiate.matrix_text",
        "json": "kiplint.commands.negotiate.matrix_result",
        "html": "kiplint.commands.negotiate.matrix_page",
    }

    def __str__(self) -> str:
        return "\n".join((*(" ".join(row) for row in self.matrix.runs()), self.matrix.note))


def negotiate_all(
    *sets: Path, unstable: bool = False, mode: Mode | None = None, repository: Path | None = None
) -> MatrixResult:
    """Every set as the client of every other, and of itself. Raises UsageError and SourceError as `negotiate` does."""
    trees = [load_rpcs(name, repository) for name in sets]
    names = [tree.name for tree in trees]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{name} is given twice")
    found = release_matrix([(tree.name, tree.main) for tree in trees], unstable=unstable, mode=mode)
    unread = broken(*trees)
    return MatrixResult(found, status="error" if unread else "findings" if found.trouble else "ok", broken=unread)


def negotiate(
    client: Path,
    *brokers: Path,
    feature: Path | None = None,
    unstable: bool = False,
    mode: Mode | None = None,
    sasl: bool = False,
    repository: Path | None = None,
) -> NegotiationResult:
    """The ApiVersions exchange with each broker, and for each RPC the versions and headers that come of it.

    A broker is a schema set, or a file with what `kiplint probe` said of brokers. `feature` is a file that says which
    RPCs the features of a client need. With `unstable` the brokers offer unstable versions too. `mode` is what they run
    in, by default KRaft where they can; over `sasl` the client begins with version 0 of ApiVersions. Raises UsageError
    for mistakes in the arguments and SourceError for what cannot be opened.
    """
    if not brokers:
        raise UsageError("negotiate takes a client and at least one broker")
    features = read_features(os.fspath(feature), read(os.fspath(feature))) if feature else {}
    trees = [load_rpcs(client, repository)]
    one, others, notes = (trees[0].name, trees[0].main), list[Named](), list[str]()
    for name in [os.fspath(one) for one in brokers]:
        answers = recorded(name)
        if answers:
            others += answers.sets(one[1])
            notes += [f"warning: {address} is left out: {why}" for address, why in answers.failed.items()]
        else:
            trees.append(load_rpcs(name, repository))
            others.append((trees[-1].name, trees[-1].main))
    found = agree(one, others, features, unstable=unstable, mode=mode, sasl=sasl)
    unread = broken(*trees)
    status: Status = "error" if unread or notes else "findings" if found.in_trouble else "ok"
    return NegotiationResult(found, status=status, broken=unread, notes=tuple(notes))
