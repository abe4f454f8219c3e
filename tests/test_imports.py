"""No circles of imports at run time, also not by imports inside functions."""

from __future__ import annotations

from collections.abc import Mapping

import grimp
import networkx


def circles(imported: Mapping[str, set[str]]) -> list[set[str]]:
    """The groups of modules each of which leads back to itself through the others."""
    graph = networkx.DiGraph((module, other) for module, others in imported.items() for other in others)
    return [group for group in networkx.strongly_connected_components(graph) if len(group) > 1]


def test_there_are_no_circles() -> None:
    graph = grimp.build_graph("kiplint", exclude_type_checking_imports=True, cache_dir=None)
    imported = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert [sorted(group) for group in circles(imported)] == []


def test_a_circle_is_reported() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert circles({"a": {"b"}, "b": {"c"}}) == []
