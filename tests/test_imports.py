"""No circles of imports, but for the one that the domain has: messages hold fields, which know their messages."""

from __future__ import annotations

from collections.abc import Mapping

import grimp
import networkx

DOMAIN = {f"kiplint.model.{name}" for name in ("field", "message", "rpc", "schemas", "struct")}
"""What refers to one another at run time. Nothing else does."""


def circles(imported: Mapping[str, set[str]]) -> list[set[str]]:
    """The groups of modules each of which leads back to itself through the others."""
    graph = networkx.DiGraph((one, other) for one, others in imported.items() for other in others)
    return [found for found in networkx.strongly_connected_components(graph) if len(found) > 1]


def test_only_the_domain_is_a_circle() -> None:
    graph = grimp.build_graph("kiplint", exclude_type_checking_imports=True, cache_dir=None)
    found = circles({one: graph.find_modules_directly_imported_by(one) for one in graph.modules})
    assert [sorted(group) for group in found if not group <= DOMAIN] == []
    assert found


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert circles({"a": {"b"}, "b": {"c"}}) == []
