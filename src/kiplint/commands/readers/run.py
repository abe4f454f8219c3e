"""The replay of other readers over the definitions of a set."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, Unpack

from kiplint.commands.readers.result import PlacedReading, ReaderRow, ReadersResult
from kiplint.compat.since import places
from kiplint.engine.config import Chosen, Configuration, FailOn, Path, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.place import place
from kiplint.engine.ruleset import RuleSet, Violation
from kiplint.model.load import Definition, load
from kiplint.model.problem import ReadingElement
from kiplint.readers.outcome import PACK, Known, outcomes, readings_of
from kiplint.render.report import IGNORE, at_least, rule_infos
from kiplint.sources.disk import home_of
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import NothingThereError
from kiplint.text.show import printable


def check_readers(
    source: Path = ".",
    *,
    since: str | None = None,
    fail_on: FailOn | None = None,
    repository: Path | None = None,
    **chosen: Unpack[Chosen],
) -> ReadersResult:
    """Replay how other readers read the definitions of a set: what fails, what is misread, and what they ignore.

    With `since`, a revision, only what is new since then. The status is `findings` when a finding is at least as severe
    as `fail_on`. Raises UsageError and SourceError as `check` does.
    """
    name = os.fspath(source)
    configuration = configure(name, **chosen)
    selected = configuration.rules()
    rules = RuleSet([rule for rule in selected.rules if rule.each == "reading"], selected.known, selected.ignores)
    rules.readings = readings_of(*rules.rules)
    if not rules.rules:
        raise UsageError("no reader is selected; `kiplint rules readers` lists them")
    where = os.fspath(repository) if repository else None
    known: Known = {}
    now = _survey([name], configuration, rules, where, known)
    if since:
        now = now.without(_before(since, name, configuration, rules, where, known))
    findings = tuple(placed.finding for row in now.rows for placed in (*row.fails, *row.misreads))
    return ReadersResult(
        findings=findings,
        files=len(now.sources),
        messages=now.messages,
        sources={finding.path: now.sources[finding.path] for finding in findings},
        status="findings" if at_least(findings, fail_on or configuration.config.fail_on) else "ok",
        sets=(name,),
        rules=rule_infos([*rules.known, *rules.rules], findings, IGNORE),
        paths=tuple(now.sources),
        harmless=("info",),
        older=now.older,
        rows=now.rows,
        since=since or "",
    )


class _Survey(NamedTuple):
    """The outcome of readers for some sets; `older` counts failures and misreadings that were there before."""

    rows: tuple[ReaderRow, ...]
    sources: Mapping[str, bytes]
    messages: int
    older: int = 0

    def without(self, before: _Survey | None) -> _Survey:
        """The failures and misreadings that the other survey does not have as often."""
        if before is None:
            return self
        rows_before = {row.profile.name: row for row in before.rows}
        known = Counter(placed.finding.fingerprint for row in before.rows for placed in (*row.fails, *row.misreads))
        count = self._count

        def fresh(readings: Iterable[PlacedReading]) -> tuple[PlacedReading, ...]:
            new = []
            for placed in readings:
                if known[placed.finding.fingerprint] > 0:
                    known[placed.finding.fingerprint] -= 1
                else:
                    new.append(placed)
            return tuple(new)

        def compared(row: ReaderRow) -> ReaderRow:
            old = rows_before.get(row.profile.name)
            return ReaderRow(
                row.profile,
                row.read,
                fresh(row.fails),
                fresh(row.misreads),
                +(Counter(row.ignores) - Counter(old.ignores if old else {})),
                tuple(name for name in row.leaves_out if old is None or name not in old.leaves_out),
                tuple((Counter(old.read) - Counter(row.read)).elements()) if old else (),
                (len(old.read) if old else 0, len(old.fails) if old else 0, len(row.fails)),
            )

        survey = self._replace(rows=tuple(map(compared, self.rows)))
        return survey._replace(older=count - survey._count)

    @property
    def _count(self) -> int:
        return sum(len(row.fails) + len(row.misreads) for row in self.rows)


def _before(
    since: str, name: str, configuration: Configuration, rules: RuleSet, repository: str | None, known: Known
) -> _Survey | None:
    """The survey of the same place in a revision; None where it had no definitions."""
    revision = since.removesuffix(":")
    top = ""
    if os.path.lexists(name):
        top = (home_of(repository) if os.path.isdir(repository) else "") if repository else home_of(os.curdir)
        named = list(places(revision, [name], top, "--since", repository))
    elif ":" in name:
        named = [f"{revision}:{name.partition(':')[2]}"]
    else:
        raise UsageError(f"{name} cannot be compared with a revision: it is not a directory, a file or a revision")
    try:
        return _survey(named, configuration, rules, repository, known) if named else None
    except NothingThereError:
        return None


def _survey(
    names: list[str], configuration: Configuration, rules: RuleSet, repository: str | None, known: Known
) -> _Survey:
    names_of_readers = {rule.spec.id for rule in rules.rules if rule.pack == PACK}
    rows: dict[str, ReaderRow] = {}
    sources: dict[str, bytes] = {}
    messages = 0
    for schema_files in open_sets(names, configuration.keeps, repository=repository):
        definitions = [load(file.path, file.data) for file in schema_files.files]
        reported = {file.path for file in schema_files.files if file.reported}
        sources |= {file.path: file.data for file in schema_files.files if file.reported}
        messages += sum(definition.message is not None for definition in definitions if definition.file in reported)
        results = list(outcomes(definitions, names_of_readers, known))
        readings = (reading for outcome in results for reading in outcome.readings if reading.file in reported)
        by_reader: dict[str, list[PlacedReading]] = {}
        for reading in _place(definitions, readings, rules):  # of all readers at once: a file's places are found once
            by_reader.setdefault(reading.reading.reader, []).append(reading)
        for outcome in results:
            placed = by_reader.get(outcome.profile.name, [])
            row = ReaderRow(
                outcome.profile,
                outcome.reads,
                tuple(reading for reading in placed if reading.reading.outcome == "fails"),
                tuple(reading for reading in placed if reading.reading.outcome == "misreads"),
                outcome.ignored,
                outcome.unstable,
            )
            rows[outcome.profile.name] = _merged(rows.get(outcome.profile.name), row)
    return _Survey(tuple(rows.values()), sources, messages)


def _merged(first: ReaderRow | None, other: ReaderRow) -> ReaderRow:
    """The rows of a reader for two sets in one row."""
    if first is None:
        return other
    return ReaderRow(
        first.profile,
        first.read + other.read,
        first.fails + other.fails,
        first.misreads + other.misreads,
        Counter(first.ignores) + Counter(other.ignores),
        first.leaves_out + other.leaves_out,
    )


def _place(
    definitions: Iterable[Definition], readings: Iterable[ReadingElement], rules: RuleSet
) -> Iterator[PlacedReading]:
    """The readings that violate rules, each with its finding, without those that a comment ignores."""
    by_file: dict[str, list[Violation]] = {}
    for violation in rules.violations("reading", readings):
        by_file.setdefault(violation.anchor.file, []).append(violation)
    for definition in definitions:
        violations = by_file.get(definition.file, [])
        known = {(violation.rule.id, printable(violation.message)): violation.element for violation in violations}
        for finding in place(definition, violations, rules) if violations else ():
            if not (rules.ignores and rules.ignores(finding.path, finding.rule)):
                yield PlacedReading(known[finding.rule, finding.message], finding)
