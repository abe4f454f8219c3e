"""The graph of structs: which struct has fields of which other, and the ways round (networkx)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kiplint.model.fields import Struct

Graph = dict[str, dict[str, None]]
"""By name of a struct: the names of the structs that its fields have, in their order."""


def cycles(structs: Iterable[Struct]) -> dict[str, str]:
    """By name of a struct, one for each knot of structs that contain themselves: a shortest way round."""
    uses: Graph = {}
    for struct in structs:
        used = uses.setdefault(struct.name, {})
        used.update((field.kind.element, None) for field in struct.fields if field.kind.struct)
    left = _knotted(uses)
    if not left:
        return {}
    import networkx as nx

    found: dict[str, str] = {}
    graph: nx.DiGraph[str] = nx.DiGraph((name, one) for name, used in left.items() for one in used)
    for component in nx.strongly_connected_components(graph):
        name = min(component)
        if len(component) > 1 or name in left[name]:
            found[name] = " -> ".join(_way_round(name, left))
    return found


def _knotted(uses: Graph) -> Graph:
    """The structs that are left when those are taken away, again and again, that use none of the others."""
    users: dict[str, list[str]] = {}
    waiting: dict[str, int] = {}
    for name, used in uses.items():
        known = [one for one in used if one in uses]
        waiting[name] = len(known)
        for one in known:
            users.setdefault(one, []).append(name)
    settled = [name for name, number in waiting.items() if not number]
    for name in settled:  # it grows on the way
        for user in users.get(name, ()):
            waiting[user] -= 1
            if not waiting[user]:
                settled.append(user)
    return {name: {one: None for one in uses[name] if waiting.get(one)} for name, number in waiting.items() if number}


def _way_round(name: str, uses: Graph) -> list[str]:
    """A shortest way from a struct back to itself, both ends included; there is one."""
    came_from = {name: ""}
    queue = [name]
    for here in queue:  # it grows on the way
        if name in uses[here]:
            way = [here]
            while way[-1] != name:
                way.append(came_from[way[-1]])
            return [*reversed(way), name]
        for one in uses[here]:
            if one not in came_from:
                came_from[one] = here
                queue.append(one)
    return [name]
