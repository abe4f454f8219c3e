"""From the texts of rules to Python, as syntax trees: a walk for each kind of element, and the descriptions of
violations.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import groupby
from typing import Any, NamedTuple

from kiplint.engine import runtime
from kiplint.engine.errors import ExpressionError
from kiplint.engine.expression import TypedExpression, Words, parse_lets, short, translate
from kiplint.engine.language import words_of
from kiplint.engine.rule import Case, Rule, translator_stamp, type_of
from kiplint.engine.runtime import FUNCTIONS

_OPENING, _CLOSING = "([{", ")]}"


class TemplatePart(NamedTuple):
    """Plain text and the hole behind it: an expression, empty at the end of the text.

    Where there are words, the hole shows one of the two, the first when the expression's value is one.
    """

    plain: str
    expression: str = ""
    words: tuple[str, str] | None = None


def template_parts(text: str) -> Iterator[TemplatePart]:
    """Split a text at its holes; `{{` and `}}` are braces. Raises ExpressionError."""
    plain = ""
    rest = text
    while rest:
        before, brace, rest = rest.partition("{")
        plain += before
        if not brace:
            break
        if rest.startswith("{"):
            plain, rest = plain + "{", rest[1:]
            continue
        colon, end = _ends(rest)
        if end < 0:
            raise ExpressionError(f"the hole {{{short(rest)} is never closed")
        words = _words(rest[:end], colon) if colon >= 0 else None
        yield TemplatePart(plain.replace("}}", "}"), rest[: colon if words else end], words)
        plain, rest = "", rest[end + 1 :]
    yield TemplatePart(plain.replace("}}", "}"))


def split_place(text: str) -> tuple[str, str]:
    """A rule's `at` as the expression of an element, empty for the rule's own, and the property of it."""
    depth = 0
    for index in range(len(text) - 1, -1, -1):
        depth += {"}": 1, "{": -1}.get(text[index], 0)
        if text[index] == "." and not depth:
            return text[:index], text[index + 1 :]
    return "", text


def _ends(text: str) -> tuple[int, int]:
    """Where in a text that begins in a hole the hole's colon and its end are, -1 for none."""
    colon, depth, quote = -1, 0, ""
    for index, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif colon < 0 and char in "'\"":
            quote = char
        elif char == "}" and not depth:
            return colon, index
        elif colon < 0:
            depth += (char in _OPENING) - (char in _CLOSING)
            colon = index if char == ":" and not depth else colon
    return colon, -1


def _words(hole: str, colon: int) -> tuple[str, str]:
    singular, bar, many = hole[colon + 1 :].partition("|")
    if not bar or "|" in many:
        raise ExpressionError(f"the hole {{{short(hole)}}} wants two words, as in {{number:version|versions}}")
    return singular, many


_OPPOSITES: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
}  # fmt: skip


def functions_of(kind: str, rules: Iterable[Rule]) -> list[ast.stmt]:
    """The rules of one kind of a pack: the tuple `KIND_rules` of their ids, `walk_KIND`, and `describe_RULE` for each.

    `walk_KIND(elements, hit, active)` calls `hit((rule, element, unmet))` for each violation; `active` has, in the
    order of the ids, the rule as it runs (`kiplint.engine.ruleset.ActiveRule`) or None; `unmet` is the unmet
    requirement of a rule with required fields. Raises ExpressionError.
    """
    parts = [RuleTranslator(kind, rule) for rule in rules]
    ids = ast.Tuple([ast.Constant(part.rule.spec.id) for part in parts], ast.Load())
    tree: list[ast.stmt] = [ast.Assign([ast.Name(f"{kind}_rules", ast.Store())], ids)]
    tree.append(_walk(kind, parts))
    tree += [part.describe() for part in parts if part.describes]
    return [ast.fix_missing_locations(node) for node in tree]


class RuleTranslator:
    """The parts of one rule as syntax trees. The element is in a variable that is called as its kind."""

    def __init__(self, kind: str, rule: Rule) -> None:
        self.kind = kind
        self.rule = rule
        self.word = rule.spec.id.replace("-", "_")
        types = {name: type_of(value) for name, value in rule.params.items()}
        facts = words_of(kind, rule.spec.when)
        self.describing = Words(facts, kind, types, parse_lets(rule.spec.let))
        self.walking = self.describing._replace(holder=ast.Attribute(self.flag(), "params", ast.Load()))

    @property
    def describes(self) -> bool:
        """Whether the rule has violations besides missing or wrong fields, which have their own descriptions."""
        spec = self.rule.spec
        return bool(spec.message or spec.says)

    @property
    def group(self) -> str:
        """Rules of one group have the same elements."""
        spec = self.rule.spec
        return f"{spec.id}: {spec.when}" if spec.let or "params" in spec.when else spec.when

    def flag(self) -> ast.expr:
        """The expression in a walk that tells whether the rule runs."""
        return ast.Name(f"on_{self.word}", ast.Load())

    def when(self) -> list[ast.expr]:
        """The conditions on elements that the rule is about."""
        return _both(translate(self.rule.spec.when, self.walking).tree) if self.rule.spec.when else []

    def broken(self) -> list[ast.expr]:
        """The conditions under which such an element violates the rule; none if it always does."""
        spec = self.rule.spec
        if spec.expect:
            return [_negate(translate(spec.expect, self.walking).tree)]
        if not spec.says or spec.message or not spec.says[-1].when:
            return []
        return [_any([translate(case.when, self.walking).tree for case in spec.says])]

    def judge(self, before: list[ast.expr]) -> list[ast.stmt]:
        """The statements that test whether an element violates the rule, after the given tests."""
        spec, element = self.rule.spec, ast.Name(self.kind, ast.Load())
        unmet = ast.Name("unmet", ast.Load())
        statements: list[ast.stmt] = []
        if spec.fields:
            required_fields = ast.Attribute(self.flag(), "required_fields", ast.Load())
            source = ast.Call(ast.Name("unmet_requirements", ast.Load()), [element, required_fields], [])
            statements.append(ast.For(ast.Name("unmet", ast.Store()), source, self._hit(unmet), []))
        if not self.describes:
            return _if(before, statements)
        hit = self._hit(ast.Constant(None))
        if not statements:
            return _if([*before, *self.broken()], hit)
        return _if(before, [*statements, *_if(self.broken(), hit)])

    def _hit(self, unmet: ast.expr) -> list[ast.stmt]:
        arguments = ast.Tuple([self.flag(), ast.Name(self.kind, ast.Load()), unmet], ast.Load())
        return [ast.Expr(ast.Call(ast.Name("hit", ast.Load()), [arguments], []))]

    def describe(self) -> ast.FunctionDef:
        """The function that returns the description of a violation."""
        spec = self.rule.spec
        body: list[ast.stmt] = []
        for case in spec.says:
            last = case is spec.says[-1] and not spec.message
            result = ast.Return(self._description(case))
            always = last or not case.when
            body += [result] if always else _if([translate(case.when, self.describing).tree], [result])
        if spec.message:
            body.append(ast.Return(self._description(Case(message=spec.message))))
        return _function(f"describe_{self.word}", [self.kind, "params"], body)

    def _description(self, case: Case) -> ast.expr:
        spec = self.rule.spec
        element, at = self.place(case.at or spec.at)
        arguments = [self.text(case.message), element.tree, *([self.text(at)] if at else [])]
        templates = {name: getattr(case, name) or getattr(spec, name) for name in ("instead", "help")}
        keywords = [ast.keyword(name, self.text(template)) for name, template in templates.items() if template]
        if severity := self._severity(case):
            keywords.append(ast.keyword("severity", severity))
        return ast.Call(ast.Name("Description", ast.Load()), arguments, keywords)

    def _severity(self, case: Case) -> ast.expr | None:
        levels = self.rule.spec.levels
        severity: ast.expr | None = ast.Constant(case.severity or "") if levels or case.severity else None
        for level in reversed(levels):
            test = translate(level.when, self.describing).tree
            severity = ast.IfExp(test, ast.Constant(level.severity), severity or ast.Constant(""))
        return severity

    def place(self, at: str) -> tuple[TypedExpression, str]:
        """The element that an `at` leads to, and its property, as a text with holes."""
        element, name = split_place(at)
        own = TypedExpression(ast.Name(self.kind, ast.Load()), self.describing.facts)
        return translate(element, self.describing) if element else own, name

    def text(self, text: str) -> ast.expr:
        """A text with its holes filled."""
        parts: list[ast.expr] = []
        for piece in template_parts(text):
            if piece.plain:
                parts.append(ast.Constant(piece.plain))
            if piece.expression:
                value = translate(piece.expression, self.describing).tree
                words = [ast.Constant(word) for word in piece.words or ()]
                parts.append(ast.Call(ast.Name("word" if words else "as_text", ast.Load()), [value, *words], []))
        # No f-string: how quotes may nest in one differs between the versions of Python that share a wheel.
        return reduce(lambda before, part: ast.BinOp(before, ast.Add(), part), parts or [ast.Constant("")])


def _walk(kind: str, parts: list[RuleTranslator]) -> ast.FunctionDef:
    """A loop over elements; neighbouring rules about the same elements share one test."""
    body: list[ast.stmt] = []
    for when, group in groupby(parts, key=lambda part: part.group):
        members = list(group)
        flags = [member.flag() for member in members]
        if not when or len(members) == 1:
            tests = members[0].when()
            for member in members:
                body += member.judge([member.flag(), *tests])
        else:
            inner = [statement for member in members for statement in member.judge([member.flag()])]
            body += _if([_any(flags), *members[0].when()], inner)
    flags = [ast.Name(f"on_{part.word}", ast.Store()) for part in parts]
    unpack = ast.Assign([ast.Tuple(flags, ast.Store())], ast.Name("active", ast.Load()))
    loop = ast.For(ast.Name(kind, ast.Store()), ast.Name("elements", ast.Load()), body, [])
    return _function(f"walk_{kind}", ["elements", "hit", "active"], [unpack, loop])


def _both(test: ast.expr) -> list[ast.expr]:
    return list(test.values) if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _any(tests: list[ast.expr]) -> ast.expr:
    return ast.BoolOp(ast.Or(), tests) if len(tests) > 1 else tests[0]


def _negate(test: ast.expr) -> ast.expr:
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return test.operand
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and type(test.ops[0]) in _OPPOSITES:
        return ast.Compare(test.left, [_OPPOSITES[type(test.ops[0])]()], test.comparators)
    return ast.UnaryOp(ast.Not(), test)


def _if(tests: list[ast.expr], body: list[ast.stmt]) -> list[ast.stmt]:
    if not tests:
        return body
    return [ast.If(ast.BoolOp(ast.And(), tests) if len(tests) > 1 else tests[0], body, [])]


def _function(name: str, arguments: list[str], body: list[ast.stmt]) -> ast.FunctionDef:
    signature = ast.arguments([], [ast.arg(argument) for argument in arguments], None, [], [], None, [])
    return ast.FunctionDef(name, signature, body, [])


def names_used(tree: Iterable[ast.AST]) -> Iterator[str]:
    """The names that trees read, as they come."""
    for node in tree:
        yield from (node.id for node in ast.walk(node) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


RUNTIME = ("Description", "as_text", "unmet_requirements", "word")


def compile_in_memory(kind: str, rules: Iterable[Rule]) -> dict[str, Any]:
    """The functions of rules of one kind; all that they can reach are facts, functions of the language, and params."""
    names: dict[str, Any] = {name: getattr(runtime, name) for name in RUNTIME}
    names |= {name: function.call for name, function in FUNCTIONS.items()}
    names["__builtins__"] = {}
    exec(compile(ast.Module(functions_of(kind, rules), []), f"<{kind} rules>", "exec"), names)
    return names


def module_text(pack: str, rules: Iterable[Rule]) -> str:
    """The Python module of a whole pack, as `kiplint.compiled` has it."""
    rules = list(rules)
    kinds = dict.fromkeys(rule.each for rule in rules)
    parts = [functions_of(kind, [rule for rule in rules if rule.each == kind]) for kind in kinds]
    names = {*names_used(part for tree in parts for part in tree)}
    lines = [f'"""The rules of the pack {pack}, compiled by hatch_build.py: edit the pack, not this."""', ""]
    lines += ["from kiplint.engine.runtime import FUNCTIONS"] if names & FUNCTIONS.keys() else []
    runs = ", ".join(name for name in RUNTIME if name in names)
    lines += [f"from kiplint.engine.runtime import {runs}", ""] if runs else [""]
    lines += [f"{name} = FUNCTIONS[{name!r}].call" for name in FUNCTIONS if name in names]
    lines += [f"PACK = {rules[0].stamp!r}", f"TRANSLATOR = {translator_stamp()!r}"]
    return "\n".join([*lines, *(f"\n\n{ast.unparse(statement)}" for tree in parts for statement in tree)]) + "\n"
