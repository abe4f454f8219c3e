"""The shortest way from one release to another, in rolls that each mix two releases that interoperate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from kiplint.compat.roles import Mode
from kiplint.compat.upgrade.release import Release, direct, in_mode, interoperate
from kiplint.compat.upgrade.result import Step, UpgradePath

if TYPE_CHECKING:
    from networkx import DiGraph

Stop = tuple[int, Mode]
"""A cluster on the way: the position of its release in the list, and its mode."""


def upgrade_path(releases: Sequence[Release], mode: Mode | None = None) -> UpgradePath:
    """The path from the first release to the last, over those between them in their order, oldest first.

    The fewest steps; of several such paths the one whose every step goes furthest ahead. `mode` is what the cluster
    runs in at first, by default any that the first release can run in.
    """
    import networkx

    graph = make_graph(releases)
    goals = [(len(releases) - 1, end) for end in releases[-1].served]
    distances = networkx.multi_source_dijkstra_path_length(graph.reverse(copy=False), goals) if goals else {}
    starts: list[Stop] = [(0, one) for one in releases[0].served if mode in (None, one)]
    reached = [place for place in starts if place in distances]
    places = _walk(graph, distances, min(reached, key=lambda place: distances[place])) if reached else []
    furthest = -1 if places else max(_reachable(graph, starts), default=0)
    return UpgradePath(
        version=1,
        source=releases[0].name,
        target=releases[-1].name,
        found=bool(places),
        path=tuple(dict.fromkeys(releases[index].name for index, _ in places)),
        steps=tuple(_step(releases, *pair) for pair in pairwise(places)),
        direct=direct(in_mode(releases[0], mode), releases[-1]),
        furthest=releases[furthest].name if furthest >= 0 else "",
        mode=places[0][1] if places else mode,
        assumed=mode is None and len(starts) > 1,
    )


def make_graph(releases: Sequence[Release]) -> DiGraph[Stop]:
    """The graph of places: an edge for every upgrade that is possible in one roll, and for every migration."""
    import networkx

    known: dict[str, Release] = {}
    alike = [known.setdefault(repr(one[1:]), one) for one in releases]  # patch releases are mostly the same

    @cache
    def fit(old: int, new: int, mode: Mode) -> bool:
        return interoperate(*pair[old, new], mode)

    pair = {(id(old), id(new)): (old, new) for old in alike for new in alike}
    graph: DiGraph[Stop] = networkx.DiGraph()
    graph.add_nodes_from((index, mode) for index, one in enumerate(releases) for mode in one.served)
    for index, mode in list(graph):
        later = range(index + 1, len(releases))
        graph.add_edges_from(
            ((index, mode), (other, mode)) for other in later if fit(id(alike[index]), id(alike[other]), mode)
        )
        if mode == "zookeeper" and releases[index].migrates:
            graph.add_edge((index, mode), (index, "kraft"))
    return graph


def _walk(graph: DiGraph[Stop], distances: Mapping[Stop, float], start: Stop) -> list[Stop]:
    places = [start]
    while distances[places[-1]]:
        here = places[-1]
        nearer = [place for place in graph[here] if distances.get(place, -1) == distances[here] - 1]
        places.append(max(nearer))
    return places


def _reachable(graph: DiGraph[Stop], starts: Sequence[Stop]) -> set[int]:
    import networkx

    found = [place for start in starts for place in (start, *networkx.descendants(graph, start))]
    return {index for index, _ in found}


def _step(releases: Sequence[Release], before: Stop, after: Stop) -> Step:
    source, target = releases[before[0]].name, releases[after[0]].name
    return Step("upgrade" if before[1] == after[1] else "migrate", source, target, after[1])
