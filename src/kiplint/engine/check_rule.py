"""The mistakes that can be found in a rule before it ever runs."""

from __future__ import annotations

from collections.abc import Iterator

from kiplint.engine.expression import ExpressionError, holes, split_place, translate
from kiplint.engine.language import KINDS
from kiplint.engine.rule import Rule, type_of


def mistakes(rule: Rule) -> Iterator[tuple[str, str, str]]:
    """Each mistake as the rule's property, the expression it is in, and what is wrong with it."""
    if rule.spec.each not in KINDS and rule.spec.each == "change":
        return  # commands that compare sets know changes, and check the rule
    if rule.spec.each not in KINDS:
        yield "each", rule.spec.each, f"{rule.spec.each} elements are not available here"
        return
    types = {name: type_of(value) for name, value in rule.params.items()}
    for part, expression in _expressions(rule):
        try:
            for hole in [expression] if part in ("when", "expect", "levels") else _holes(part, expression):
                translate(hole, rule.spec.each, types, "p_")
        except ExpressionError as error:
            yield part, expression, str(error)
    if not rule.spec.when and not rule.spec.expect:
        yield "expect", rule.spec.id, "a rule has `when`, `expect`, or both"


def _expressions(rule: Rule) -> Iterator[tuple[str, str]]:
    spec = rule.spec
    yield from (pair for pair in (("when", spec.when), ("expect", spec.expect)) if pair[1])
    yield from (("levels", level.when) for level in spec.levels)
    yield from (("message", spec.message), ("at", spec.at))


def _holes(part: str, text: str) -> Iterator[str]:
    if part == "at":
        element, text = split_place(text)
        yield from filter(None, (element,))
    yield from (hole for _, hole in holes(text) if hole)
