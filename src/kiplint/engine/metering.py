"""Where the expressions of a rule count their steps: at every value whose size the author of a definition chooses."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Final

from kiplint.engine.language import CLASSES

Types = Mapping[ast.AST, str]
"""The type of each part of an expression, as the checker found it."""

_AT_ONCE: Final = ("int", "bool", "None", *CLASSES)
_BY_ITEM: Final = ("any", "all", "min", "max", "sorted", "join")
_BY_BEGINNING: Final = ("len", "startswith", "endswith")
_LOOPS: Final = (ast.GeneratorExp, ast.ListComp, ast.SetComp)
_FOR_A_LOOP: Final = 3


def metered(tree: ast.expr, types: Types, meter: str) -> dict[ast.AST, ast.expr]:
    """By part: the call that counts it, whose first argument it is to become."""
    found: dict[ast.AST, ast.expr] = {}
    for node in ast.walk(tree):
        for part, method in _counted(node, types):
            found[part] = _call(meter, method, [])
        if isinstance(node, _LOOPS):
            loop = node.generators[0]
            steps = size(node.elt) + sum(size(one) for one in loop.ifs) + _FOR_A_LOOP
            found[loop.iter] = _call(meter, "bounded", [ast.Constant(steps)])
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "matches":
            found[node.func] = ast.Attribute(ast.Name(meter, ast.Load()), "matches", ast.Load())
    return found


class Rewriter(ast.NodeTransformer):
    """Puts what is to take their place for some parts of an expression, and calls that count around others."""

    def __init__(self, replaced: dict[ast.AST, ast.expr], counted: dict[ast.AST, ast.expr]) -> None:
        self.replaced = replaced
        self.counted = counted

    def visit(self, node: ast.AST) -> ast.AST:
        """A part with what takes its place."""
        made = self.replaced[node] if node in self.replaced else self.generic_visit(node)
        call = self.counted.get(node)
        if isinstance(call, ast.Call):
            call.args.insert(0, made)  # type: ignore[arg-type]
        return call or made


def sized(tree: ast.expr, meter: str) -> ast.expr:
    """A value that counts by its size; as it is without a meter."""
    return _call(meter, "sized", [tree]) if meter else tree


def size(tree: ast.AST) -> int:
    """The number of parts of a tree, each about a step."""
    return sum(1 for _ in ast.walk(tree))


def _call(meter: str, method: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Attribute(ast.Name(meter, ast.Load()), method, ast.Load()), arguments, [])


def _counted(node: ast.AST, types: Types) -> Iterator[tuple[ast.expr, str]]:
    """The parts of a node whose size counts, the node itself where it makes a new value, and how each counts."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        if node.func.id not in _BY_BEGINNING:
            method = "items" if node.func.id in _BY_ITEM else "sized"
            yield from ((one, method) for one in node.args if _has_size(one, types))
        if types[node] == "str":
            yield node, "sized"
    elif isinstance(node, ast.BinOp) and types[node] in ("str", "VersionRange"):
        yield node, "sized"
    elif isinstance(node, ast.Compare):
        yield from _compared(node, types)
    elif isinstance(node, (*_LOOPS, ast.Set, ast.Dict)):
        parts = [node.elt] if isinstance(node, _LOOPS) else node.keys if isinstance(node, ast.Dict) else node.elts
        yield from ((one, "sized") for one in parts if one and types[one] != "str" and _has_size(one, types))


def _compared(node: ast.Compare, types: Types) -> Iterator[tuple[ast.expr, str]]:
    parts = [node.left, *node.comparators]
    looked_in = {right for right, how in zip(parts[1:], node.ops, strict=True) if isinstance(how, (ast.In, ast.NotIn))}
    for one in parts:
        if _has_size(one, types) and (types[one] != "str" or one in looked_in):
            yield one, "sized"


def _has_size(node: ast.expr, types: Types) -> bool:
    """Whether a value may be large: no number, element or literal, and nothing that is counted as it comes."""
    if isinstance(node, (ast.Constant, ast.GeneratorExp)) or all(
        isinstance(one, ast.Constant) for one in getattr(node, "elts", [None])
    ):
        return False
    return types[node].removesuffix(" | None") not in _AT_ONCE
