"""The matrix: which releases work together as client and broker, and what one pair makes of each RPC."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from kiplint.compat.negotiation.result import TROUBLE
from kiplint.compat.roles import is_between_nodes
from kiplint.engine.errors import UsageError
from kiplint.pipeline.grid import Answer, Grid, ranged, shown
from kiplint.pipeline.reader import Reader, Row, equals
from kiplint.pipeline.tables.matrix import Matrix
from kiplint.pipeline.tables.sets import Sets
from kiplint.text.suggest import did_you_mean

NAMED = 4


def matrix(reader: Reader) -> Answer:
    """All pairs of releases: for each the RPCs by status; for people only those with RPCs in trouble."""
    order = _order(reader)
    rows = reader.rows(Matrix, ["client_source", "client", "broker_source", "broker", "api_key", "name", "status"])
    pairs: dict[tuple[str, str], Counter[str]] = {}
    trouble: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        pair = row["client"], row["broker"]
        pairs.setdefault(pair, Counter())[row["status"]] += 1
        if row["status"] in TROUBLE and not is_between_nodes(row["api_key"], row["name"]):
            trouble.setdefault(pair, set()).add(row["name"])
    ordered = sorted(pairs, key=lambda pair: (order[pair[0]], order[pair[1]]))
    document = {
        "version": 1,
        "releases": sorted(order, key=lambda name: order[name]),
        "pairs": [_pair(pair, pairs[pair], trouble.get(pair, set())) for pair in ordered],
    }
    note = f"{len(pairs) - len(trouble):,} of {len(pairs):,} pairs agree on every RPC of clients that both have."
    columns = ("client", "brokers", "RPCs", "without a common version, or refused")
    return Answer(document, [Grid("Pairs in trouble", columns, list(_runs(ordered, trouble)), note)])


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


def _pair(pair: tuple[str, str], statuses: Counter[str], trouble: set[str]) -> dict[str, Any]:
    return {
        "client": pair[0],
        "broker": pair[1],
        "statuses": dict(sorted(statuses.items())),
        "trouble": sorted(trouble),
    }


def _runs(ordered: list[tuple[str, str]], trouble: dict[tuple[str, str], set[str]]) -> Iterator[tuple[str, ...]]:
    """Brokers next to each other with the same trouble for one client, as one line."""

    def same(pair: tuple[str, str]) -> tuple[str, tuple[str, ...]]:
        return pair[0], tuple(sorted(trouble.get(pair, ())))

    for (client, names), some in groupby(ordered, key=same):
        if names:
            brokers = [broker for _, broker in some]
            span = brokers[0] if len(brokers) == 1 else f"{brokers[0]} to {brokers[-1]}"
            rest = f" and {len(names) - NAMED} more" if len(names) > NAMED + 1 else ""
            shown_names = ", ".join(names[: NAMED if rest else NAMED + 1])
            yield client, span, str(len(names)), shown_names + rest


def _rpc(row: Row) -> dict[str, Any]:
    left_out = {"client_source", "client", "broker_source", "broker"}
    return {name: value for name, value in row.items() if name not in left_out}
