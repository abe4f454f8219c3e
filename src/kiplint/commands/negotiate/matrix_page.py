"""A matrix of releases as a page of HTML: for each pair how many RPCs they can use, and on a click which and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, NamedTuple, TextIO

from kiplint.commands.negotiate.run import MatrixResult
from kiplint.compat.negotiation.releases import ReleaseMatrix, RpcCell
from kiplint.compat.negotiation.result import TROUBLE
from kiplint.compat.roles import is_between_nodes
from kiplint.render.page import Tally, set_title, write_page
from kiplint.text.show import printable

STATUSES = {
    "agreed": "Can be used",
    "no-common-version": "No version in common",
    "header-differs": "Headers differ: neither can read the other",
    "refused": "Refused with INVALID_REQUEST",
    "client-only": "Only the client has it",
    "broker-only": "Unknown to the client",
    "not-offered": "Not offered to clients: other listeners, or unstable",
}
CODES = {status: "ABCDEFGH"[at] for at, status in enumerate(STATUSES)}
LEVELS = 5
"""How many tints there are from the fewest RPCs to the most."""

Rpc = tuple[int, str]


class Square(NamedTuple):
    """A pair in the grid: its RPCs that can be used, how dark it is, and whether others are in trouble."""

    number: int
    level: int
    trouble: bool


def write(result: MatrixResult, out: TextIO, *, color: bool) -> None:
    """Write the page."""
    matrix = result.matrix
    names = [one.name for one in matrix.releases]
    agreed = {pair: _agreed(cells) for pair, cells in matrix.pairs.items()}
    least, most = min(agreed.values(), default=0), max(agreed.values(), default=0)

    def square(client: str, broker: str) -> Square | None:
        if not matrix.has(client, broker):
            return None
        number = agreed[client, broker]
        level = (number - least) * (LEVELS - 1) // max(1, most - least)
        return Square(number, level, (client, broker) in matrix.trouble)

    write_page(
        "commands/negotiate/matrix_page.html",
        out,
        scripts=("commands/negotiate/matrix_page.js",),
        data=_data(matrix),
        releases=list(map(set_title, names)),
        rows=[(set_title(client), [square(client, broker) for broker in names]) for client in names],
        note=matrix.note,
        trouble=len(matrix.trouble),
        pairs=len(matrix.pairs),
        tallies=[
            Tally("releases", "releases", len(names)),
            Tally("pairs", "pairs", len(matrix.pairs)),
            Tally("trouble", "in trouble", len(matrix.trouble), "warning"),
        ],
        rpcs=[(str(at), f"{name} ({key})") for at, (key, name) in enumerate(_rpcs(matrix))],
        broken=result.broken,
    )


def _agreed(cells: Iterable[RpcCell]) -> int:
    return Counter(one.status for one in cells)["agreed"]


def _rpcs(matrix: ReleaseMatrix) -> list[Rpc]:
    """Every RPC under every name that it has, by API key."""
    return sorted({(one.api_key, one.name) for cells in set(matrix.pairs.values()) for one in cells})


def _data(matrix: ReleaseMatrix) -> dict[str, Any]:
    """What the script reads. Of each distinct row: a sign for the state of each RPC, and the version that is used."""
    rpcs = _rpcs(matrix)
    places = {rpc: at for at, rpc in enumerate(rpcs)}
    rows: dict[tuple[RpcCell, ...], int] = {}
    names = [one.name for one in matrix.releases]
    pairs = [
        rows.setdefault(matrix.pairs[client, broker], len(rows)) if matrix.has(client, broker) else -1
        for client in names
        for broker in names
    ]
    return {
        "releases": list(map(set_title, names)),
        "rpcs": [[key, printable(name), is_between_nodes(key, name)] for key, name in rpcs],
        "codes": {code: [STATUSES[status], status, status in TROUBLE] for status, code in CODES.items()},
        "rows": [_row(cells, places) for cells in rows],
        "pairs": pairs,
        "client": [[one.client.get(key, "") for key, _ in rpcs] for one in matrix.releases],
        "broker": [[one.broker.get(key, "") for key, _ in rpcs] for one in matrix.releases],
    }


def _row(cells: Iterable[RpcCell], places: dict[Rpc, int]) -> str:
    """The RPCs of a pair in one text: a sign and a version each, nothing for those that neither has."""
    parts = [""] * len(places)
    for one in cells:
        parts[places[one.api_key, one.name]] = CODES[one.status] + ("" if one.chosen is None else str(one.chosen))
    return ",".join(parts)
