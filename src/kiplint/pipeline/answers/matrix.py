"""The matrix: which releases work together as client and broker, and what one pair makes of each RPC."""

from __future__ import annotations

from typing import Any

from kiplint.compat.negotiation.releases import Cell, Release, ReleaseMatrix
from kiplint.engine.errors import UsageError
from kiplint.pipeline.grid import Answer, Grid, ranged, shown
from kiplint.pipeline.reader import Reader, Row, equals
from kiplint.pipeline.tables.matrix import Matrix
from kiplint.pipeline.tables.offers import Offers
from kiplint.pipeline.tables.sets import Sets
from kiplint.text.suggest import did_you_mean


def matrix(reader: Reader) -> Answer:
    """All pairs of releases: for each the RPCs by status; for people only those with RPCs in trouble."""
    found = release_matrix(reader)
    columns = ("client", "brokers", "RPCs", "without a common version, or refused")
    return Answer(found.document(), [Grid("Pairs in trouble", columns, list(found.runs()), found.note)])


def release_matrix(reader: Reader, *, sides: bool = False) -> ReleaseMatrix:
    """The matrix that the lake holds; with `sides` also which versions each release has as client and as broker."""
    rows = reader.rows(Matrix, ["client", "broker", "api_key", "name", "status", "chosen"])
    cells: dict[tuple[str, str], list[Cell]] = {}
    known: dict[Cell, Cell] = {}
    for row in rows:
        cell = Cell(row["api_key"], row["name"], row["status"], row["chosen"])
        cells.setdefault((row["client"], row["broker"]), []).append(known.setdefault(cell, cell))
    offers = _offers(reader) if sides else {}
    order = _order(reader)
    releases = (Release(name, *offers.get(name, ({}, {}))) for name in sorted(order, key=lambda name: order[name]))
    return ReleaseMatrix(tuple(releases), {pair: tuple(sorted(some)) for pair, some in cells.items()})


def _offers(reader: Reader) -> dict[str, tuple[dict[int, str], dict[int, str]]]:
    """By release, the versions of each RPC that it uses as a client, and those that it offers as a broker."""
    roots = {row["release"]: row["root"] for row in reader.rows(Sets, ["release", "root"]) if row["release"]}
    ours: dict[str, dict[int, str]] = {}
    theirs: dict[str, dict[int, str]] = {}
    for row in reader.rows(Offers, ["root", "api_key", "lowest", "highest", "offered"]):
        ours.setdefault(row["root"], {})[row["api_key"]] = ranged(row["lowest"], row["highest"])
        if row["offered"] is not None:
            theirs.setdefault(row["root"], {})[row["api_key"]] = ranged(row["lowest"], row["offered"])
    return {name: (ours.get(root, {}), theirs.get(root, {})) for name, root in roots.items()}


def pair_matrix(reader: Reader, client: str, broker: str) -> Answer:
    """What one pair makes of each RPC; raises UsageError for a release that is not there."""
    order = _order(reader)
    for name in (client, broker):
        if name not in order:
            raise UsageError(f"there is no release {name} in the lake{did_you_mean(name, order)}")
    rows = sorted(reader.rows(Matrix, where=equals(client=client, broker=broker)), key=lambda row: row["api_key"])
    document = {"version": 1, "client": client, "broker": broker, "rpcs": [_rpc(row) for row in rows]}
    columns = ("key", "RPC", "versions", "chosen", "header", "status")
    told = [
        (
            str(row["api_key"]),
            row["name"],
            ranged(row["lowest"], row["highest"]),
            shown(row["chosen"]),
            "" if row["request_header"] is None else f"{row['request_header']}/{row['response_header']}",
            row["status"] + (", deprecated" if row["deprecated"] else ""),
        )
        for row in rows
    ]
    return Answer(document, [Grid(f"{client} as client, {broker} as broker", columns, told)])


def _order(reader: Reader) -> dict[str, int]:
    """The releases in the order of their lines."""
    released = [row for row in reader.rows(Sets, ["source", "lineage", "position", "release"]) if row["release"]]
    released.sort(key=lambda row: (row["source"], row["lineage"], row["position"]))
    return {row["release"]: at for at, row in enumerate(released)}


def _rpc(row: Row) -> dict[str, Any]:
    left_out = {"client_source", "client", "broker_source", "broker"}
    return {name: value for name, value in row.items() if name not in left_out}
