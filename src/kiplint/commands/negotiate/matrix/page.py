"""The page of a matrix: a grid of releases, and the RPCs of each pair."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TextIO

from kiplint.commands.negotiate.matrix.result import MatrixResult
from kiplint.commands.negotiate.matrix.text import COLUMNS
from kiplint.compat.negotiation.releases import ReleaseMatrix, ReleaseOffers, RpcCell
from kiplint.compat.negotiation.result import TROUBLE
from kiplint.compat.roles import TITLES as MODES
from kiplint.compat.roles import is_between_nodes
from kiplint.render.links import PagesBeside
from kiplint.render.page import Tally, set_titles, write_page
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
CODES = {status: "ABCDEFGH"[index] for index, status in enumerate(STATUSES)}
"""One letter for each status, which the page's script reads."""

LEVELS = 5
"""How many tints there are from the fewest RPCs to the most."""

Square = tuple[int, str]
"""A pair in the grid: the number of its usable RPCs, and its look: a tint, and `bad` if others are in trouble."""

RpcKey = tuple[int, str]
"""The API key and the name of an RPC."""


class AlikeReleases(NamedTuple):
    """Releases next to each other that are alike as clients and as brokers, and their title."""

    title: str
    names: list[str]


def write(result: MatrixResult, out: TextIO, *, color: bool) -> None:
    """Write the page of a matrix, with a row and a column for each group of releases that are alike."""
    matrix = result.matrix
    matrices = [matrix, *([result.other] if result.other else [])]
    groups = _groups(matrices)
    squares = [_squares(each, groups) for each in matrices]
    rpcs = sorted(
        {(cell.api_key, cell.name) for each in matrices for cells in {*each.pairs.values()} for cell in cells}
    )
    write_page(
        "commands/negotiate/matrix/page.html",
        out,
        scripts=("commands/negotiate/matrix/page.js",),
        data={
            "releases": [group.title for group in groups],
            "names": [" ".join(map(printable, group.names)) for group in groups],
            "sizes": [len(group.names) for group in groups],
            "rpcs": [[key, printable(name), is_between_nodes(key, name)] for key, name in rpcs],
            "codes": {code: [STATUSES[status], status, status in TROUBLE] for status, code in CODES.items()},
            "client": [[release.client.get(key, "") for key, _ in rpcs] for release in _firsts(matrix, groups)],
            "links": _negotiations(groups, PagesBeside(out)),
            "modes": [_mode(matrix, square, groups, rpcs) for matrix, square in zip(matrices, squares, strict=True)],
        },
        releases=[group.title for group in groups],
        rows=[(group.title, squares[0][at * len(groups) : (at + 1) * len(groups)]) for at, group in enumerate(groups)],
        note=matrix.note,
        switches=[("1", f"{MODES['zookeeper']} if possible")] if result.other else [],
        trouble=[Tally("trouble", "in trouble", len(matrix.trouble), "warning")],
        reasons=[(each.note, list(each.runs())) for each in matrices],
        columns=COLUMNS,
        pairs=len(matrix.pairs),
        rpcs=[(str(index), f"{name} ({key})") for index, (key, name) in enumerate(rpcs)],
        broken=result.broken,
    )


def _negotiations(groups: Sequence[AlikeReleases], beside: PagesBeside) -> dict[str, str]:
    """The pages of `negotiate` beside the matrix, by the titles of client and broker as addresses in it have them."""
    titles = {beside.place(name): group.title for group in groups for name in group.names}
    return {
        f"{titles[client]}/{titles[broker]}": address
        for address, (client, *brokers) in beside.pages("negotiate")
        for broker in brokers
        if client in titles and broker in titles
    }


def _groups(matrices: Sequence[ReleaseMatrix]) -> list[AlikeReleases]:
    names = [release.name for release in matrices[0].releases]

    def likeness(place: int) -> object:
        name = names[place]
        sides = [each.releases[place][1:] for each in matrices]
        return sides, [
            [(each.pairs.get((name, other)), each.pairs.get((other, name))) for other in names] for each in matrices
        ]

    groups: list[list[int]] = []
    for place in range(len(names)):
        if groups and likeness(groups[-1][0]) == likeness(place):
            groups[-1].append(place)
        else:
            groups.append([place])
    titles = set_titles(*names)
    return [
        AlikeReleases(
            titles[some[0]] if len(some) == 1 else f"{titles[some[0]]} to {titles[some[-1]]}",
            [names[at] for at in some],
        )
        for some in groups
    ]


def _firsts(matrix: ReleaseMatrix, groups: Sequence[AlikeReleases]) -> list[ReleaseOffers]:
    releases = {release.name: release for release in matrix.releases}
    return [releases[group.names[0]] for group in groups]


def _squares(matrix: ReleaseMatrix, groups: Sequence[AlikeReleases]) -> list[Square | None]:
    """The squares of a grid, row by row; None for pairs that are not known."""
    pairs = [(client.names[0], broker.names[0]) for client in groups for broker in groups]
    counts = {pair: sum(cell.status == "agreed" for cell in cells) for pair, cells in matrix.pairs.items()}
    least, most = min(counts.values(), default=0), max(counts.values(), default=0)
    return [
        (
            counts[pair],
            f"q{(counts[pair] - least) * (LEVELS - 1) // max(1, most - least)}{' bad' * (pair in matrix.trouble)}",
        )
        if pair in counts
        else None
        for pair in pairs
    ]


def _mode(
    matrix: ReleaseMatrix, squares: Sequence[Square | None], groups: Sequence[AlikeReleases], rpcs: Sequence[RpcKey]
) -> dict[str, Any]:
    """What the page's script reads of brokers in a mode; pairs that are alike share a row."""
    columns = {rpc: column for column, rpc in enumerate(rpcs)}
    rows: dict[tuple[RpcCell, ...], int] = {}
    pairs = [
        rows.setdefault(matrix.pairs[pair], len(rows)) if pair in matrix.pairs else -1
        for pair in ((client.names[0], broker.names[0]) for client in groups for broker in groups)
    ]
    return {
        "rows": [_row(cells, columns) for cells in rows],
        "pairs": pairs,
        "squares": squares,
        "note": printable(matrix.note),
        "broker": [[release.broker.get(key, "") for key, _ in rpcs] for release in _firsts(matrix, groups)],
    }


def _row(cells: Iterable[RpcCell], columns: dict[RpcKey, int]) -> str:
    """The RPCs of a pair, separated by commas: the letter of the status and the version; empty where neither has it."""
    parts = [""] * len(columns)
    for cell in cells:
        version = "" if cell.chosen is None else str(cell.chosen)
        parts[columns[cell.api_key, cell.name]] = CODES[cell.status] + version
    return ",".join(parts)
