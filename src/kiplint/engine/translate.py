"""From the texts of rules to one Python module of functions, as a syntax tree."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import groupby

from kiplint.engine.expression import holes, split_place, translate
from kiplint.engine.rule import Rule, type_of


def module_of(kind: str, rules: list[Rule]) -> ast.Module:
    """The functions `walk`, `message_N`, `place_N` and `severity_N` of the rules of a kind."""
    functions = [_walk(kind, rules)]
    for number, rule in enumerate(rules):
        translator = _Translator(kind, rule, number)
        functions += [translator.message(), translator.place(), *translator.severity()]
    return ast.fix_missing_locations(ast.Module(list(functions), []))


def _walk(kind: str, rules: list[Rule]) -> ast.FunctionDef:
    """A loop over elements; neighbouring rules about the same elements share one test."""
    body: list[ast.stmt] = []
    for when, group in groupby(enumerate(rules), key=lambda pair: _condition_key(pair[1])):
        members = [_Translator(kind, rule, number) for number, rule in group]
        judged = [member.judge() for member in members]
        body.extend([ast.If(members[0].expression(members[0].rule.spec.when), judged, [])] if when else judged)
    loop = ast.For(ast.Name("e", ast.Store()), ast.Name("elements", ast.Load()), body or [ast.Pass()], [])
    return _function("walk", ["elements", "hit"], [loop])


def _condition_key(rule: Rule) -> str:
    return f"{rule.id}: {rule.spec.when}" if "params" in rule.spec.when else rule.spec.when


class _Translator:
    """The parts of one rule as syntax trees."""

    def __init__(self, kind: str, rule: Rule, number: int) -> None:
        self.kind = kind
        self.rule = rule
        self.number = number
        self.types = {name: type_of(value) for name, value in rule.params.items()}

    def expression(self, text: str) -> ast.expr:
        return translate(text, self.kind, self.types, f"p{self.number}_")

    def judge(self) -> ast.stmt:
        pair = ast.Tuple([ast.Constant(self.number), ast.Name("e", ast.Load())], ast.Load())
        report = ast.Expr(ast.Call(ast.Name("hit", ast.Load()), [pair], []))
        if not self.rule.spec.expect:
            return report
        return ast.If(ast.UnaryOp(ast.Not(), self.expression(self.rule.spec.expect)), [report], [])

    def message(self) -> ast.FunctionDef:
        return _function(f"message_{self.number}", ["e"], [ast.Return(self._filled(self.rule.spec.message))])

    def place(self) -> ast.FunctionDef:
        element, wanted = split_place(self.rule.spec.at)
        target = self.expression(element) if element else ast.Name("e", ast.Load())
        pair = ast.Tuple([target, self._filled(wanted)], ast.Load())
        return _function(f"place_{self.number}", ["e"], [ast.Return(pair)])

    def severity(self) -> Iterator[ast.FunctionDef]:
        if self.rule.spec.levels:
            tests: list[ast.stmt] = [
                ast.If(self.expression(level.when), [ast.Return(ast.Constant(level.severity))], [])
                for level in self.rule.spec.levels
            ]
            yield _function(f"severity_{self.number}", ["e"], tests)

    def _filled(self, text: str) -> ast.expr:
        parts: list[ast.expr] = []
        for plain, hole in holes(text):
            parts.append(ast.Constant(plain))
            if hole:
                call = ast.Call(ast.Name("shown", ast.Load()), [self.expression(hole)], [])
                parts.append(ast.FormattedValue(call, -1))
        return ast.JoinedStr(parts)


def _function(name: str, arguments: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    signature = ast.arguments([], [ast.arg(one) for one in arguments], None, [], [], None, [])
    return ast.FunctionDef(name, signature, body, [])
