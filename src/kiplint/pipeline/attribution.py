"""The releases that have the findings and changes of a line of history, by the ancestry of their commits."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kiplint.pipeline.rows import Row, escape_non_utf8
from kiplint.sources.cleanup import close
from kiplint.sources.repository import open_repository
from kiplint.sources.schema_files import SourceError

DESCENDS, PICKED, UNCERTAIN = 1, 2, 3
"""How a release can have a span: it descends from its beginning, it can have cherry-picked it, or that is uncertain."""


class Release(NamedTuple):
    """A release: its position on its line of releases, the name of this line, its tag, its time and its commit."""

    position: int
    lineage: str
    name: str
    time: Any
    commit: str


Bases = Mapping[Release, int | None]
"""The last position on one line of history that each release descends from, None where it descends from none."""


def attribute(locations: Mapping[tuple[str, str], str], spans: Sequence[Row], history: Sequence[Row]) -> Iterator[Row]:
    """The rows of the table `spans` of one source: its spans with their releases; or one row that has a `problem`.

    `locations` has the repositories by source and lineage, and `history` the revisions of the source.
    """
    releases = sorted(
        Release(row["position"], row["lineage"], row["release"], row["time"], row["commit"])
        for row in history
        if row["release"] is not None
    )
    try:
        bases = find_bases(locations, history, releases)
    except (SourceError, OSError) as error:
        yield {"source": history[0]["source"], "problem": escape_non_utf8(str(error))}
        return
    finally:
        close()  # removes an unpacked bundle, as Spark keeps this process
    release_columns = find_releases(spans, releases, bases)
    no_release = {"first_release": None, "fixed_release": None}
    for index, span in enumerate(spans):
        is_change = span["what"] == "change"
        is_unreleased_change = is_change and index not in release_columns
        yield {
            **span,
            "open": None if is_change else span["fixed_position"] is None,
            "before_first_release": is_unreleased_change and _precedes_releases(span, releases, bases[span["lineage"]]),
            **release_columns.get(index, no_release),
        }


def find_bases(
    locations: Mapping[tuple[str, str], str], history: Iterable[Row], releases: Sequence[Release]
) -> dict[str, Bases]:
    """By line: the last position on it that each release descends from. Raises SourceError and OSError."""
    positions: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)  # by source and lineage, then by commit
    for row in history:
        positions[row["source"], row["lineage"]][row["commit"]] = row["position"]
    ancestry: list[list[str]] = []
    release_lines = {release.lineage for release in releases}
    for (source, lineage), commits in positions.items():
        if lineage not in release_lines or len(positions) == 1:  # a release of the only line is its own base
            continue
        repository = open_repository(locations[source, lineage])
        output = repository.run("rev-list", "--topo-order", "--reverse", "--parents", *commits, "--")
        ancestry += [line.split() for line in output.splitlines()]
    return {lineage: _bases_on(lineage, commits, ancestry, releases) for (_, lineage), commits in positions.items()}


def _bases_on(
    lineage: str, positions: Mapping[str, int], ancestry: Iterable[Sequence[str]], releases: Iterable[Release]
) -> Bases:
    """The last position on one line that each release descends from: for a release of the line, its own position.

    `positions` are those of the commits of the line. `ancestry` has a list for each commit, parents before children:
    its id, and then those of its parents.
    """
    last_positions = dict(positions)  # by commit, of the line or not: the last position that it descends from
    for commit, *parents in ancestry:
        positions_before = [last_positions[other] for other in (commit, *parents) if other in last_positions]
        if positions_before:
            last_positions[commit] = max(positions_before)
    return {
        release: release.position if release.lineage == lineage else last_positions.get(release.commit)
        for release in releases
    }


def find_releases(spans: Sequence[Row], releases: Sequence[Release], bases: Mapping[str, Bases]) -> dict[int, Row]:
    """The columns `first_release` and `fixed_release` of spans that a release has, by the index of the span.

    `bases` has, by line of history, the base of each release there.
    """
    spans_by_key: dict[tuple[str, str], dict[int, Row]] = defaultdict(dict)
    for index, span in enumerate(spans):
        spans_by_key[span["what"], span["key"]][index] = span
    release_columns: dict[int, Row] = {}
    for spans_of_key in spans_by_key.values():
        release_columns |= _releases_of_key(spans_of_key, releases, bases)
    return release_columns


def _releases_of_key(
    spans: Mapping[int, Row], releases: Sequence[Release], bases: Mapping[str, Bases]
) -> dict[int, Row]:
    """The release columns of the spans of one finding or change, by the index of the span.

    A span of the release's own line says whether a release has the finding or change. On each line, it has that from
    the span with the least `_rank`, whose `first_release` is the first of such releases.
    """
    spans_by_line: dict[str, dict[int, Row]] = defaultdict(dict)
    for index, span in spans.items():
        spans_by_line[span["lineage"]][index] = span
    release_columns: dict[int, Row] = {}
    for release, release_span in _releases_with(spans.values(), releases):
        columns = {"first_release": release.name, "fixed_release": release_span["fixed_release"]}
        for lineage, line_spans in spans_by_line.items():
            base = bases[lineage][release]
            ranks = {index: _rank(span, release, base) for index, span in line_spans.items()}
            candidates = [(rank, index) for index, rank in ranks.items() if rank is not None]
            if candidates:
                _, likeliest_index = min(candidates)
                release_columns.setdefault(likeliest_index, columns)
    return release_columns


def _releases_with(spans: Iterable[Row], releases: Iterable[Release]) -> Iterator[tuple[Release, Row]]:
    """The releases, in order, that a span of their own line covers, each with this span.

    Each position of a line of releases is a release.
    """
    for release in releases:
        for span in spans:
            if span["lineage"] != release.lineage:
                continue
            begin, end = span["introduced_position"], span["fixed_position"]
            # A finding lasts until it is fixed, but only one release makes a change.
            lasts = span["what"] == "finding" and (end is None or release.position < end)
            if begin == release.position or (begin < release.position and lasts):
                yield release, span


def _rank(span: Row, release: Release, base: int | None) -> tuple[int, int] | None:
    """How likely a release got its finding or change from a span of a line of history: the lowest rank is likeliest.

    `base` is the last position that the release descends from, None without any. In the order of ranks, a span is
    - DESCENDS: it begins up to the base, and is not fixed there; the newest comes first,
    - PICKED: it begins after the base, before the time of the release; the oldest comes first,
    - UNCERTAIN: it is fixed in the base, or there is no base and it is older than the release; the newest comes first.
    Any other span is not in the release: None.
    """
    begin, end = span["introduced_position"], span["fixed_position"]
    if base is not None and begin <= base:
        is_fixed_in_base = end is not None and end <= base
        return (UNCERTAIN if is_fixed_in_base else DESCENDS), -begin
    if span["introduced_time"] > release.time:
        return None
    return (UNCERTAIN, -begin) if base is None else (PICKED, begin)


def _precedes_releases(change: Row, releases: Sequence[Release], bases: Bases) -> bool:
    """Whether a change came before the first release: by position if that descends from the line, otherwise by time."""
    if not releases:
        return False
    first_release = releases[0]
    base = bases[first_release]
    if base is None:
        return bool(change["introduced_time"] <= first_release.time)
    return bool(change["introduced_position"] <= base)
