"""Properties that are given twice with the same value: odd, but every reader understands the same."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from kiplint.text.nodes import Node
from kiplint.text.problem import Problem


def weigh(problems: tuple[Problem, ...], root: Node | None, text: str) -> tuple[Problem, ...]:
    """The same problems; those about a property whose values are all written alike are harmless."""
    if root is None or not any(one.kind == "duplicate-key" for one in problems):
        return problems
    alike = {start for node in _objects(root) for start in _repeated_alike(node, text)}
    return tuple(
        replace(one, detail=f"{one.detail}, with the same value", harmless=True)
        if one.kind == "duplicate-key" and one.start in alike
        else one
        for one in problems
    )


def _objects(root: Node) -> Iterator[Node]:
    waiting = [root]
    while waiting:
        node = waiting.pop()
        waiting += node.children
        if node.kind == "object":
            yield node


def _repeated_alike(node: Node, text: str) -> Iterator[int]:
    """Where the keys stand whose values are written alike in the whole object."""
    values: dict[str | None, set[str]] = {}
    for child in node.children:
        values.setdefault(child.key, set()).add(text[child.start : child.end])
    yield from (child.key_start for child in node.children if len(values[child.key]) == 1)
