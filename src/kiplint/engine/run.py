"""Checking: definitions in, findings out. One schema set at a time, so that memory does not grow with the corpus."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from kiplint.engine.finding import Finding, anchor
from kiplint.engine.ruleset import RuleSet, Violation
from kiplint.model.load import Definition, ProblemElement, entity_problems, load, range_problems, size_problems
from kiplint.model.schemas import Rpc, SchemaSet

if TYPE_CHECKING:
    from kiplint.engine.place import FixFunction

IGNORE_MARK = b"kiplint:"


class Input(NamedTuple):
    """One file of a set: its path, its bytes, and whether its findings are reported or it is only context."""

    path: str
    data: bytes
    is_reported: bool = True


class Result(msgspec.Struct):
    """The findings of a check, in the order of files and lines, with counts and the bytes of the files with findings.

    `names` are the names of all messages that could be read, including files that are only context.
    """

    findings: list[Finding] = msgspec.field(default_factory=list)
    files: int = 0
    messages: int = 0
    sources: dict[str, bytes] = msgspec.field(default_factory=dict)
    names: frozenset[str] = frozenset()


def check_set(
    inputs: Iterable[Input],
    rules: RuleSet,
    *,
    directory: str = "",
    partial: bool = False,
    fixer: FixFunction | None = None,
    base: SchemaSet | None = None,
) -> Result:
    """Check the files of one schema set against all rules.

    `partial`: the rest of the set is unknown, so a missing half of an RPC is not a violation. With a `fixer` the
    findings carry their fixes. With a `base`, what it has is not to blame for what the set adds.
    """
    definitions: list[Definition] = []
    paths: set[str] = set()
    for path, data, is_reported in inputs:
        definitions.append(load(path, data))
        if is_reported:
            paths.add(path)
    messages = tuple(definition.message for definition in definitions if definition.message)
    unread = unread_names(definitions)
    schemas = SchemaSet(messages, directory, partial, unread, frozenset(paths), base)
    violations = [*file_violations(definitions, paths, rules), *set_violations(schemas, rules, paths)]
    violations = [at_reported_half(violation, paths) for violation in violations]
    result = Result(files=len(paths), messages=sum(message.file in paths for message in messages))
    result.names = unread.union(message.name for message in messages)
    _place(result, [definition for definition in definitions if definition.file in paths], violations, rules, fixer)
    if rules.ignores:
        result.findings = [finding for finding in result.findings if not rules.ignores(finding.path, finding.rule)]
    edit_paths = {edit.path for finding in result.findings if finding.fix for edit in finding.fix.edits}
    result.sources |= {definition.file: definition.data for definition in definitions if definition.file in edit_paths}
    return result


def unread_names(definitions: Iterable[Definition]) -> frozenset[str]:
    """The likely names of the messages that could not be read."""
    unread = (definition for definition in definitions if definition.message is None)
    return frozenset(name for definition in unread for name in definition.likely_names)


def _place(
    result: Result,
    definitions: list[Definition],
    violations: list[Violation],
    rules: RuleSet,
    fixer: FixFunction | None,
) -> None:
    """Add the findings: of the set as a whole, then file by file. Only files with findings need positions."""
    files = {definition.file: definition.data for definition in definitions}
    by_file: dict[str, list[Violation]] = {}
    for violation in violations:
        if violation.anchor.file in files:
            by_file.setdefault(violation.anchor.file, []).append(violation)
        elif isinstance(violation.element, SchemaSet) and files and violation.severity != "off":
            from kiplint.engine.place import place_whole

            directory = os.path.basename(violation.anchor.file.rstrip("/"))  # no single file causes it
            result.findings.append(place_whole(violation, directory))
    for definition in definitions:
        if definition.file in by_file or IGNORE_MARK in definition.data:
            from kiplint.engine.place import place

            result.findings += place(definition, by_file.get(definition.file, []), rules, fixer, files)
            result.sources[definition.file] = definition.data


def at_reported_half(violation: Violation, paths: set[str]) -> Violation:
    """A violation of an RPC, moved to the half that is reported (one of the `paths`), because it belongs to both."""
    if violation.anchor.file in paths or not isinstance(violation.element, Rpc):
        return violation
    for half in (violation.element.request, violation.element.response):
        if half and half.file in paths:
            name = violation.anchor.name if violation.anchor.name in half.properties else "name"
            return replace(violation, anchor=anchor(half, name), instead="")
    return violation


def file_violations(definitions: list[Definition], paths: set[str], rules: RuleSet) -> Iterator[Violation]:
    """The violations of rules about the parts of one file, in the `paths` that are reported."""
    reported_definitions = [definition for definition in definitions if definition.file in paths]
    messages = [definition.message for definition in reported_definitions if definition.message]
    yield from rules.violations("problem", _problems(reported_definitions))
    yield from rules.violations("message", messages)
    yield from rules.violations("field", (field for message in messages for field in message.all_fields))
    yield from rules.violations("struct", (struct for message in messages for struct in message.structs))
    yield from rules.violations("header_range", (entry for message in messages for entry in message.header_ranges))
    if rules.has("note"):
        yield from rules.violations("note", (note for message in messages for note in message.notes))


def _problems(definitions: list[Definition]) -> Iterator[ProblemElement]:
    for definition in definitions:
        for problem in definition.problems:
            yield ProblemElement(problem, definition.file, definition.message)
    for definition in definitions:
        if message := definition.message:
            for problem in chain(range_problems(message), entity_problems(message), size_problems(message)):
                yield ProblemElement(problem, definition.file, message)


def set_violations(schemas: SchemaSet, rules: RuleSet, paths: set[str] | None = None) -> Iterator[Violation]:
    """The violations of rules about RPCs with a half in one of the `paths`, and about the set as a whole."""
    rpcs = schemas.rpcs
    if paths is not None:
        rpcs = tuple(rpc for rpc in rpcs if any(half and half.file in paths for half in (rpc.request, rpc.response)))
    yield from rules.violations("rpc", rpcs)
    yield from rules.violations("set", (schemas,))
