"""Checking in two steps: rules that need one definition only, and rules that need the whole set.

Over many sets that share files, each distinct file is checked alone once, and each distinct set for the rest. The two
steps together find what `check_set` finds.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from msgspec.structs import replace

from kiplint.engine.finding import Finding, anchor
from kiplint.engine.place import FixFunction, place
from kiplint.engine.rule import Rule, Scope
from kiplint.engine.ruleset import RuleSet, Violation
from kiplint.engine.run import (
    IGNORE_MARK,
    file_violations,
    set_violations,
    unread_names,
)
from kiplint.model.load import Definition, load
from kiplint.model.schemas import SchemaSet


class Scopes(NamedTuple):
    """The rules of a run: all of them, those that need one definition only (their ids: `narrow`), and the others."""

    whole: RuleSet
    alone: RuleSet
    together: RuleSet
    narrow: frozenset[str]


def scopes_of(rules: RuleSet) -> Scopes:
    """The rules, parted by their scope."""
    scopes: dict[Scope | None, list[Rule]] = {"file": [], "set": []}
    for rule in rules.rules:
        if rule.each != "change":
            scopes[rule.spec.scope].append(rule)
    alone, together = (RuleSet(members, rules.all_rules) for members in (scopes["file"], scopes["set"]))
    return Scopes(rules, alone, together, frozenset(rule.id for rule in alone.rules))


def check_alone(file: str, data: bytes, rules: Scopes, fixer: FixFunction | None = None) -> list[Finding]:
    """The findings of one definition by itself.

    A definition with ignore comments has none here: the comments also apply to rules of the set, so `check_together`
    checks it against all rules.
    """
    if IGNORE_MARK in data:
        return []
    definition = load(file, data)
    violations = list(file_violations([definition], {file}, rules.alone))
    return place(definition, violations, rules.whole, fixer, {file: data}) if violations else []


def check_together(
    files: Iterable[tuple[str, bytes]], rules: Scopes, fixer: FixFunction | None = None
) -> Iterator[Finding]:
    """The findings in one set, as pairs of path and bytes, that `check_alone` does not report."""
    yield from check_both(files, set(), rules, fixer).together


class ScopeFindings(NamedTuple):
    """The findings of `check_alone` for some files of a set, and of `check_together` for the set."""

    alone: list[Finding]
    together: list[Finding]


def check_both(
    files: Iterable[tuple[str, bytes]], fresh: set[str], rules: Scopes, fixer: FixFunction | None = None
) -> ScopeFindings:
    """The two steps over one set, each definition read and walked once; `fresh` are the files to be checked alone too.

    Files with ignore comments are always checked with the set, and their findings count as those of the set.
    """
    definitions = [load(file, data) for file, data in files]
    messages = tuple(definition.message for definition in definitions if definition.message)
    schemas = SchemaSet(messages, unread=unread_names(definitions))
    ignoring = {definition.file for definition in definitions if IGNORE_MARK in definition.data}
    whole = fresh | ignoring
    violations = [
        *file_violations(definitions, whole, rules.whole),
        *file_violations(definitions, {definition.file for definition in definitions} - whole, rules.together),
        *(_at_a_file(violation, schemas) for violation in set_violations(schemas, rules.together)),
    ]
    result = ScopeFindings([], [])
    for finding in _findings_in(definitions, violations, ignoring, rules, fixer):
        alone = finding.rule in rules.narrow and finding.path not in ignoring
        (result.alone if alone else result.together).append(finding)
    return result


def _at_a_file(violation: Violation, schemas: SchemaSet) -> Violation:
    """A violation of the whole set, moved to its first file, because findings in a lake have a file."""
    if violation.element is not schemas or not schemas.messages:
        return violation
    return replace(violation, anchor=anchor(schemas.messages[0], ""))


def _findings_in(
    definitions: list[Definition],
    violations: Iterable[Violation],
    always: Collection[str],
    rules: Scopes,
    fixer: FixFunction | None,
) -> list[Finding]:
    """The findings of the files with violations, and of the files in `always`."""
    by_file: dict[str, list[Violation]] = {}
    for violation in violations:
        by_file.setdefault(violation.anchor.file, []).append(violation)
    findings: list[Finding] = []
    files = {definition.file: definition.data for definition in definitions}
    for definition in definitions:
        if definition.file in by_file or definition.file in always:
            findings += place(definition, by_file.get(definition.file, []), rules.whole, fixer, files)
    return findings
