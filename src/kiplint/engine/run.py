"""Checking: definitions in, findings out. One schema set at a time, so that memory does not grow with the corpus."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, cast

import msgspec
from msgspec.structs import asdict, replace

from kiplint.engine.finding import Finding, Fix, Severity, Span, fingerprint, location_of
from kiplint.engine.rule import Rule, Scope
from kiplint.engine.ruleset import RuleSet, Violation
from kiplint.engine.suppression import apply_ignores, parse_suppressions
from kiplint.model.load import MESSAGE_PROBLEMS, Definition, ProblemElement, load
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.sources.schema_files import SchemaFile
from kiplint.text.lines import decode_text
from kiplint.text.show import printable
from kiplint.text.tree import Locator

LONGEST_NAME = 256
IGNORE_MARK = b"kiplint:"

FixFunction = Callable[[Violation, str, Mapping[str, bytes]], Fix | None]
"""Takes a violation, the pointer of its finding and the files that may be changed; returns the fix."""


class Result(msgspec.Struct):
    """The findings of a check in the order of files and lines, with counts and the bytes of the files with findings."""

    findings: list[Finding] = msgspec.field(default_factory=list)
    files: int = 0
    messages: int = 0
    sources: dict[str, bytes] = msgspec.field(default_factory=dict)


def check_set(
    files: Iterable[SchemaFile],
    rules: RuleSet,
    *,
    directory: str = "",
    single_file: bool = False,
    fixer: FixFunction | None = None,
    base: SchemaSet | None = None,
) -> Result:
    """Check the files of one schema set against all rules.

    `single_file`: the rest of the set is unknown, so a missing request or response is no mistake. With a `fixer` the
    findings carry their fixes. With a `base`, what it has is not to blame for what the set adds.
    """
    definitions: list[Definition] = []
    paths: set[str] = set()
    for file in files:
        definitions.append(load(file.path, file.data))
        if file.is_reported:
            paths.add(file.path)
    messages = tuple(definition.message for definition in definitions if definition.message)
    schemas = SchemaSet(messages, directory, single_file, _unparsable_names(definitions), frozenset(paths), base)
    violations = [*file_violations(definitions, paths, rules), *set_violations(schemas, rules, paths)]
    violations = [_at_reported_message(violation, paths) for violation in violations]
    selection = [definition for definition in definitions if definition.file in paths]
    findings = [*_of_whole_set(violations), *_locate(selection, violations, rules, fixer)] if selection else []
    source_paths = {finding.path for finding in findings}
    source_paths.update(edit.path for finding in findings if finding.fix for edit in finding.fix.edits)
    return Result(
        findings=findings,
        files=len(paths),
        messages=sum(message.file in paths for message in messages),
        sources={definition.file: definition.data for definition in definitions if definition.file in source_paths},
    )


def _unparsable_names(definitions: Iterable[Definition]) -> frozenset[str]:
    """The likely names of the messages that could not be read."""
    unparsable = (definition for definition in definitions if definition.message is None)
    return frozenset(name for definition in unparsable for name in definition.likely_names)


def _of_whole_set(violations: Iterable[Violation]) -> Iterator[Finding]:
    """The findings that no single file causes, at the directory."""
    for violation in violations:
        if isinstance(violation.element, SchemaSet) and violation.severity != "off":
            yield locate_file(violation, os.path.basename(violation.location.file.rstrip("/")))


def _locate(
    definitions: Sequence[Definition], violations: Iterable[Violation], rules: RuleSet, fixer: FixFunction | None
) -> Iterator[Finding]:
    """The findings file by file. Only files with violations or ignore comments need positions."""
    by_file: dict[str, list[Violation]] = {}
    for violation in violations:
        by_file.setdefault(violation.location.file, []).append(violation)
    files = {definition.file: definition.data for definition in definitions}
    for definition in definitions:
        if definition.file in by_file or IGNORE_MARK in definition.data:
            yield from _locate_in_file(definition, by_file.get(definition.file, ()), rules, fixer, files)


def _locate_in_file(
    definition: Definition,
    violations: Iterable[Violation],
    rules: RuleSet,
    fixer: FixFunction | None,
    files: Mapping[str, bytes],
) -> list[Finding]:
    """The findings of one file in the order of its lines, without ignored findings and with the useless ignores."""
    text = decode_text(definition.data)
    locator = Locator(text)

    def find(violation: Violation) -> Finding:
        finding = locate_at(violation, locator)
        if fixer is None or not violation.rule.spec.fix:
            return finding
        return finding.fixed_by(fixer(violation, finding.pointer, files))

    misspelt = definition.message.misspelt_by_owner if definition.message else {}

    def is_misspelt(violation: Violation) -> bool:
        """Whether it asks for a property that is there but misspelt, which is a finding of its own."""
        name = violation.instead.partition(":")[0].strip('"') or violation.location.name
        return name in misspelt.get(violation.location.pointer, ())

    findings = [find(item) for item in violations if item.severity != "off" and not is_misspelt(item)]
    findings, problems = apply_ignores(parse_suppressions(text), findings, rules)
    elements = [ProblemElement(problem, definition.file) for problem in problems]
    findings += map(find, rules.violations("problem", elements))
    return sorted(findings, key=lambda finding: (finding.line, finding.column, finding.rule, finding.message))


def locate_file(violation: Violation, name: str) -> Finding:
    """The finding about a whole file or directory, which its fingerprint has as `name`."""
    return _finding(violation, Span(1, 1, 1, 1), "", name)


def locate_at(violation: Violation, locator: Locator) -> Finding:
    """The finding about a location in a file that the locator reads."""
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


def _at_reported_message(violation: Violation, paths: set[str]) -> Violation:
    """A violation of an RPC, moved to its message that is reported (one of the `paths`), because it belongs to both."""
    if violation.location.file in paths or not isinstance(violation.element, Rpc):
        return violation
    for message in (violation.element.request, violation.element.response):
        if message and message.file in paths:
            name = violation.location.name if violation.location.name in message.properties else "name"
            return replace(violation, location=location_of(message, name), instead="")
    return violation


def file_violations(definitions: list[Definition], paths: set[str], rules: RuleSet) -> Iterator[Violation]:
    """The violations of rules about the parts of one file, in the `paths` that are reported."""
    reported_definitions = [definition for definition in definitions if definition.file in paths]
    messages = [definition.message for definition in reported_definitions if definition.message]
    yield from rules.violations("problem", _problems(reported_definitions, rules))
    yield from rules.violations("message", messages)
    yield from rules.violations("field", (field for message in messages for field in message.all_fields))
    yield from rules.violations("struct", (struct for message in messages for struct in message.structs))
    yield from rules.violations("header_range", (entry for message in messages for entry in message.header_ranges))
    yield from rules.violations("note", (note for message in messages for note in message.notes))


def _problems(definitions: list[Definition], rules: RuleSet) -> Iterator[ProblemElement]:
    """The problems that the reader noted, and those of messages that one of the rules is about."""
    ids = {rule.id.partition("/")[2] for rule in rules.rules if rule.each == "problem"}
    checks = [check for check, kinds in MESSAGE_PROBLEMS.items() if not ids.isdisjoint(kinds)]
    for definition in definitions:
        for problem in definition.problems:
            yield ProblemElement(problem, definition.file, definition.message)
    for definition in definitions:
        if message := definition.message:
            for problem in chain.from_iterable(check(message) for check in checks):
                yield ProblemElement(problem, definition.file, message)


def set_violations(schemas: SchemaSet, rules: RuleSet, paths: set[str] | None = None) -> Iterator[Violation]:
    """The violations of rules about RPCs with a message in one of the `paths`, and about the set as a whole."""
    pairs = ((rpc, (rpc.request, rpc.response)) for rpc in schemas.rpcs)
    rpcs = (rpc for rpc, pair in pairs if paths is None or any(message and message.file in paths for message in pair))
    yield from rules.violations("rpc", rpcs)
    yield from rules.violations("set", (schemas,))


# Over many sets that share files, each distinct file is checked alone once, and each distinct set for the rest. The two
# together find what `check_set` finds.


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


def check_both(
    files: Iterable[tuple[str, bytes]], fresh: set[str], rules: Scopes, fixer: FixFunction | None = None
) -> tuple[list[Finding], list[Finding]]:
    """Check a set, as pairs of path and bytes, and those of its files alone that are `fresh`.

    Returns the findings of these files by themselves, and those of the set. Files with ignore comments are always
    checked with the set, because the comments also apply to rules of the set, and their findings count as those of the
    set.
    """
    definitions = [load(file, data) for file, data in files]
    messages = tuple(definition.message for definition in definitions if definition.message)
    schemas = SchemaSet(messages, unparsable_names=_unparsable_names(definitions))
    ignoring = {definition.file for definition in definitions if IGNORE_MARK in definition.data}
    whole = fresh | ignoring
    violations = [
        *file_violations(definitions, whole, rules.whole),
        *file_violations(definitions, {definition.file for definition in definitions} - whole, rules.together),
        *(_at_a_file(violation, schemas) for violation in set_violations(schemas, rules.together)),
    ]
    by_itself: list[Finding] = []
    together: list[Finding] = []
    for finding in _locate(definitions, violations, rules.whole, fixer):
        alone = finding.rule in rules.narrow and finding.path not in ignoring
        (by_itself if alone else together).append(finding)
    return by_itself, together


def _at_a_file(violation: Violation, schemas: SchemaSet) -> Violation:
    """A violation of the whole set, moved to its first file, because findings in a lake have a file."""
    if violation.element is not schemas or not schemas.messages:
        return violation
    return replace(violation, location=location_of(schemas.messages[0], ""))
