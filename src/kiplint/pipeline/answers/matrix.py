"""The matrix: which releases work together as client and broker, and what one pair makes of each RPC.

A release is a source's: two sources may have tags of one name, which are then called SOURCE:TAG.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final, NamedTuple

from kiplint.compat.negotiation.releases import ReleaseMatrix, RpcCell
from kiplint.compat.negotiation.releases import ReleaseOffers as Side
from kiplint.compat.negotiation.result import TROUBLE
from kiplint.compat.roles import is_between_nodes
from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers.reader import Answer, Grid, Reader, Row, ranged, shown
from kiplint.pipeline.tables import Matrix, Sets
from kiplint.text.words import did_you_mean

NAMED: Final = 4
_PAIR: Final = "client_source, client, broker_source, broker"
_STATUSES: Final = f"SELECT {_PAIR}, status, count(*) AS rpcs FROM matrix GROUP BY ALL"
_IN_TROUBLE: Final = f"""
SELECT {_PAIR}, list(DISTINCT name ORDER BY name) AS names FROM matrix
WHERE list_contains($1, status) AND NOT list_contains($2, concat(api_key, ' ', name)) GROUP BY ALL
"""
_CELLS: Final = """
SELECT * EXCLUDE (client_source, client, broker_source, broker) FROM matrix
WHERE client_source = $1 AND client = $2 AND broker_source = $3 AND broker = $4 ORDER BY api_key, name
"""


class Release(NamedTuple):
    """A release of a source."""

    source: str
    name: str


Pair = tuple[Release, Release]


def matrix(reader: Reader) -> Answer:
    """All pairs of releases: for each the RPCs by status; for people only those with RPCs in trouble."""
    reader.require(Matrix, Sets)
    called = _names(reader)
    order = {release: at for at, release in enumerate(called)}
    pairs: dict[Pair, Counter[str]] = {}
    for row in reader.duck.rows(_STATUSES):
        pairs.setdefault(_pair_of(row), Counter())[row["status"]] += row["rpcs"]
    cells = reader.duck.rows(_IN_TROUBLE, [sorted(TROUBLE), between_nodes(reader)])
    trouble = {_pair_of(row): tuple(row["names"]) for row in cells}
    ordered = sorted(pairs, key=lambda pair: (order[pair[0]], order[pair[1]]))
    document = {
        "version": 1,
        "releases": [release.name for release in called],
        "pairs": [_status_row(pair, pairs[pair], trouble.get(pair, ())) for pair in ordered],
    }
    note = f"{len(pairs) - len(trouble):,} of {len(pairs):,} pairs agree on every RPC of clients that both have."
    columns = ("client", "brokers", "RPCs", "without a common version, or refused")
    return Answer(document, [Grid("Pairs in trouble", columns, list(_runs(ordered, trouble, called)), note)])


def pair_matrix(reader: Reader, client: str, broker: str) -> Answer:
    """What one pair makes of each RPC; raises UsageError for a release that is not there, or in several sources."""
    reader.require(Matrix, Sets)
    called = _names(reader)
    pair = _release(called, client), _release(called, broker)
    rows = reader.duck.rows(_CELLS, [word for release in pair for word in release])
    sources = {"client_source": pair[0].source, "broker_source": pair[1].source}
    document = {"version": 1, "client": pair[0].name, "broker": pair[1].name, **sources, "rpcs": rows}
    columns = ("key", "RPC", "versions", "chosen", "header", "status")
    title = f"{called[pair[0]]} as client, {called[pair[1]]} as broker"
    return Answer(document, [Grid(title, columns, [_row(row) for row in rows])])


def release_matrix(reader: Reader, *, sides: bool = False) -> ReleaseMatrix:
    """The matrix that the lake holds; with `sides` also which versions each release has as client and as broker."""
    reader.require(Matrix, Sets)
    called = _names(reader)
    cells: dict[tuple[str, str], list[RpcCell]] = {}
    known: dict[RpcCell, RpcCell] = {}
    for row in reader.duck.rows(f"SELECT {_PAIR}, api_key, name, status, chosen FROM matrix"):
        cell = RpcCell(row["api_key"], row["name"], row["status"], row["chosen"])
        client, broker = _pair_of(row)
        cells.setdefault((called[client], called[broker]), []).append(known.setdefault(cell, cell))
    offers = _offers(reader) if sides else {}
    releases = (Side(name, *offers.get(release, ({}, {}))) for release, name in called.items())
    return ReleaseMatrix(tuple(releases), {pair: tuple(sorted(some)) for pair, some in cells.items()})


def _offers(reader: Reader) -> dict[Release, tuple[dict[int, str], dict[int, str]]]:
    """By release, the versions of each RPC that it uses as a client, and those that it offers as a broker."""
    offers: dict[Release, tuple[dict[int, str], dict[int, str]]] = {}
    sql = "SELECT source, release, api_key, lowest, highest, offered FROM rpcs WHERE release IS NOT NULL"
    for row in reader.duck.rows(sql):
        ours, theirs = offers.setdefault(Release(row["source"], row["release"]), ({}, {}))
        ours[row["api_key"]] = ranged(row["lowest"], row["highest"])
        if row["offered"] is not None:
            theirs[row["api_key"]] = ranged(row["lowest"], row["offered"])
    return offers


def between_nodes(reader: Reader) -> list[str]:
    """The RPCs of the matrix that brokers send each other, each as its key and name."""
    rpcs = reader.duck.rows("SELECT DISTINCT api_key, name FROM matrix")
    return [f"{row['api_key']} {row['name']}" for row in rpcs if is_between_nodes(row["api_key"], row["name"])]


def _names(reader: Reader) -> dict[Release, str]:
    """The releases in the order of their lines, with what they are called."""
    rows = reader.duck.rows("SELECT source, release FROM releases ORDER BY source, lineage, position")
    releases = list(dict.fromkeys(Release(row["source"], row["release"]) for row in rows))
    count = Counter(release.name for release in releases)
    return {
        release: release.name if count[release.name] == 1 else f"{release.source}:{release.name}"
        for release in releases
    }


def _release(called: dict[Release, str], name: str) -> Release:
    matching = [
        release
        for release, known in called.items()
        if name in (known, release.name, f"{release.source}:{release.name}")
    ]
    if not matching:
        raise UsageError(f"there is no release {name} in the lake{did_you_mean(name, called.values(), numbered=False)}")
    if len(matching) > 1:
        choices = " or ".join(called[release] for release in matching)
        raise UsageError(f"several sources have a release {name}: say {choices}")
    return matching[0]


def _pair_of(row: Row) -> Pair:
    return Release(row["client_source"], row["client"]), Release(row["broker_source"], row["broker"])


def _status_row(pair: Pair, statuses: Counter[str], trouble: Iterable[str]) -> dict[str, Any]:
    return {
        "client": pair[0].name,
        "broker": pair[1].name,
        "client_source": pair[0].source,
        "broker_source": pair[1].source,
        "statuses": dict(sorted(statuses.items())),
        "trouble": list(trouble),
    }


def _runs(
    ordered: list[Pair], trouble: dict[Pair, tuple[str, ...]], called: dict[Release, str]
) -> Iterator[tuple[str, ...]]:
    """Brokers next to each other with the same trouble for one client, as one line."""
    for (client, names), some in groupby(ordered, key=lambda pair: (pair[0], trouble.get(pair, ()))):
        if names:
            brokers = [called[broker] for _, broker in some]
            span = brokers[0] if len(brokers) == 1 else f"{brokers[0]} to {brokers[-1]}"
            rest = f" and {len(names) - NAMED} more" if len(names) > NAMED + 1 else ""
            shown_names = ", ".join(names[: NAMED if rest else NAMED + 1])
            yield called[client], span, str(len(names)), shown_names + rest


def _row(row: Row) -> tuple[str, ...]:
    theirs = row.get("broker_name")
    return (
        str(row["api_key"]),
        row["name"] + (f" (the broker's is {theirs})" if theirs and theirs != row["name"] else ""),
        ranged(row["lowest"], row["highest"]),
        shown(row["chosen"]),
        "" if row["request_header"] is None else f"{row['request_header']}/{row['response_header']}",
        row["status"] + (", deprecated" if row["deprecated"] else ""),
    )
