"""From violations to findings: pointers become spans, and the comments that suppress findings apply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import cast

from msgspec.structs import asdict

from kiplint.engine.finding import Finding, Fix, Severity, Span, fingerprint
from kiplint.engine.ruleset import RuleSet, Violation
from kiplint.engine.suppression import apply_ignores, parse_suppressions
from kiplint.model.load import Definition, ProblemElement
from kiplint.text.lines import decode_text
from kiplint.text.show import printable
from kiplint.text.tree import Locator

LONGEST_NAME = 256


FixFunction = Callable[[Violation, str, Mapping[str, bytes]], Fix | None]
"""Takes a violation, the pointer of its finding and the files that may be changed; returns the fix."""


def locate_findings(
    definition: Definition,
    violations: Iterable[Violation],
    rules: RuleSet,
    fixer: FixFunction | None = None,
    files: Mapping[str, bytes] | None = None,
) -> list[Finding]:
    """The findings of one file in the order of its lines, without ignored findings and with the useless ignores.

    With a fixer, findings carry their fixes, which may change `files`.
    """
    text = decode_text(definition.data)
    locator = Locator(text)

    def finding(violation: Violation) -> Finding:
        result = _locate(violation, locator)
        if fixer is None or not violation.rule.spec.fix:
            return result
        return result.fixed_by(fixer(violation, result.pointer, files or {definition.file: definition.data}))

    misspelt = definition.message.misspelt_by_owner if definition.message else {}

    def is_misspelt(violation: Violation) -> bool:
        """Whether it asks for a property that is there but misspelt, which is a finding of its own."""
        name, _, _ = violation.instead.partition(":")
        return name.strip('"') in misspelt.get(violation.location.pointer, ())

    findings = [finding(item) for item in violations if item.severity != "off" and not is_misspelt(item)]
    findings, problems = apply_ignores(parse_suppressions(text), findings, rules)
    elements = [ProblemElement(problem, definition.file) for problem in problems]
    findings += [finding(violation) for violation in rules.violations("problem", elements)]
    findings.sort(key=lambda finding: (finding.line, finding.column, finding.rule, finding.message))
    return findings


def locate_file(violation: Violation, name: str) -> Finding:
    """The finding about a whole file or directory, which its fingerprint has as `name`."""
    return _finding(violation, Span(1, 1, 1, 1), "", name)


def _locate(violation: Violation, locator: Locator) -> Finding:
    where = violation.location
    pointer = where.pointer
    if where.name:
        inner = f"{pointer}/{where.name}"
        parent = locator.node(pointer)
        pointer = pointer if locator.node(inner) is parent else inner
    span = locator.span(pointer) if where.start < 0 else locator.span_of(where.start, where.end)
    return _finding(violation, Span(*span), pointer, locator.names(pointer))


def _finding(violation: Violation, span: Span, pointer: str, place: str) -> Finding:
    """The finding of a violation; `place` is what its fingerprint has beside the rule and the message."""
    rule, message_name = violation.rule, violation.location.message_name[:LONGEST_NAME]
    return Finding(
        rule=rule.id,
        severity=cast("Severity", violation.severity),
        message=printable(violation.message),
        path=violation.location.file,
        **asdict(span),
        pointer=pointer,
        message_name=message_name,
        source=rule.source,
        fingerprint=fingerprint(rule.id, message_name, place),
        fixable=False,
        url=rule.url,
        instead=printable(violation.instead),
        help=printable(violation.help),
        place=place,
    )
