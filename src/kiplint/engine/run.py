"""The check: from definitions to findings, one schema set at a time, so that memory does not grow with the corpus."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, cast

import msgspec
from msgspec.structs import asdict, replace

from kiplint.engine.finding import Finding, Fix, Severity, Span, Violation, fingerprint, location_of
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.suppression import apply_ignores
from kiplint.limits import REPORTED_PROBLEMS, ProblemLimits
from kiplint.model.definition import Definition
from kiplint.model.load import MESSAGE_PROBLEMS, ProblemElement, load
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
    most: ProblemLimits = REPORTED_PROBLEMS,
) -> Result:
    """Check the files of one schema set against all rules.

    `single_file`: the rest of the set is unknown, so a missing request or response is not a mistake. With a `fixer` the
    findings carry their fixes. `base` is an earlier state of the set: if two messages clash, the new one is at fault.
    `most` limits the problems of each file.
    """
    definitions: list[Definition] = []
    reported_paths: set[str] = set()
    for file in files:
        definitions.append(load(file.path, file.data, most))
        if file.is_reported:
            reported_paths.add(file.path)
    if not reported_paths:
        return Result()

    schemas = SchemaSet(definitions, directory, single_file, frozenset(reported_paths), base)
    violations = [
        *file_violations(schemas, reported_paths, rules),
        *set_violations(schemas, rules, reported_paths),
    ]
    violations = [_at_reported_message(violation, reported_paths) for violation in violations]
    reported_definitions = [definition for definition in definitions if definition.file in reported_paths]
    findings = [
        *_findings_of_set(violations, rules),
        *_findings_of_files(reported_definitions, violations, rules, fixer),
    ]

    source_paths = {finding.path for finding in findings}
    source_paths.update(edit.path for finding in findings if finding.fix for edit in finding.fix.edits)
    return Result(
        findings=findings,
        files=len(reported_paths),
        messages=sum(message.file in reported_paths for message in schemas.messages),
        sources={definition.file: definition.data for definition in definitions if definition.file in source_paths},
    )


def _findings_of_set(violations: Iterable[Violation], rules: RuleSet) -> Iterator[Finding]:
    """The findings about a schema set as a whole, which are reported for its directory."""
    for violation in violations:
        if isinstance(violation.element, SchemaSet) and violation.severity != "off":
            directory = violation.location.file.rstrip("/")
            if violation.rule.id not in rules.ignored_in(directory):
                yield finding_about_file(violation, os.path.basename(directory))


def _findings_of_files(
    definitions: Sequence[Definition], violations: Iterable[Violation], rules: RuleSet, fixer: FixFunction | None
) -> Iterator[Finding]:
    """The findings file by file. Only files with violations or ignore comments are parsed for lines and columns."""
    violations_by_file: dict[str, list[Violation]] = {}
    for violation in violations:
        violations_by_file.setdefault(violation.location.file, []).append(violation)
    data_by_file = {definition.file: definition.data for definition in definitions}
    for definition in definitions:
        violations_of_file = violations_by_file.get(definition.file, [])
        if violations_of_file or IGNORE_MARK in definition.data:
            findings = _findings_of_file(definition, violations_of_file, rules, fixer, data_by_file)
            ignored_ids = rules.ignored_in(definition.file)
            yield from (finding for finding in findings if finding.rule not in ignored_ids)


def _findings_of_file(
    definition: Definition,
    violations: Iterable[Violation],
    rules: RuleSet,
    fixer: FixFunction | None,
    data_by_file: Mapping[str, bytes],
) -> list[Finding]:
    """The findings of one file, sorted by line, without ignored ones, and with those about ignore comments."""
    text = decode_text(definition.data)
    locator = Locator(text)

    def finding_of(violation: Violation) -> Finding:
        finding = located_finding(violation, locator)
        if fixer is None or not violation.rule.spec.fix:
            return finding
        return finding.with_fix(fixer(violation, finding.pointer, data_by_file))

    reported_violations = (
        violation
        for violation in violations
        if violation.severity != "off" and not _asks_for_misspelt(violation, definition)
    )
    findings = [finding_of(violation) for violation in reported_violations]
    findings, problems_of_comments = apply_ignores(text, findings, rules)
    elements = [ProblemElement(problem, definition.file) for problem in problems_of_comments]
    findings += [finding_of(violation) for violation in rules.violations("problem", elements)]
    return sorted(findings, key=lambda finding: (finding.line, finding.column, finding.rule, finding.message))


def _asks_for_misspelt(violation: Violation, definition: Definition) -> bool:
    """Whether a violation requires a property that is present but misspelled: the misspelling is its own finding."""
    property_to_write, _, _ = violation.instead.partition(":")  # `instead` may be `"ignorable": true`
    name = property_to_write.strip('"') or violation.location.key
    # The mapping has the right names of misspelt properties, by the pointer of their object.
    return name in definition.misspelt_by_owner.get(violation.location.pointer, ())


def finding_about_file(violation: Violation, name: str) -> Finding:
    """The finding about a whole file or directory; its fingerprint depends on the `name`, and not on the path."""
    return _finding(violation, Span(1, 1, 1, 1), "", name)


def located_finding(violation: Violation, locator: Locator) -> Finding:
    """The finding of a violation, in the text of the `locator`. It points to the element if that lacks the property."""
    location = violation.location
    pointer = location.pointer
    if location.key:
        pointer_to_property = f"{pointer}/{location.key}"
        element = locator.node(pointer)
        if locator.node(pointer_to_property) is not element:  # as it is for a property that is missing
            pointer = pointer_to_property
    span = locator.line_span(*location.characters) if location.characters else locator.span(pointer)
    return _finding(violation, Span(*span), pointer, locator.named_pointer(pointer))


def _finding(violation: Violation, span: Span, pointer: str, place: str) -> Finding:
    """The finding of a violation; `place` is the pointer with names for indexes, such as `/fields[Topics]/tag`."""
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


def _at_reported_message(violation: Violation, reported_paths: set[str]) -> Violation:
    """The violation; one by an RPC, located in a file that is not reported, moves to the RPC's reported message."""
    location = violation.location
    if location.file in reported_paths or not isinstance(violation.element, Rpc):
        return violation
    for message in (violation.element.request, violation.element.response):
        if message and message.file in reported_paths:
            key = location.key if location.key in message.properties else "name"
            return replace(violation, location=location_of(message, key), instead="")  # which fits the other file only
    return violation


def file_violations(schemas: SchemaSet, paths: set[str], rules: RuleSet) -> Iterator[Violation]:
    """The violations of rules about problems, messages and parts of messages, in the files with these paths."""
    messages = [message for message in schemas.messages if message.file in paths]
    yield from rules.violations("problem", _problems(schemas, paths, rules))
    yield from rules.violations("message", messages)
    yield from rules.violations("field", (field for message in messages for field in message.all_fields))
    yield from rules.violations("struct", (struct for message in messages for struct in message.structs))
    yield from rules.violations("header_range", (entry for message in messages for entry in message.header_ranges))
    yield from rules.violations("note", (note for message in messages for note in message.notes))


def _problems(schemas: SchemaSet, paths: set[str], rules: RuleSet) -> Iterator[ProblemElement]:
    """The problems that the reader noted, and then those of messages, which are looked for if a rule is about them."""
    for definition in schemas.definitions:
        if not definition.problems or definition.file not in paths:
            continue
        message = schemas.message_of(definition) if definition.is_readable else None
        for problem in definition.problems:
            yield ProblemElement(problem, definition.file, message)

    kinds_with_rule = {rule.spec.id for rule in rules.rules if rule.each == "problem"}
    searches = [search for search, kinds in MESSAGE_PROBLEMS.items() if not kinds_with_rule.isdisjoint(kinds)]
    for message in schemas.messages:
        for find_problems in searches if message.file in paths else ():
            for problem in find_problems(message):
                yield ProblemElement(problem, message.file, message)


def set_violations(schemas: SchemaSet, rules: RuleSet, paths: set[str]) -> Iterator[Violation]:
    """The violations of rules about RPCs with a message in one of the `paths`, and about the set as a whole."""

    def has_message_there(rpc: Rpc) -> bool:
        return any(message and message.file in paths for message in (rpc.request, rpc.response))

    yield from rules.violations("rpc", filter(has_message_there, schemas.rpcs))
    yield from rules.violations("set", (schemas,))


# Over many sets that share files, each distinct file is checked alone once, and each distinct set for the rest. The two
# together find what `check_set` finds.


class Scopes(NamedTuple):
    """The rules of a run: all of them, the ids of those with scope `file`, and those with scope `set`."""

    whole: RuleSet
    file_rule_ids: frozenset[str]
    set_rules: RuleSet


def scopes_of(rules: RuleSet) -> Scopes:
    """The rules of a run by their scope; a single set shows no changes, so rules about them are in neither scope."""
    file_rule_ids = frozenset(rule.id for rule in rules.rules if rule.spec.scope == "file" and rule.each != "change")
    set_rules = [rule for rule in rules.rules if rule.spec.scope == "set" and rule.each != "change"]
    return Scopes(rules, file_rule_ids, RuleSet(set_rules, rules.all_rules))


def check_by_scope(
    files: Iterable[tuple[str, bytes]], new_paths: set[str], rules: Scopes, fixer: FixFunction | None = None
) -> tuple[list[Finding], list[Finding]]:
    """The findings in new files of rules with scope `file`, and those of rules with scope `set` in a whole set.

    `files` has the path and the bytes of each file of the set. In a file with ignore comments, all findings count as
    those of the set, because the comments may also ignore rules with scope `set`.
    """
    definitions = [load(path, data) for path, data in files]
    schemas = SchemaSet(definitions)
    all_paths = {definition.file for definition in definitions}
    paths_with_ignores = {definition.file for definition in definitions if IGNORE_MARK in definition.data}
    paths_for_all_rules = new_paths | paths_with_ignores
    violations = [
        *file_violations(schemas, paths_for_all_rules, rules.whole),
        *file_violations(schemas, all_paths - paths_for_all_rules, rules.set_rules),
        *(_at_a_file(violation, schemas) for violation in set_violations(schemas, rules.set_rules, all_paths)),
    ]
    file_findings: list[Finding] = []
    set_findings: list[Finding] = []
    for finding in _findings_of_files(definitions, violations, rules.whole, fixer):
        if finding.rule in rules.file_rule_ids and finding.path not in paths_with_ignores:
            file_findings.append(finding)
        else:
            set_findings.append(finding)
    return file_findings, set_findings


def _at_a_file(violation: Violation, schemas: SchemaSet) -> Violation:
    """The violation; one of the whole set moves to the first file, because the pipeline stores findings by file."""
    if violation.element is not schemas or not schemas.messages:
        return violation
    return replace(violation, location=location_of(schemas.messages[0], ""))
