"""Which releases have the findings and changes of a line of history, by what git says the releases descend from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from kiplint.pipeline.rows import Row
from kiplint.sources.cleanup import close
from kiplint.sources.git import open_repository
from kiplint.sources.schema_files import SourceError

DESCENDS, PICKED, ELSE = 1, 2, 3
"""How a release can have a span: it descends from it, it can have picked it later, or neither is certain."""


class Release(NamedTuple):
    """A release: its position on its line of releases, the name of this line, its tag, its time and its commit."""

    position: int
    lineage: str
    name: str
    time: Any
    commit: str


class ReleaseBase(NamedTuple):
    """What a release descends from on a line of history.

    `position` is the last position that it descends from, None where it descends from none. `first_new` is the first
    position that the release before it does not descend from, 0 for the first release.
    """

    position: int | None
    first_new: int


Bases = Mapping[Release, ReleaseBase]
"""What each release descends from on one line of history."""


def attribute(locations: Mapping[tuple[str, str], str], spans: Sequence[Row], history: Sequence[Row]) -> Iterator[Row]:
    """The rows of the table `spans` of one source: its spans with their releases.

    `locations` has the repositories by source and lineage, and `history` the revisions of the source.
    """
    releases = sorted(
        Release(row["position"], row["lineage"], row["release"], row["time"], row["commit"])
        for row in history
        if row["release"] is not None
    )
    bases = find_bases(locations, history, releases)
    release_columns = find_releases(spans, releases, bases)
    no_release = {"first_release": None, "fixed_release": None}
    for index, span in enumerate(spans):
        is_change = span["what"] == "change"
        is_unreleased_change = is_change and index not in release_columns
        yield {
            **span,
            "open": None if is_change else span["fixed_position"] is None,
            "before_first_release": is_unreleased_change and _is_before(span, releases, bases[span["lineage"]]),
            **release_columns.get(index, no_release),
        }


def find_bases(
    locations: Mapping[tuple[str, str], str], history: Iterable[Row], releases: Sequence[Release]
) -> dict[str, Bases]:
    """By line and release: what the release descends from on the line, as git tells where the repository is there."""
    positions: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)  # by source and lineage, then by commit
    for row in history:
        positions[row["source"], row["lineage"]][row["commit"]] = row["position"]
    ancestry: list[list[str]] = []
    release_lines = {release.lineage for release in releases}
    for (source, lineage), commits in positions.items():
        if lineage not in release_lines or len(positions) == 1:  # a release of the only line is its own base
            continue
        with suppress(SourceError, OSError):
            objects = open_repository(locations[source, lineage])
            output = objects.run("rev-list", "--topo-order", "--reverse", "--parents", *commits, "--")
            ancestry += [line.split() for line in output.splitlines()]
    close()  # removes an unpacked bundle, as Spark keeps this process
    return {lineage: _bases_on(lineage, commits, ancestry, releases) for (_, lineage), commits in positions.items()}


def _bases_on(
    lineage: str, positions: Mapping[str, int], ancestry: Iterable[Sequence[str]], releases: Iterable[Release]
) -> Bases:
    """What each release descends from on one line.

    `positions` are those of the commits of the line. `ancestry` has lists of the id of a commit and those of its
    parents, each after the lists of the parents. A release of the line itself is its own base.
    """
    last_positions = dict(positions)  # by commit: the last position that it descends from
    for commit, *parents in ancestry:
        candidates = [last_positions[ancestor] for ancestor in (commit, *parents) if ancestor in last_positions]
        if candidates:
            last_positions[commit] = max(candidates)
    bases: dict[Release, ReleaseBase] = {}
    first_new: dict[str, int] = defaultdict(int)  # by line of releases
    for release in releases:
        if release.lineage == lineage:
            bases[release] = ReleaseBase(release.position, release.position)
            continue
        position = last_positions.get(release.commit)
        bases[release] = ReleaseBase(position, first_new[release.lineage])
        first_new[release.lineage] = 0 if position is None else position + 1
    return bases


def find_releases(spans: Sequence[Row], releases: Sequence[Release], bases: Mapping[str, Bases]) -> dict[int, Row]:
    """The columns `first_release` and `fixed_release` of spans that a release has, by the index of the span."""
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
    """The release columns of the spans of one finding or change, by their index.

    A release has the finding or change if a span of its own line covers it. Which of the spans of another line is the
    same one, is told by the likeliest `_rank`.
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
                _, likeliest = min(candidates)
                release_columns.setdefault(likeliest, columns)  # the first release counts
    return release_columns


def _releases_with(spans: Iterable[Row], releases: Iterable[Release]) -> Iterator[tuple[Release, Row]]:
    """The releases, in order, that have one of the spans on their own line, each with this span."""
    for release in releases:
        for span in spans:
            if span["lineage"] != release.lineage:
                continue
            begin, end = span["introduced_position"], span["fixed_position"]
            lasts = span["what"] == "finding" and begin < release.position and (end is None or release.position < end)
            if begin == release.position or lasts:
                yield release, span


def _rank(span: Row, release: Release, base: ReleaseBase) -> tuple[int, int] | None:
    """How likely a release has its finding or change from a span of another line: the least rank is the likeliest.

    None where it cannot. `(DESCENDS, -7)`, which begins at position 7, comes before `(DESCENDS, -3)` and `(PICKED, 9)`.
    """
    begin, end = span["introduced_position"], span["fixed_position"]
    if base.position is not None and begin <= base.position:
        is_new_change = span["what"] == "change" and begin >= base.first_new
        is_open_finding = span["what"] == "finding" and (end is None or end > base.position)
        return (DESCENDS if is_new_change or is_open_finding else ELSE), -begin
    if span["introduced_time"] > release.time:
        return None
    return (ELSE, -begin) if base.position is None else (PICKED, begin)


def _is_before(change: Row, releases: Sequence[Release], bases: Bases) -> bool:
    """Whether a change came before the first release: by position where this descends from the line, else by time."""
    if not releases:
        return False
    first = releases[0]
    base = bases[first].position
    if base is None:
        return bool(change["introduced_time"] <= first.time)
    return bool(change["introduced_position"] <= base)
