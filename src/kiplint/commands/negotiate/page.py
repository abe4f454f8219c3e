"""Pages of HTML: a negotiation with the state of each RPC, and the grid of a matrix of releases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, TextIO

from kiplint.commands.negotiate.result import MatrixResult, NegotiationResult
from kiplint.commands.negotiate.text import steps
from kiplint.compat.negotiation.releases import ReleaseMatrix, RpcCell
from kiplint.compat.negotiation.result import TROUBLE, RpcRow
from kiplint.compat.roles import is_between_nodes
from kiplint.render.page import Tally, anchors, set_titles, write_page
from kiplint.text.show import printable

TITLES = {
    "no-common-version": "no common version",
    "header-differs": "headers differ",
    "refused": "refused",
    "not-everywhere": "not everywhere",
    "deprecated": "deprecated",
    "agreed": "agreed",
    "client-only": "only the client",
    "broker-only": "unknown to the client",
    "not-offered": "not offered",
    "between-nodes": "between brokers",
}
"""The states of RPCs in the order to show them, with their titles: the statuses, `deprecated` and `between-nodes`."""

MARKS: dict[str, str] = {"not-everywhere": "warning", "deprecated": "warning", "agreed": "good"}
MARKS |= dict.fromkeys(TROUBLE, "error")


def write(result: NegotiationResult, out: TextIO, *, color: bool) -> None:
    """Write the page of a negotiation, RPCs that cannot be used first."""
    negotiation = result.negotiation
    client, *brokers = set_titles(negotiation.client, *negotiation.brokers)
    states = [_state(rpc) for rpc in negotiation.rpcs]
    order = list(TITLES)
    names = anchors([rpc.name for rpc in negotiation.rpcs])
    lines = zip(negotiation.rpcs, names, states, strict=True)
    counts = Counter(states)
    tallies = [Tally(state, title, counts[state], MARKS.get(state, "")) for state, title in TITLES.items()]
    write_page(
        "commands/negotiate/page.html",
        out,
        client=client,
        brokers=brokers,
        summary=[Tally("", "RPCs", negotiation.summary.rpcs), *(tally for tally in tallies if tally.number)],
        connections=[
            (broker, _grouped(steps(exchange, ids, mode)))
            for broker, exchange, ids, mode in zip(
                brokers, negotiation.exchanges, negotiation.telemetry, negotiation.modes, strict=True
            )
        ],
        lines=sorted(lines, key=lambda line: (order.index(line[2]), line[0].api_key)),
        states=tallies,
        titles=TITLES,
        marks=MARKS,
        features=negotiation.features,
        losses=negotiation.losses,
        broken=result.broken,
    )


def _state(rpc: RpcRow) -> str:
    if rpc.between_nodes:
        return "between-nodes"
    return "deprecated" if rpc.deprecated and rpc.status not in TROUBLE else rpc.status


def _grouped(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, list[str]]]:
    """The texts by label; a text with an empty label belongs to the label before it."""
    groups: list[tuple[str, list[str]]] = []
    for label, text in pairs:
        if label or not groups:
            groups.append((label, []))
        groups[-1][1].append(text)
    return groups


STATUSES = {
    "agreed": "Can be used",
    "no-common-version": "No version in common",
    "header-differs": "Headers differ: neither can read the other",
    "refused": "Refused with INVALID_REQUEST",
    "client-only": "Only the client has it",
    "broker-only": "Unknown to the client",
    "not-offered": "Not offered to clients: other listeners, or unstable",
}
CODES = {status: "ABCDEFGH"[index] for index, status in enumerate(STATUSES)}
"""One letter for each status, which the page's script reads."""

LEVELS = 5
"""How many tints there are from the fewest RPCs to the most."""

Square = tuple[int, int, bool]
"""A pair in the grid: the number of its usable RPCs, its tint, and whether other RPCs are in trouble."""

RpcKey = tuple[int, str]
"""The API key and the name of an RPC."""


def write_matrix(result: MatrixResult, out: TextIO, *, color: bool) -> None:
    """Write the page of a matrix."""
    matrix = result.matrix
    names = [release.name for release in matrix.releases]
    titles = set_titles(*names)
    agreed = {pair: sum(cell.status == "agreed" for cell in cells) for pair, cells in matrix.pairs.items()}
    least, most = min(agreed.values(), default=0), max(agreed.values(), default=0)

    def square(client: str, broker: str) -> Square | None:
        if not matrix.has(client, broker):
            return None
        number = agreed[client, broker]
        level = (number - least) * (LEVELS - 1) // max(1, most - least)
        return number, level, (client, broker) in matrix.trouble

    write_page(
        "commands/negotiate/matrix.html",
        out,
        scripts=("commands/negotiate/matrix.js",),
        data=_script_data(matrix),
        releases=titles,
        rows=[
            (title, [square(client, broker) for broker in names]) for title, client in zip(titles, names, strict=True)
        ],
        note=matrix.note,
        trouble=len(matrix.trouble),
        pairs=len(matrix.pairs),
        tallies=[
            Tally("releases", "releases", len(names)),
            Tally("pairs", "pairs", len(matrix.pairs)),
            Tally("trouble", "in trouble", len(matrix.trouble), "warning"),
        ],
        rpcs=[(str(index), f"{name} ({key})") for index, (key, name) in enumerate(_rpc_keys(matrix))],
        broken=result.broken,
    )


def _rpc_keys(matrix: ReleaseMatrix) -> list[RpcKey]:
    """Every RPC under every name that it has, by API key."""
    return sorted({(cell.api_key, cell.name) for cells in set(matrix.pairs.values()) for cell in cells})


def _script_data(matrix: ReleaseMatrix) -> dict[str, Any]:
    """The data of the page's script; pairs that are alike share a row."""
    rpcs = _rpc_keys(matrix)
    columns = {rpc: column for column, rpc in enumerate(rpcs)}
    rows: dict[tuple[RpcCell, ...], int] = {}
    names = [release.name for release in matrix.releases]
    pairs = [
        rows.setdefault(matrix.pairs[client, broker], len(rows)) if matrix.has(client, broker) else -1
        for client in names
        for broker in names
    ]
    return {
        "releases": set_titles(*names),
        "rpcs": [[key, printable(name), is_between_nodes(key, name)] for key, name in rpcs],
        "codes": {code: [STATUSES[status], status, status in TROUBLE] for status, code in CODES.items()},
        "rows": [_row(cells, columns) for cells in rows],
        "pairs": pairs,
        "client": [[release.client.get(key, "") for key, _ in rpcs] for release in matrix.releases],
        "broker": [[release.broker.get(key, "") for key, _ in rpcs] for release in matrix.releases],
    }


def _row(cells: Iterable[RpcCell], columns: dict[RpcKey, int]) -> str:
    """The RPCs of a pair, separated by commas: the letter of the status and the version; empty where neither has it."""
    parts = [""] * len(columns)
    for cell in cells:
        version = "" if cell.chosen is None else str(cell.chosen)
        parts[columns[cell.api_key, cell.name]] = CODES[cell.status] + version
    return ",".join(parts)
