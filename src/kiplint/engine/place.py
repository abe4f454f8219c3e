"""From breaches to findings: messages are written, pointers become spans, and ignore comments are heeded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

from kiplint.engine.finding import Finding, Severity, Span
from kiplint.engine.ignoring import Ignores
from kiplint.engine.ruleset import Breach, RuleSet
from kiplint.model.load import Definition
from kiplint.model.problem import Problem
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator
from kiplint.text.show import printable
from kiplint.text.suppress import parse_suppressions

LONGEST_NAME = 256


def place(definition: Definition, breaches: Iterable[Breach], rules: RuleSet) -> list[Finding]:
    """The findings of one file, in the order of its lines; ignored ones left out, useless ignores added."""
    text = decode_text(definition.data)
    locator = Locator(text)
    findings = [_finding(breach, locator) for breach in breaches if breach.severity != "off"]
    suppressions = parse_suppressions(text)
    ignores = Ignores(suppressions.items, (rule.id for rule in rules.known), (rule.id for rule in rules.rules))
    kept = [one for one in findings if not ignores.cover(one)]
    problems = [*suppressions.problems, *ignores.useless()]
    elements = [Problem(noted, definition.file) for noted in problems]
    kept += [_finding(breach, locator) for breach in rules.breaches("problem", elements)]
    kept.sort(key=lambda one: (one.span.line, one.span.column, one.rule, one.message))
    return kept


def _finding(breach: Breach, locator: Locator) -> Finding:
    rule, where = breach.rule, breach.anchor
    pointer = where.pointer
    if where.wanted:
        wanted = f"{pointer}/{where.wanted}"
        parent = locator.node(pointer)
        pointer = pointer if locator.node(wanted) is parent else wanted
    message_name = where.message_name[:LONGEST_NAME]
    span = locator.span(pointer) if where.start < 0 else locator.span_of(where.start, where.end)
    return Finding(
        rule=rule.id,
        severity=cast("Severity", breach.severity),
        message=printable(breach.message),
        path=where.file,
        span=Span(*span),
        pointer=pointer,
        message_name=message_name,
        source=rule.source,
        identity="\0".join((rule.id, message_name, locator.names(pointer))),
        instead=printable(breach.instead),
    )
