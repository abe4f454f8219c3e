"""From breaches to findings: messages are written, pointers become spans, and ignore comments are heeded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import cast

from msgspec.structs import replace

from kiplint.engine.finding import Finding, Fix, Severity, Span
from kiplint.engine.ignoring import Ignores
from kiplint.engine.ruleset import Breach, RuleSet
from kiplint.model.load import Definition
from kiplint.model.problem import Problem
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator
from kiplint.text.show import printable
from kiplint.text.suppress import parse_suppressions

LONGEST_NAME = 256


Mender = Callable[[Breach, str, Mapping[str, bytes]], Fix | None]
"""From a breach, the pointer of its finding, and the files that may be changed, to the fix, if there is one."""


def place(
    definition: Definition,
    breaches: Iterable[Breach],
    rules: RuleSet,
    mender: Mender | None = None,
    files: Mapping[str, bytes] | None = None,
) -> list[Finding]:
    """The findings of one file, in the order of its lines; ignored ones left out, useless ignores added.

    With a mender they carry their fixes, which may change `files`. To ignore a rule about other readers is not
    useless where they are not looked at.
    """
    text = decode_text(definition.data)
    locator = Locator(text)

    def finding(breach: Breach) -> Finding:
        found = _finding(breach, locator)
        if mender is None or not breach.rule.spec.fix:
            return found
        return replace(found, fix=mender(breach, found.pointer, files or {definition.file: definition.data}))

    findings = [finding(breach) for breach in breaches if breach.severity != "off"]
    suppressions = parse_suppressions(text)
    ran = (rule.id for rule in rules.rules if rules.readings or rule.each != "reading")
    ignores = Ignores(suppressions.items, (rule.id for rule in rules.known), ran)
    kept = [one for one in findings if not ignores.cover(one)]
    problems = [*suppressions.problems, *ignores.useless()]
    elements = [Problem(noted, definition.file) for noted in problems]
    kept += [finding(breach) for breach in rules.breaches("problem", elements)]
    kept.sort(key=lambda one: (one.span.line, one.span.column, one.rule, one.message))
    return kept


def place_set(breach: Breach) -> Finding:
    """The finding about a whole set, at its directory: no file of it is more at fault than another."""
    folder = breach.anchor.file
    return Finding(
        rule=breach.rule.id,
        severity=cast("Severity", breach.severity),
        message=printable(breach.message),
        path=folder,
        span=Span(1, 1, 1, 1),
        pointer="",
        message_name="",
        source=breach.rule.source,
        identity="\0".join((breach.rule.id, "", os.path.basename(folder.rstrip("/")))),
        instead=printable(breach.instead),
    )


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
