"""The graph of structs: which struct has fields of which other, and its cycles (networkx)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kiplint.model.fields import Struct

Graph = dict[str, dict[str, None]]
"""By name of a struct: the names of the structs that its fields have, in their order."""


def cycles(structs: Iterable[Struct]) -> dict[str, str]:
    """By name of a struct, the first of each group of structs that contain themselves: a shortest cycle."""
    uses: Graph = {}
    for struct in structs:
        used = uses.setdefault(struct.name, {})
        used.update((field.kind.element, None) for field in struct.fields if field.kind.struct)
    cyclic = _cyclic(uses)
    if not cyclic:
        return {}
    import networkx as nx

    shortest: dict[str, str] = {}
    graph: nx.DiGraph[str] = nx.DiGraph((name, other) for name, used in cyclic.items() for other in used)
    for component in nx.strongly_connected_components(graph):
        name = min(component)
        if len(component) > 1 or name in cyclic[name]:
            shortest[name] = " -> ".join(_cycle(name, cyclic))
    return shortest


def _cyclic(uses: Graph) -> Graph:
    """The graph without the structs that lead to no cycle: those that use no other are removed, again and again."""
    users: dict[str, list[str]] = {}
    waiting: dict[str, int] = {}
    for name, used in uses.items():
        known = [other for other in used if other in uses]
        waiting[name] = len(known)
        for other in known:
            users.setdefault(other, []).append(name)
    settled = [name for name, number in waiting.items() if not number]
    for name in settled:  # it grows on the way
        for user in users.get(name, ()):
            waiting[user] -= 1
            if not waiting[user]:
                settled.append(user)
    remaining = {name: uses[name] for name, number in waiting.items() if number}
    return {name: {other: None for other in used if other in remaining} for name, used in remaining.items()}


def _cycle(name: str, uses: Graph) -> list[str]:
    """A shortest path from a struct back to itself, both ends included; such a path exists."""
    came_from = {name: ""}
    queue = [name]
    for here in queue:  # it grows on the way
        if name in uses[here]:
            path = [here]
            while path[-1] != name:
                path.append(came_from[path[-1]])
            return [*reversed(path), name]
        for other in uses[here]:
            if other not in came_from:
                came_from[other] = here
                queue.append(other)
    return [name]
