"""Many rules, few functions: all rules of one kind of element become one loop over its elements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from kiplint.engine.expression import holes, translate, type_of
from kiplint.engine.language import FUNCTIONS
from kiplint.engine.rule import Level, Rule

Hit = tuple[int, Any]
Walk = Callable[[Iterable[Any], Callable[[Hit], None]], None]

MOST_STEPS = 10_000_000


class TooManyStepsError(Exception):
    """A comprehension of a rule went through more items than a definition can sensibly have."""


def bounded(items: Iterable[Any]) -> Iterator[Any]:
    """The items, but not without end."""
    for count, item in enumerate(items):
        if count >= MOST_STEPS:
            raise TooManyStepsError
        yield item


@dataclass(frozen=True)
class Compiled:
    """The rules of one kind: `walk(elements, hit)` calls `hit((number of the rule, element))` for each breach."""

    rules: tuple[Rule, ...]
    walk: Walk


def compile_rules(kind: str, rules: list[Rule]) -> Compiled:
    """One function for all rules of a kind. Raises ExpressionError when one leaves the language."""
    body: list[ast.stmt] = []
    numbered = list(enumerate(rules))
    for when, group in groupby(numbered, key=lambda pair: (pair[1].spec.when, _param_key(pair[1]))):
        members = list(group)
        statements = [_judge(number, rule, kind) for number, rule in members]
        number, first = members[0]
        condition = translate(when[0], kind, _types(first), f"p{number}_") if when[0] else None
        body.extend([ast.If(condition, statements, [])] if condition else statements)
    loop = ast.For(ast.Name("e", ast.Store()), ast.Name("elements", ast.Load()), body or [ast.Pass()], [])
    arguments = ast.arguments([], [ast.arg("elements"), ast.arg("hit")], None, [], [], None, [])
    function = ast.FunctionDef("walk", arguments, [loop], [])
    module = ast.fix_missing_locations(ast.Module([function], []))
    names = namespace(rules)
    exec(compile(module, f"<{kind} rules>", "exec"), names)  # noqa: S102 - checked syntax trees only
    return Compiled(tuple(rules), names["walk"])


def namespace(rules: list[Rule]) -> dict[str, Any]:
    """The globals of compiled rules: functions and params, and no builtins at all."""
    functions = {f"f_{name}": function.call for name, function in FUNCTIONS.items()}
    params = {f"p{n}_{name}": value for n, rule in enumerate(rules) for name, value in rule.params.items()}
    return {"__builtins__": {}, "bounded": bounded, **functions, **params}


def evaluate(text: str, rule: Rule, element: Any) -> Any:
    """The value of one expression of a rule for one element."""
    tree = ast.fix_missing_locations(ast.Expression(translate(text, rule.spec.each, _types(rule), "p0_")))
    return eval(compile(tree, f"<{rule.id}>", "eval"), namespace([rule]), {"e": element})  # noqa: S307


def message_of(rule: Rule, element: Any) -> str:
    """The rule's message, its holes filled with facts of the element."""
    parts: list[str] = []
    for plain, expression in holes(rule.spec.message):
        parts.append(plain)
        if expression:
            parts.append(_shown(evaluate(expression, rule, element)))
    return "".join(parts)


def severity_of(rule: Rule, element: Any) -> Level:
    """The rule's severity for one element: the first of its softer levels that holds, else its own."""
    if rule.severity == rule.spec.severity:
        for level in rule.spec.levels:
            if evaluate(level.when, rule, element):
                return level.severity
    return rule.severity


def _judge(number: int, rule: Rule, kind: str) -> ast.stmt:
    pair = ast.Tuple([ast.Constant(number), ast.Name("e", ast.Load())], ast.Load())
    report = ast.Expr(ast.Call(ast.Name("hit", ast.Load()), [pair], []))
    if not rule.spec.expect:
        return report
    expected = translate(rule.spec.expect, kind, _types(rule), f"p{number}_")
    return ast.If(ast.UnaryOp(ast.Not(), expected), [report], [])


def _param_key(rule: Rule) -> str:
    return rule.id if "params" in rule.spec.when else ""


def _types(rule: Rule) -> dict[str, str]:
    return {name: type_of(value) for name, value in rule.params.items()}


def _shown(value: Any) -> str:
    if isinstance(value, (list, tuple, set, frozenset)):
        return ", ".join(map(str, value))
    return str(value)
