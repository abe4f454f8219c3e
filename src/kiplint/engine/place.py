"""From violations to findings: pointers become spans, and ignore comments are applied."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import cast

from msgspec.structs import replace

from kiplint.engine.finding import Finding, Fix, Severity, Span
from kiplint.engine.ruleset import RuleSet, Violation, matching
from kiplint.model.load import Definition
from kiplint.model.problem import ProblemElement
from kiplint.text.decode import Problem
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator
from kiplint.text.show import printable
from kiplint.text.suppressions import Suppression, parse_suppressions

Target = int | None
"""The line that a comment applies to; None for the whole file."""


class Ignores:
    """The ignore comments of one file; `known` has the ids of all rules, `running` the ids of the rules that run."""

    def __init__(self, comments: Iterable[Suppression], known: Iterable[str], running: Iterable[str]) -> None:
        self._comments = tuple(comments)
        selectors = {selector for comment in self._comments for selector in comment.selectors}
        self._rules = matching(selectors, known) if selectors else {}
        self._running = frozenset(running if selectors else ())
        self._ignored: dict[Target, set[str]] = {}
        for comment in self._comments:
            self._ignored.setdefault(comment.target, set()).update(*(self._rules[name] for name in comment.selectors))
        self._hit: set[tuple[Target, str]] = set()

    def cover(self, finding: Finding) -> bool:
        """Whether a comment applies to the finding; remembers that it did."""
        targets = [line for line in (None, finding.span.line) if finding.rule in self._ignored.get(line, ())]
        self._hit.update((line, finding.rule) for line in targets)
        return bool(targets)

    def useless(self) -> Iterator[Problem]:
        """The problems of comments that matched no finding, except those whose rules do not run now."""
        for comment in self._comments:
            rules = [self._rules[name] for name in comment.selectors]
            if any((comment.target, rule) in self._hit for group in rules for rule in group):
                continue
            unknown = next((name for name, group in zip(comment.selectors, rules, strict=True) if not group), None)
            if unknown is not None:
                yield _unused(comment, f"no rule matches {printable(unknown)}")
            elif any(not self._running.isdisjoint(group) for group in rules):
                detail = f"nothing here breaks {', '.join(comment.selectors)}; drop the comment"
                yield _unused(comment, detail, removable=True)


def _unused(comment: Suppression, detail: str, *, removable: bool = False) -> Problem:
    return Problem("unused-ignore", detail, "", comment.start, comment.end, removable=removable)


LONGEST_NAME = 256


FixFunction = Callable[[Violation, str, Mapping[str, bytes]], Fix | None]
"""Takes a violation, the pointer of its finding and the files that may be changed; returns the fix, if any."""


def place(
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
        placed = _finding(violation, locator)
        if fixer is None or not violation.rule.spec.fix:
            return placed
        return replace(placed, fix=fixer(violation, placed.pointer, files or {definition.file: definition.data}))

    findings = [finding(violation) for violation in violations if violation.severity != "off"]
    suppressions = parse_suppressions(text)
    ignores = Ignores(suppressions.items, (rule.id for rule in rules.known), (rule.id for rule in rules.rules))
    kept = [finding for finding in findings if not ignores.cover(finding)]
    problems = [*suppressions.problems, *ignores.useless()]
    elements = [ProblemElement(noted, definition.file) for noted in problems]
    kept += [finding(violation) for violation in rules.violations("problem", elements)]
    kept.sort(key=lambda finding: (finding.span.line, finding.span.column, finding.rule, finding.message))
    return kept


def place_set(violation: Violation) -> Finding:
    """The finding about a whole set, placed at its directory because no single file causes it."""
    return _made(violation, Span(1, 1, 1, 1), "", os.path.basename(violation.anchor.file.rstrip("/")))


def _finding(violation: Violation, locator: Locator) -> Finding:
    where = violation.anchor
    pointer = where.pointer
    if where.name:
        inner = f"{pointer}/{where.name}"
        parent = locator.node(pointer)
        pointer = pointer if locator.node(inner) is parent else inner
    span = locator.span(pointer) if where.start < 0 else locator.span_of(where.start, where.end)
    return _made(violation, Span(*span), pointer, locator.names(pointer))


def _made(violation: Violation, span: Span, pointer: str, place: str) -> Finding:
    """The finding of a violation; `place` is what its identity has beside the rule and the message."""
    rule, message_name = violation.rule, violation.anchor.message_name[:LONGEST_NAME]
    return Finding(
        rule=rule.id,
        severity=cast("Severity", violation.severity),
        message=printable(violation.message),
        path=violation.anchor.file,
        span=span,
        pointer=pointer,
        message_name=message_name,
        source=rule.source,
        identity="\0".join((rule.id, message_name, place)),
        instead=printable(violation.instead),
    )
