"""Which releases have what a line of history has, by what git says they descend from; and who brought it in a merge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from graphlib import TopologicalSorter
from typing import Any, NamedTuple

import pyarrow as pa

from kiplint.pipeline.commits import inner_commit, is_of_tags
from kiplint.pipeline.rows import Row, table
from kiplint.sources.git import open_repository
from kiplint.sources.schema_files import SourceError

DESCENDS, PICKED, ELSE = 1, 2, 3
"""How near a life is to a release: it descends from it, it can have picked it later, or neither is known."""


class Release(NamedTuple):
    """A release: its place in the order of releases, its time and its commit."""

    position: int
    lineage: str
    name: str
    time: Any
    commit: str


class ReleaseBase(NamedTuple):
    """The last position on a line that a release descends from, and that of the release before; None for none."""

    position: int | None
    before: int


Shipped = tuple[Release, str | None, int]
"""A release that has something, the release that no longer has it, and how near it is."""


def attribute(schema: pa.Schema) -> Callable[[pa.Table, pa.Table], pa.Table]:
    """The function that turns the lives of one source, and its revisions, into spans."""

    def run(lives: pa.Table, revisions: pa.Table) -> pa.Table:
        history, rows = revisions.to_pylist(), lives.to_pylist()
        releases = sorted(
            Release(row["position"], row["lineage"], row["release"], row["time"], row["commit"])
            for row in history
            if row["release"] is not None
        )
        bases = find_bases(history, releases)
        inner = _inner_commits(history, rows)
        shipped = ship(rows, releases, bases)
        return table(
            schema,
            (
                {
                    **row,
                    "open": None if row["what"] == "change" else row["fixed_position"] is None,
                    "from_beginning": row["what"] == "finding" and row["first"] == 1,
                    **_releases(row, shipped.get(at, ()), releases, bases),
                    **inner.get((row["lineage"], row["introduced_commit"], row["path"]), {}),
                }
                for at, row in enumerate(rows)
            ),
        )

    return run


def find_bases(history: Iterable[Row], releases: list[Release]) -> dict[str, dict[Release, ReleaseBase]]:
    """By line and release: what the release descends from. On lines of releases each is its own base."""
    lines: dict[str, dict[str, int]] = defaultdict(dict)
    for row in history:
        lines[row["lineage"]][row["commit"]] = row["position"]
    release_lines = {release.lineage for release in releases}
    parents: dict[str, set[str]] = {}
    if release_lines and lines.keys() - release_lines:
        places = {row["lineage"]: row["location"] for row in history if row["location"]}
        for lineage, place in places.items():
            with suppress(SourceError, OSError):
                _add_parents(parents, place, lineage, list(lines[lineage]))
    bases: dict[str, dict[Release, ReleaseBase]] = {}
    for lineage, positions in lines.items():
        reached = positions if lineage in release_lines else _highest_ancestor(parents, positions)
        bases[lineage] = {}
        before: dict[str, Release] = {}
        for release in releases:
            if release.lineage == lineage:
                base = ReleaseBase(release.position, release.position - 1)
            else:
                last = before.get(release.lineage)
                position = reached.get(last.commit) if last else None
                base = ReleaseBase(reached.get(release.commit), -1 if position is None else position)
            bases[lineage][release] = base
            before[release.lineage] = release
    return bases


def _add_parents(parents: dict[str, set[str]], place: str, lineage: str, commits: list[str]) -> None:
    tips = commits if is_of_tags(lineage) else commits[-1:]
    for row in open_repository(place).run("rev-list", "--parents", *tips, "--").splitlines():
        commit, *above = row.split()
        parents.setdefault(commit, set()).update(above)


def _highest_ancestor(parents: Mapping[str, set[str]], positions: Mapping[str, int]) -> dict[str, int]:
    """For each commit the highest position that it has or descends from."""
    highest = dict(positions)
    for commit in TopologicalSorter(parents).static_order():  # parents first
        ends = [highest[end] for end in (commit, *parents.get(commit, ())) if end in highest]
        if ends:
            highest[commit] = max(ends)
    return highest


def ship(
    lives: list[Row], releases: list[Release], bases: Mapping[str, Mapping[Release, ReleaseBase]]
) -> dict[int, list[Shipped]]:
    """By life: the releases that have it, each with its nearness and the release that no longer has it.

    A key can have several lives on a line. A release has the last that it descends from, else the first that it can
    have picked.
    """
    by_key: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for at, life in enumerate(lives):
        by_key[life["what"], life["key"]][life["lineage"]].append(at)
    shipped: dict[int, list[Shipped]] = defaultdict(list)
    for lines in by_key.values():
        having = [
            (release, life["fixed_release"])
            for at in (at for some in lines.values() for at in some)
            for life in (lives[at],)
            if life["introduced_release"] is not None
            for release in releases
            if release.lineage == life["lineage"] and _spans_over(life, release.position)
        ]
        for lineage, some in lines.items():
            for release, gone in having:
                ranks = []
                for at in some:
                    begin = lives[at]["introduced_position"]
                    if nearness := _nearness(lives[at], release, bases[lineage][release]):
                        ranks.append((nearness, begin if nearness == PICKED else -begin, at))
                if ranks:
                    nearness, _, at = min(ranks)
                    shipped[at].append((release, gone, nearness))
    return shipped


def _spans_over(life: Row, position: int) -> bool:
    """Whether a life on a line of releases is there at a position; a change is the step to one."""
    begin, end = life["introduced_position"], life["fixed_position"]
    return position == begin or (life["what"] == "finding" and begin < position and (end is None or position < end))


def _nearness(life: Row, release: Release, base: ReleaseBase) -> int:
    begin, end = life["introduced_position"], life["fixed_position"]
    is_earlier = bool(life["introduced_time"] and release.time and life["introduced_time"] <= release.time)
    if base.position is None:
        return ELSE if is_earlier else 0
    if begin > base.position:
        return PICKED if is_earlier else 0
    is_there = begin > base.before if life["what"] == "change" else end is None or end > base.position
    return DESCENDS if is_there else ELSE


def _releases(
    row: Row, shipped: Sequence[Shipped], releases: list[Release], bases: Mapping[str, Mapping[Release, ReleaseBase]]
) -> Row:
    if shipped:
        first, gone, _ = min(shipped, key=lambda item: item[0][:2])
        picks = sorted({(release.position, release.name) for release, _, near in shipped if near == PICKED})
        backports = list(dict.fromkeys(name for _, name in picks))
        return {
            "first_release": first.name,
            "fixed_release": gone,
            "backports": backports,
            "before_first_release": False,
        }
    is_early = False
    if row["what"] == "change" and releases:
        base, time = bases[row["lineage"]][releases[0]].position, releases[0].time
        by_time = bool(row["introduced_time"] and time and row["introduced_time"] <= time)
        is_early = by_time if base is None else row["introduced_position"] <= base
    return {"first_release": None, "fixed_release": None, "backports": [], "before_first_release": is_early}


def _inner_commits(history: Iterable[Row], lives: Iterable[Row]) -> dict[tuple[str, str, str], Row]:
    """The commits behind the merges that brought something, by line, merge and path."""
    merges = {
        (row["lineage"], row["commit"]): row["location"] for row in history if row["location"] and row["parents"] > 1
    }
    inner: dict[tuple[str, str, str], Row] = {}
    for place in {(life["lineage"], life["introduced_commit"], life["path"]) for life in lives}:
        if location := merges.get(place[:2]):
            with suppress(SourceError, OSError):
                if found := inner_commit(open_repository(location), *place[1:]):
                    names = ("inner_commit", "inner_author", "inner_subject")
                    inner[place] = dict(zip(names, found, strict=True))
    return inner
