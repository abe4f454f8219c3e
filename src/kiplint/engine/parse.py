"""From the text of an expression to its syntax tree, with the rule's own names put in; nothing is checked here."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

from kiplint.engine.errors import ExpressionError

MOST_CHARACTERS = 1000
MOST_LEVELS = 100
MOST_PARTS = 5000
MOST_OF_A_PACK = 200_000
"""The parts of one expression, and of all expressions of a pack, with the names of `let` written out."""


def parse(text: str, lets: Mapping[str, ast.expr] | None = None) -> ast.expr:
    """The syntax tree of an expression, each name of `lets` replaced by what it stands for. Raises ExpressionError."""
    if len(text) > MOST_CHARACTERS:
        raise ExpressionError(f"the expression is longer than {MOST_CHARACTERS} characters")
    try:
        with warnings.catch_warnings(action="error"):
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it nests too deeply or holds a NUL"
        raise ExpressionError(f"cannot read {short(text)}: {reason}") from None
    if not _nests_deeper(tree, MOST_LEVELS) and lets:
        tree = _expanded(tree, lets)
    if _nests_deeper(tree, MOST_LEVELS):
        raise ExpressionError(f"cannot read {short(text)}: it nests too deeply")
    return tree


def parse_lets(texts: Mapping[str, str]) -> dict[str, ast.expr]:
    """The names that a rule gives to expressions; each may use those before it. Raises ExpressionError."""
    lets: dict[str, ast.expr] = {}
    for name, text in texts.items():
        lets[name] = parse(text, lets)
    return lets


def written_out(texts: Iterable[str], lets: Mapping[str, str]) -> int:
    """About how many parts expressions have with the names written out, without doing so; none where one is wrong."""
    sizes: dict[str, int] = {}
    for name, text in lets.items():
        sizes[name] = _written(text, sizes)
    return sum(sizes.values()) + sum(_written(text, sizes) for text in texts)


def _written(text: str, sizes: Mapping[str, int]) -> int:
    try:
        nodes = ast.walk(parse(text))
    except ExpressionError:
        return 0
    return min(sum(sizes.get(node.id, 1) if isinstance(node, ast.Name) else 1 for node in nodes), MOST_OF_A_PACK)


def short(text: str) -> str:
    """A text as errors quote it."""
    return text if len(text) <= 60 else text[:57] + "..."


def _expanded(tree: ast.expr, lets: Mapping[str, ast.expr]) -> ast.expr:
    """The tree with names replaced. Sizes are added up first: names of names could grow without bound."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in lets]
    for node in names:
        if isinstance(node.ctx, ast.Store):
            raise ExpressionError(f"{node.id} is a name of the rule; call the comprehension's variable differently")
    sizes = {node.id: sum(1 for _ in ast.walk(lets[node.id])) for node in names}
    if sum(sizes[node.id] for node in names) > MOST_PARTS:
        raise ExpressionError("the expression is too long with its names written out; make it a fact")
    expanded: ast.expr = _Expand(lets).visit(tree)
    return expanded


class _Expand(ast.NodeTransformer):
    def __init__(self, lets: Mapping[str, ast.expr]) -> None:
        self.lets = lets

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return _copied(self.lets[node.id]) if node.id in self.lets else node


def _copied(part: Any) -> Any:
    """A tree, or a list of trees, once more; `copy.deepcopy` takes ten times as long."""
    if isinstance(part, ast.AST):
        return type(part)(**{name: _copied(value) for name, value in vars(part).items()})
    return [_copied(one) for one in part] if isinstance(part, list) else part


def _nests_deeper(tree: ast.AST, levels: int) -> bool:
    row = [tree]
    for _ in range(levels):
        row = [child for node in row for child in ast.iter_child_nodes(node)]
    return bool(row)
