"""Checking: definitions in, findings out. One schema set at a time, so that memory does not grow with the corpus."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import msgspec
from msgspec.structs import replace

from kiplint.engine.finding import Finding, anchor
from kiplint.engine.ruleset import RuleSet, Violation
from kiplint.model.load import Definition, entity_problems, load, range_problems
from kiplint.model.message import Message
from kiplint.model.problem import ProblemElement
from kiplint.model.schemas import Rpc, SchemaSet

if TYPE_CHECKING:
    from kiplint.engine.place import FixFunction

IGNORE_MARK = b"kiplint:"


class Input(NamedTuple):
    """One file of a set: where it is, its bytes, and whether its findings are wanted or it is only context."""

    path: str
    data: bytes
    reported: bool = True


class Result(msgspec.Struct):
    """What a check came to: its findings, in the order of files and lines, how much was read, and the texts.

    `names` are those of all messages, as far as they could be read, also of files that are only context.
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
) -> Result:
    """Check the files of one schema set against all rules.

    `partial` says that the rest of the set is not known, so that a missing half of an RPC means nothing. With a
    `fixer` the findings carry their fixes.
    """
    definitions: list[Definition] = []
    reported: set[str] = set()
    for path, data, wanted in inputs:
        definitions.append(load(path, data))
        if wanted:
            reported.add(path)
    messages = tuple(one.message for one in definitions if one.message)
    unread = frozenset(name for one in definitions if one.message is None for name in one.likely_names)
    schemas = SchemaSet(messages, directory, partial, unread, frozenset(reported))
    violations = [*file_violations(definitions, reported, rules), *set_violations(schemas, rules, reported)]
    if rules.readings:
        violations += rules.violations("reading", rules.readings(definitions))
    told = [at_reported_half(one, reported) for one in violations]
    result = Result(files=len(reported), messages=sum(message.file in reported for message in messages))
    result.names = unread.union(message.name for message in messages)
    _place(result, [one for one in definitions if one.file in reported], told, rules, fixer)
    if rules.spares:
        result.findings = [one for one in result.findings if not rules.spares(one.path, one.rule)]
    mended = {edit.path for one in result.findings if one.fix for edit in one.fix.edits}
    result.sources |= {one.file: one.data for one in definitions if one.file in mended}
    take_apart(schemas)
    return result


def _place(
    result: Result,
    definitions: list[Definition],
    violations: list[Violation],
    rules: RuleSet,
    fixer: FixFunction | None,
) -> None:
    """Add what was found: of the set as a whole, then file by file. Clean files never pay for positions."""
    files = {one.file: one.data for one in definitions}
    by_file: dict[str, list[Violation]] = {}
    for violation in violations:
        if violation.anchor.file in files:
            by_file.setdefault(violation.anchor.file, []).append(violation)
        elif isinstance(violation.element, SchemaSet) and files and violation.severity != "off":
            from kiplint.engine.place import place_set

            result.findings.append(place_set(violation))
    for one in definitions:
        if one.file in by_file or IGNORE_MARK in one.data:
            from kiplint.engine.place import place

            result.findings += place(one, by_file.get(one.file, []), rules, fixer, files)
            result.sources[one.file] = one.data


def at_reported_half(violation: Violation, reported: set[str]) -> Violation:
    """A violation by a pair, at the half whose findings are reported: it belongs to both."""
    if violation.anchor.file in reported or not isinstance(violation.element, Rpc):
        return violation
    for half in (violation.element.request, violation.element.response):
        if half and half.file in reported:
            wanted = violation.anchor.wanted if violation.anchor.wanted in half.properties else "name"
            return replace(violation, anchor=anchor(half, wanted), instead="")
    return violation


def take_apart(schemas: SchemaSet) -> None:
    """Break the circles between the elements of a set, so that its memory is free for the next one at once.

    Commands and workers run without the garbage collector: else 20,000 files would take 770 MiB instead of 60.
    """
    for message in schemas.messages:
        if "fields" in vars(message) or "common_structs" in vars(message):  # else no element of it was ever made
            for element in (*message.structs, *message.all_fields):
                vars(element).clear()
        vars(message).clear()
    vars(schemas).clear()


def file_violations(definitions: list[Definition], reported: set[str], rules: RuleSet) -> Iterator[Violation]:
    """What breaks the rules about the parts of one file, in the files that are reported."""
    wanted = [one for one in definitions if one.file in reported]
    messages = [one.message for one in wanted if one.message]
    yield from rules.violations("problem", _problems(wanted))
    yield from rules.violations("message", messages)
    yield from rules.violations("field", _fields(messages))
    yield from rules.violations("struct", (struct for message in messages for struct in message.structs))
    yield from rules.violations("header_range", (entry for message in messages for entry in message.header_ranges))
    if rules.has("note"):
        yield from rules.violations("note", (note for message in messages for note in message.notes))
    if rules.has("word"):
        yield from rules.violations("word", (word for message in messages for word in message.odd_words))


def _problems(definitions: list[Definition]) -> Iterator[ProblemElement]:
    for one in definitions:
        for noted in one.problems:
            yield ProblemElement(noted, one.file, one.message)
    for one in definitions:
        if one.message:
            for noted in chain(range_problems(one.message), entity_problems(one.message)):
                yield ProblemElement(noted, one.file, one.message)


def _fields(messages: list[Message]) -> Iterator[object]:
    for message in messages:
        yield from message.all_fields


def set_violations(schemas: SchemaSet, rules: RuleSet, reported: set[str] | None = None) -> Iterator[Violation]:
    """What breaks the rules about RPCs, of which a file that is reported has a half, and the set as a whole."""
    rpcs = schemas.rpcs
    if reported is not None:
        rpcs = tuple(one for one in rpcs if any(half and half.file in reported for half in (one.request, one.response)))
    yield from rules.violations("rpc", rpcs)
    yield from rules.violations("set", (schemas,))
