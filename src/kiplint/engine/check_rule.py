"""The mistakes that can be found in a rule before it ever runs."""

from __future__ import annotations

from collections.abc import Iterator

from kiplint.engine.expression import ExpressionError, holes, translate, type_of
from kiplint.engine.language import KINDS
from kiplint.engine.rule import Rule


def mistakes(rule: Rule) -> Iterator[tuple[str, str, str]]:
    """Each mistake as the rule's property, the expression it is in, and what is wrong with it."""
    if rule.spec.each not in KINDS:
        yield "each", rule.spec.each, f"{rule.spec.each} elements are not available here"
        return
    for part, expression in _expressions(rule):
        try:
            translate(expression, rule.spec.each, {name: type_of(value) for name, value in rule.params.items()}, "p_")
        except ExpressionError as error:
            yield part, expression, str(error)
    if not rule.spec.when and not rule.spec.expect:
        yield "expect", rule.spec.id, "a rule has `when`, `expect`, or both"


def _expressions(rule: Rule) -> Iterator[tuple[str, str]]:
    spec = rule.spec
    yield from (pair for pair in (("when", spec.when), ("expect", spec.expect)) if pair[1])
    yield from (("levels", level.when) for level in spec.levels)
    if "." in spec.at and "{" not in spec.at:
        yield "at", spec.at.rpartition(".")[0]
    for part, text in (("message", spec.message), ("at", spec.at)):
        try:
            yield from ((part, expression) for _, expression in holes(text) if expression)
        except ExpressionError:
            yield part, text
