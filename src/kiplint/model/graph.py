"""The graph of structs: which struct has fields of which other, and the ways round (networkx)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kiplint.model.message import Message


def cycles(message: Message) -> dict[str, str]:
    """By name of a struct, one for each knot of structs that contain themselves: a shortest way round."""
    import networkx as nx

    graph: nx.DiGraph[str] = nx.DiGraph()
    for struct in message.structs:
        graph.add_edges_from((struct.name, field.kind.element) for field in struct.fields if field.kind.struct)
    found: dict[str, str] = {}
    for component in nx.strongly_connected_components(graph):
        name = min(component)
        if len(component) > 1 or graph.has_edge(name, name):
            inner = graph.subgraph(component)
            back = min((nx.shortest_path(inner, after, name) for after in sorted(inner[name])), key=len)
            found[name] = " -> ".join([name, *back])
    return found
