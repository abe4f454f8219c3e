"""Expressions of rules: a small, checked part of Python's, translated into safe Python syntax trees.

Every name is a declared fact of the element, `params`, or the variable of a comprehension; every attribute is a
fact of what stands before the dot; every call is one of the language's functions. What is not listed does not parse.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

from kiplint.engine.errors import ExpressionError
from kiplint.engine.language import facts, kind_name
from kiplint.engine.runtime import FUNCTIONS
from kiplint.text.words import did_you_mean

MOST_LEVELS = 100


def parse(text: str, lets: Mapping[str, ast.expr] | None = None) -> ast.expr:
    """The syntax tree of an expression, each name of `lets` replaced by what it stands for. Raises ExpressionError."""
    try:
        with warnings.catch_warnings(action="error"):
            tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else "it nests too deeply or holds a NUL"
        raise ExpressionError(f"cannot read {short(text)}: {reason}") from None
    if not _nests_deeper(tree, MOST_LEVELS) and lets:
        tree = _expand(tree, lets)
    if _nests_deeper(tree, MOST_LEVELS):
        raise ExpressionError(f"cannot read {short(text)}: it nests too deeply")
    return tree


def parse_lets(texts: Mapping[str, str]) -> dict[str, ast.expr]:
    """The names that a rule gives to expressions; each may use those before it. Raises ExpressionError."""
    lets: dict[str, ast.expr] = {}
    for name, text in texts.items():
        lets[name] = parse(text, lets)
    return lets


def short(text: str) -> str:
    """A text as errors quote it."""
    return text if len(text) <= 60 else text[:57] + "..."


def _expand(tree: ast.expr, lets: Mapping[str, ast.expr]) -> ast.expr:
    """The tree with names replaced."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in lets and isinstance(node.ctx, ast.Store):
            raise ExpressionError(f"{node.id} is a name of the rule; call the comprehension's variable differently")
    result: ast.expr = _Expand(lets).visit(tree)
    return result


class _Expand(ast.NodeTransformer):
    def __init__(self, lets: Mapping[str, ast.expr]) -> None:
        self.lets = lets

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return _copy(self.lets[node.id]) if node.id in self.lets else node


def _copy(part: Any) -> Any:
    """A tree, or a list of trees, once more; `copy.deepcopy` takes ten times as long."""
    if isinstance(part, ast.AST):
        return type(part)(**{name: _copy(value) for name, value in vars(part).items()})
    return [_copy(item) for item in part] if isinstance(part, list) else part


def _nests_deeper(tree: ast.AST, levels: int) -> bool:
    row = [tree]
    for _ in range(levels):
        row = [child for node in row for child in ast.iter_child_nodes(node)]
    return bool(row)


class Rewriter(ast.NodeTransformer):
    """Replaces some parts of an expression."""

    def __init__(self, replacements: Mapping[ast.AST, ast.expr]) -> None:
        self.replacements = replacements

    def visit(self, node: ast.AST) -> ast.AST:
        """The part, rewritten."""
        return self.replacements[node] if node in self.replacements else self.generic_visit(node)


BIGGEST_NUMBER = 2**64
SEQUENCES = ("tuple", "frozenset", "list")

_PLAIN = (
    ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.IfExp, ast.Tuple, ast.List, ast.Set,
    ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Is, ast.IsNot, ast.In, ast.NotIn,
    ast.BinOp, ast.Load, ast.Store,
)  # fmt: skip
_COMPARISONS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_WORDS = {"int": "a number", "str": "text", "VersionRange": "a version range"}
_SETS = (ast.Sub, ast.BitAnd, ast.BitOr)
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv, ast.Mod)
_COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp)


class Words(NamedTuple):
    """What the expressions of a rule may name: the facts of a class of elements, parameters by type, and `let`s.

    In translated code `element` is the variable that holds the element, and `holder` what holds the parameters.
    """

    facts: str
    element: str = "e"
    params: Mapping[str, str] = {}
    lets: Mapping[str, ast.expr] = {}
    holder: ast.expr = ast.Name("params", ast.Load())


class TypedExpression(NamedTuple):
    """A translated expression, and the type of its value."""

    tree: ast.expr
    type: str


@dataclass
class Scope:
    """What an expression may name: the class of its element, its params by type, and bound variables by type."""

    element: str
    params: Mapping[str, str] = field(default_factory=dict)
    variables: dict[str, str] = field(default_factory=dict)


def translate(text: str, words: Words) -> TypedExpression:
    """The Python syntax tree of an expression over an element. Raises ExpressionError."""
    tree = parse(text, words.lets)
    checker = _Checker(words)
    kind = checker.check(tree, Scope(words.facts, words.params))
    return TypedExpression(checker.rewrite(tree), kind)


class _Checker:
    """Walks one expression: determines the type of each part, rejects all outside the language, rewrites names."""

    def __init__(self, words: Words) -> None:
        self.words = words
        self.replacements: dict[ast.AST, ast.expr] = {}

    def check(self, node: ast.AST, scope: Scope) -> str:
        """The type of a part: bool, int, str, VersionRange, a class of elements, a sequence, or Any."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is not None:
            return str(method(node, scope))
        if isinstance(node, _COMPREHENSIONS):
            return self._comprehension(node, scope)
        if isinstance(node, _PLAIN):
            kinds = [self.check(child, scope) for child in ast.iter_child_nodes(node)]
            return self._result(node, kinds)
        raise ExpressionError(f"{_name_of(node)} is not part of the rule language")

    @staticmethod
    def _result(node: ast.AST, kinds: list[str]) -> str:
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return "bool"
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return (
                f"tuple[{kinds[0]}, ...]" if node.elts and len({*kinds[: len(node.elts)]}) == 1 else "tuple[Any, ...]"
            )
        if isinstance(node, ast.IfExp):
            return kinds[1] if kinds[1] == kinds[2] else "Any"
        if isinstance(node, ast.BoolOp):
            return kinds[1] if len({*kinds[1:]}) == 1 else "Any"
        return "int" if isinstance(node, ast.UnaryOp) else "Any"

    def _constant(self, node: ast.Constant, _: Scope) -> str:
        if isinstance(node.value, bool) or node.value is None:
            return "bool" if node.value is not None else "None"
        if isinstance(node.value, int) and node.value < BIGGEST_NUMBER:
            return "int"
        if isinstance(node.value, str):
            return "str"
        raise ExpressionError(
            f"{ast.unparse(node)[:40]} is not a literal of the rule language: use text or small whole numbers"
        )

    def _name(self, node: ast.Name, scope: Scope) -> str:
        if node.id in scope.variables:
            self.replacements[node] = ast.Name(f"v_{node.id}", ast.Load())
            return scope.variables[node.id]
        facts_by_name = facts(scope.element)
        if node.id == "params":
            raise ExpressionError("params is not a value by itself: write params. and the name of a parameter")
        if node.id not in facts_by_name:
            names = [*facts_by_name, *scope.variables, *self.words.lets, "params"]
            raise ExpressionError(_unknown(node.id, f"a fact of a {kind_name(scope.element)}", names))
        self.replacements[node] = ast.Attribute(ast.Name(self.words.element, ast.Load()), node.id, ast.Load())
        return facts_by_name[node.id].type

    def _attribute(self, node: ast.Attribute, scope: Scope) -> str:
        if isinstance(node.value, ast.Name) and node.value.id == "params" and "params" not in scope.variables:
            if node.attr not in scope.params:
                raise ExpressionError(_unknown(node.attr, "a parameter of the rule", list(scope.params)))
            self.replacements[node] = ast.Subscript(self.words.holder, ast.Constant(node.attr), ast.Load())
            return scope.params[node.attr]
        base = self.check(node.value, scope).removesuffix(" | None")
        facts_by_name = facts(base)
        if node.attr not in facts_by_name:
            what = (
                f"a fact of a {kind_name(base)}"
                if facts_by_name
                else f"known of {short(ast.unparse(node.value))}, which has no facts"
            )
            raise ExpressionError(_unknown(node.attr, what, list(facts_by_name)))
        return facts_by_name[node.attr].type

    def _call(self, node: ast.Call, scope: Scope) -> str:
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        function = FUNCTIONS.get(name) if isinstance(node.func, ast.Name) else None
        if function is None:
            raise ExpressionError(_unknown(name, "a function of the rule language", list(FUNCTIONS)))
        least, most = function.arguments
        if (
            node.keywords
            or not least <= len(node.args) <= most
            or any(isinstance(argument, ast.Starred) for argument in node.args)
        ):
            raise ExpressionError(f"{name}() takes {least} argument{'s' * (least != 1)}")
        kinds = [self.check(argument, scope) for argument in node.args]
        if function.returns == "tuple":
            return f"tuple[{element_of(kinds[0])}, ...]"
        return element_of(kinds[0]) if function.returns == "element" else function.returns

    def _subscript(self, node: ast.Subscript, scope: Scope) -> str:
        if isinstance(node.slice, ast.Slice):
            raise ExpressionError("a slice is not part of the rule language")
        self.check(node.slice, scope)
        return element_of(self.check(node.value, scope))

    def _binop(self, node: ast.BinOp, scope: Scope) -> str:
        if not isinstance(node.op, (*_SETS, *_ARITHMETIC)):
            raise ExpressionError(f"{short(ast.unparse(node))}: that operator is not part of the rule language")
        left, right = self.check(node.left, scope), self.check(node.right, scope)
        if left == right == "VersionRange" and isinstance(node.op, _SETS):
            return "VersionRange"
        if isinstance(node.op, ast.Add) and left == right == "str":
            return "str"
        if isinstance(node.op, _ARITHMETIC) and {left, right} <= {"int", "int | None"}:
            return "int"
        text = short(ast.unparse(node))
        raise ExpressionError(f"{text}: that operator takes whole numbers or version ranges, not {left} and {right}")

    def _compare(self, node: ast.Compare, scope: Scope) -> str:
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, (ast.Is, ast.IsNot)) and not (
                isinstance(right, ast.Constant) and right.value is None
            ):
                raise ExpressionError(f"{short(ast.unparse(node))}: `is` compares with None only; write == or !=")
        parts = [node.left, *node.comparators]
        kinds = [self.check(part, scope) for part in parts]
        for operator, (first, second) in zip(node.ops, pairwise(kinds), strict=True):
            if isinstance(operator, _COMPARISONS) and first != second and {first, second} <= _WORDS.keys():
                hint = '; write version_range("...")' if "VersionRange" in (first, second) else ""
                text = short(ast.unparse(node))
                raise ExpressionError(f"{text} compares {_WORDS[first]} with {_WORDS[second]}{hint}")
        return "bool"

    def _dict(self, node: ast.Dict, scope: Scope) -> str:
        if None in node.keys:
            raise ExpressionError(f"{_name_of(node)}: ** is not part of the rule language")
        for child in ast.iter_child_nodes(node):
            self.check(child, scope)
        return "Any"

    def _comprehension(self, node: ast.GeneratorExp | ast.ListComp | ast.SetComp, scope: Scope) -> str:
        loop = node.generators[0]
        if len(node.generators) > 1 or loop.is_async or not isinstance(loop.target, ast.Name):
            raise ExpressionError("a comprehension has one `for` with one variable")
        if any(name.startswith("*") for name in scope.variables):
            raise ExpressionError("a comprehension inside another is not part of the rule language; make it a fact")
        source = self.check(loop.iter, scope)
        name = loop.target.id
        if name in facts(scope.element) or name == "params" or name.startswith("_"):
            raise ExpressionError(f"{name} is a name of its own here; call the comprehension's variable differently")
        inner = Scope(scope.element, scope.params, {**scope.variables, name: element_of(source), f"*{name}": ""})
        self.replacements[loop.target] = ast.Name(f"v_{name}", ast.Store())
        for condition in loop.ifs:
            self.check(condition, inner)
        return f"tuple[{self.check(node.elt, inner)}, ...]"

    def rewrite(self, node: ast.expr) -> ast.expr:
        """The expression with facts, params and functions named as the compiled function knows them."""
        rewritten: ast.expr = Rewriter(self.replacements).visit(node)  # type: ignore[assignment]
        return ast.fix_missing_locations(rewritten)


def element_of(kind: str) -> str:
    """The type of the items of a sequence or mapping type, `Any` where that is not known."""
    if kind.startswith("dict["):
        return kind[5:-1].rpartition(", ")[2] if kind[5:-1].rpartition(", ")[2].isidentifier() else "Any"
    head, _, rest = kind.partition("[")
    return rest[:-1].removesuffix(", ...") if head in SEQUENCES and rest else "Any"


def _unknown(name: str, what: str, names: list[str]) -> str:
    return f"{short(name)} is not {what}{did_you_mean(name, names)}"


def _name_of(node: ast.AST) -> str:
    return short(ast.unparse(node) if isinstance(node, ast.expr) else type(node).__name__)
