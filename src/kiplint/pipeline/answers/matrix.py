"""The matrix: which releases work together as client and broker, and which version of each RPC a pair uses.

A release belongs to a source. If two sources have a tag with the same name, their releases are called SOURCE:TAG.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Final, NamedTuple

from kiplint.compat.negotiation.result import TROUBLE
from kiplint.compat.roles import is_between_nodes
from kiplint.engine.errors import UsageError
from kiplint.pipeline.answers.documents import CellRow, CellsDocument, PairsDocument, ReleasePair, Row, as_structs
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.tables import Matrix, Revisions
from kiplint.text.words import did_you_mean

_PAIR: Final = "client_source, client, broker_source, broker"
_OF_CONTENTS: Final = f"""
SELECT {_PAIR}, c.* EXCLUDE (client_root, broker_root) FROM release_pairs JOIN (
  SELECT client_root, broker_root, {{}} GROUP BY ALL
) c USING (client_root, broker_root)
"""
_STATUSES: Final = _OF_CONTENTS.format("status, count(*) AS rpcs FROM matrix")
_IN_TROUBLE: Final = _OF_CONTENTS.format(
    "list(DISTINCT name ORDER BY name) AS names FROM matrix "
    "WHERE list_contains($1, status) AND NOT list_contains($2, concat(api_key, ' ', name))"
)
_CELLS: Final = """
SELECT * EXCLUDE (client_source, client, broker_source, broker) FROM release_matrix
WHERE client_source = $1 AND client = $2 AND broker_source = $3 AND broker = $4 ORDER BY api_key, name
"""
_RELEASES: Final = "SELECT source, release FROM releases WHERE root {} (SELECT root FROM trees) ORDER BY ALL"
_DEFINED_RELEASES: Final = _RELEASES.format("IN").replace("ORDER BY ALL", "ORDER BY source, lineage, position")
_UNDEFINED: Final = _RELEASES.format("NOT IN")


class Release(NamedTuple):
    """A release of a source."""

    source: str
    name: str


Pair = tuple[Release, Release]


def matrix(reader: Reader) -> PairsDocument:
    """All pairs of releases that have definitions: for each the RPCs by status, and those in trouble."""
    reader.require(Matrix, Revisions)
    labels = _names(reader)
    order = {release: at for at, release in enumerate(labels)}
    pairs: dict[Pair, Mapping[str, int]] = {}
    for row in reader.duck.rows(_STATUSES):
        pairs[_pair_of(row)] = {**pairs.get(_pair_of(row), {}), row["status"]: row["rpcs"]}
    trouble_rows = reader.duck.rows(_IN_TROUBLE, [sorted(TROUBLE), between_nodes(reader)])
    trouble = {_pair_of(row): tuple(row["names"]) for row in trouble_rows}
    rows = (
        ReleasePair(
            client.name,
            broker.name,
            client.source,
            broker.source,
            dict(sorted(pairs[client, broker].items())),
            trouble.get((client, broker), ()),
        )
        for client, broker in sorted(pairs, key=lambda pair: (order[pair[0]], order[pair[1]]))
    )
    undefined_releases = tuple(row["release"] for row in reader.duck.rows(_UNDEFINED))
    return PairsDocument(1, tuple(release.name for release in labels), tuple(rows), undefined_releases)


def pair_matrix(reader: Reader, client: str, broker: str) -> CellsDocument:
    """The version of each RPC that a pair uses; raises UsageError for a release that is in no source, or in several."""
    reader.require(Matrix, Revisions)
    labels = _names(reader)
    ours, theirs = (_release(reader, labels, name) for name in (client, broker))
    rows = reader.duck.rows(_CELLS, [*ours, *theirs])
    if not rows and ours.source != theirs.source:
        raise UsageError(
            f"the lake has no pairs of releases across sources, such as {labels[ours]} of {ours.source} and "
            f"{labels[theirs]} of {theirs.source}: `kiplint pipeline run --across` makes them"
        )
    return CellsDocument(1, ours.name, theirs.name, ours.source, theirs.source, as_structs(CellRow, rows))


def between_nodes(reader: Reader) -> list[str]:
    """The RPCs of the matrix that brokers send each other, each as its key and name."""
    rpcs = reader.duck.rows("SELECT DISTINCT api_key, name FROM matrix")
    return [f"{row['api_key']} {row['name']}" for row in rpcs if is_between_nodes(row["api_key"], row["name"])]


def _names(reader: Reader) -> dict[Release, str]:
    """The releases that have definitions in the order of their lines, with what they are called."""
    rows = reader.duck.rows(_DEFINED_RELEASES)
    releases = list(dict.fromkeys(Release(row["source"], row["release"]) for row in rows))
    count = Counter(release.name for release in releases)
    return {
        release: release.name if count[release.name] == 1 else f"{release.source}:{release.name}"
        for release in releases
    }


def _release(reader: Reader, labels: dict[Release, str], name: str) -> Release:
    matching = [
        release
        for release, label in labels.items()
        if name in (label, release.name, f"{release.source}:{release.name}")
    ]
    if not matching:
        if any(name in (row["release"], f"{row['source']}:{row['release']}") for row in reader.duck.rows(_UNDEFINED)):
            raise UsageError(f"release {name} has no definitions")
        raise UsageError(f"there is no release {name} in the lake{did_you_mean(name, labels.values(), numbered=False)}")
    if len(matching) > 1:
        choices = " or ".join(labels[release] for release in matching)
        raise UsageError(f"several sources have a release {name}: say {choices}")
    return matching[0]


def _pair_of(row: Row) -> Pair:
    return Release(row["client_source"], row["client"]), Release(row["broker_source"], row["broker"])
