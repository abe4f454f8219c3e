"""No circles of imports at run time, also not by imports inside functions; no name for two classes."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import grimp
import networkx

import kiplint


def circles(imports: Mapping[str, set[str]]) -> list[set[str]]:
    """The groups of modules that import one another in a circle."""
    graph = networkx.DiGraph((module, other) for module, others in imports.items() for other in others)
    return [group for group in networkx.strongly_connected_components(graph) if len(group) > 1]


def test_there_are_no_circles() -> None:
    graph = grimp.build_graph("kiplint", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    assert [sorted(group) for group in circles(imports)] == []


def test_a_circle_is_reported() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [{"a", "b", "c"}]
    assert circles({"a": {"b"}, "b": {"c"}}) == []


def test_no_two_classes_have_one_name() -> None:
    package = Path(kiplint.__file__).parent
    bodies = [ast.parse(file.read_bytes()).body for file in package.rglob("*.py")]
    names = Counter(node.name for body in bodies for node in body if isinstance(node, ast.ClassDef))
    assert {name for name, count in names.items() if count > 1} == set()
