"""Which releases have what a line of history has, by what git says they descend from."""

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


Bases = Mapping[Release, ReleaseBase]


def attribute(lives: Sequence[Row], history: Sequence[Row]) -> Iterator[Row]:
    """The spans of the lives of one source, by its revisions."""
    releases = sorted(
        Release(row["position"], row["lineage"], row["release"], row["time"], row["commit"])
        for row in history
        if row["release"] is not None
    )
    bases = find_bases(history, releases)
    first_releases = find_first_releases(lives, releases, bases)
    for at, life in enumerate(lives):
        yield {
            **life,
            "open": None if life["what"] == "change" else life["fixed_position"] is None,
            "first_release": None,
            "fixed_release": None,
            "before_first_release": at not in first_releases and _is_early(life, releases, bases[life["lineage"]]),
            **first_releases.get(at, {}),
        }


def find_bases(history: Iterable[Row], releases: Sequence[Release]) -> dict[str, Bases]:
    """By line and release: what the release descends from. On lines of releases each is its own base."""
    lines: dict[str, dict[str, int]] = defaultdict(dict)
    locations: dict[str, str] = {}
    for row in history:
        lines[row["lineage"]][row["commit"]] = row["position"]
        locations[row["lineage"]] = row["location"]
    parents: list[list[str]] = []
    for lineage in {release.lineage for release in releases} if len(lines) > 1 else ():
        with suppress(SourceError, OSError):
            objects = open_repository(locations[lineage])
            ancestry = objects.run("rev-list", "--topo-order", "--reverse", "--parents", *lines[lineage], "--")
            parents += (row.split() for row in ancestry.splitlines())
    close()  # an unpacked bundle, which would outlive this process of Spark
    return {lineage: dict(_bases_on(lineage, positions, parents, releases)) for lineage, positions in lines.items()}


def _bases_on(
    lineage: str, positions: Mapping[str, int], parents: Iterable[Sequence[str]], releases: Iterable[Release]
) -> Iterable[tuple[Release, ReleaseBase]]:
    highest = dict(positions)
    for commit, *above in parents:  # those of the parents are there already
        ends = [highest[end] for end in (commit, *above) if end in highest]
        if ends:
            highest[commit] = max(ends)
    before: dict[str, int] = {}
    for release in releases:
        if release.lineage == lineage:
            yield release, ReleaseBase(release.position, release.position - 1)
        else:
            position = highest.get(release.commit)
            yield release, ReleaseBase(position, before.get(release.lineage, -1))
            before[release.lineage] = -1 if position is None else position


def find_first_releases(
    lives: Sequence[Row], releases: Sequence[Release], bases: Mapping[str, Bases]
) -> dict[int, Row]:
    """By life: the first release that has it, and the release that no longer has it.

    A key can have several lives on a line. A release has the last that it descends from, else the first that it can
    have picked.
    """
    by_key: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for at, life in enumerate(lives):
        by_key[life["what"], life["key"]][life["lineage"]].append(at)
    first_releases: dict[int, tuple[Release, str | None]] = {}
    for lines in by_key.values():
        having = [
            (release, lives[at]["fixed_release"])
            for some in lines.values()
            for at in some
            for release in releases
            if release.lineage == lives[at]["lineage"] and _spans_over(lives[at], release.position)
        ]
        for release, fixed_release in sorted(having, key=lambda item: item[0][:2]):
            for lineage, some in lines.items():
                ranks = [(*rank, at) for at in some if (rank := _rank(lives[at], release, bases[lineage][release]))]
                if ranks:
                    first_releases.setdefault(min(ranks)[-1], (release, fixed_release))
    return {
        at: {"first_release": release.name, "fixed_release": fixed_release}
        for at, (release, fixed_release) in first_releases.items()
    }


def _spans_over(life: Row, position: int) -> bool:
    """Whether a life on a line of releases is there at a position; a change is the step to one."""
    begin, end = life["introduced_position"], life["fixed_position"]
    return position == begin or (life["what"] == "finding" and begin < position and (end is None or position < end))


def _rank(life: Row, release: Release, base: ReleaseBase) -> tuple[int, int] | None:
    """How near a life is to a release that has it, the nearest first; None where it cannot be the one."""
    begin, end = life["introduced_position"], life["fixed_position"]
    if base.position is None or begin > base.position:
        if life["introduced_time"] > release.time:
            return None
        return (ELSE, -begin) if base.position is None else (PICKED, begin)
    is_there = begin > base.before if life["what"] == "change" else end is None or end > base.position
    return DESCENDS if is_there else ELSE, -begin


def _is_early(life: Row, releases: Sequence[Release], bases: Bases) -> bool:
    """Whether a change that no release has came before the first release."""
    if life["what"] != "change" or not releases:
        return False
    base = bases[releases[0]].position
    return bool(life["introduced_time"] <= releases[0].time if base is None else life["introduced_position"] <= base)
