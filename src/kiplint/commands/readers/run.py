"""What the definitions of a set do to other readers of them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import ClassVar, NamedTuple, Unpack

import msgspec

from kiplint.compat.since import places
from kiplint.engine.config import Chosen, Configuration, FailOn, Path, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.place import place
from kiplint.engine.ruleset import RuleSet, Violation
from kiplint.model.load import Definition, load
from kiplint.model.problem import ReadingElement
from kiplint.readers.outcome import PACK, outcomes, readings_of
from kiplint.readers.profile import Profile
from kiplint.render.report import IGNORE, Report, at_least, rule_infos
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import NothingThereError
from kiplint.sources.tree import home_of
from kiplint.text.show import printable


class Befallen(msgspec.Struct, frozen=True):
    """What befalls a reader at one definition, and where that is."""

    reading: ReadingElement
    finding: Finding


class ReaderRow(msgspec.Struct, frozen=True):
    """A reader: how many definitions it reads, those at which it fails, the versions that it takes for something else.

    `ignores` counts the properties that it passes over, by name; `leaves_out` are the messages whose latest version it
    leaves out, being unstable.
    """

    profile: Profile
    reads: int
    fails: tuple[Befallen, ...]
    misreads: tuple[Befallen, ...]
    ignores: Mapping[str, int]
    leaves_out: tuple[str, ...]


class ReadersResult(Report, frozen=True):
    """What `readers` found, reader by reader. With a revision in `since`, only what came since then."""

    rows: tuple[ReaderRow, ...] = ()
    since: str = ""

    command = "readers"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.readers.text",
        "json": "kiplint.commands.readers.result",
        "markdown": "kiplint.commands.readers.markdown",
    }
    tells_nothing = False


def readers(
    source: Path = ".",
    *,
    since: str | None = None,
    fail_on: FailOn | None = None,
    repository: Path | None = None,
    **chosen: Unpack[Chosen],
) -> ReadersResult:
    """Replay how other readers take the definitions of a set: what fails, what is misread, and what they ignore.

    With `since`, a revision, only what a change since then brought about. The status is `findings` when one is as
    severe as `fail_on` says. Raises UsageError and SourceError as `check` does.
    """
    name = os.fspath(source)
    configuration = configure(name, **chosen)
    whole = configuration.rules()
    rules = RuleSet([rule for rule in whole.rules if rule.each == "reading"], whole.known, whole.ignores)
    rules.readings = readings_of(*rules.rules)
    if not rules.rules:
        raise UsageError("no reader is selected; `kiplint rules readers` lists them")
    place_of = os.fspath(repository) if repository else None
    now = _survey([name], configuration, rules, place_of)
    if since:
        now = now.without(_before(since, name, configuration, rules, place_of))
    findings = tuple(one.finding for row in now.rows for one in (*row.fails, *row.misreads))
    return ReadersResult(
        findings=findings,
        files=len(now.sources),
        messages=now.messages,
        sources={one.path: now.sources[one.path] for one in findings},
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
    """What befalls readers in some sets; `older` is how much of it was so before."""

    rows: tuple[ReaderRow, ...]
    sources: Mapping[str, bytes]
    messages: int
    older: int = 0

    def without(self, before: _Survey | None) -> _Survey:
        """What is not in another survey as often."""
        if before is None:
            return self
        known = Counter(one.finding.fingerprint for row in before.rows for one in (*row.fails, *row.misreads))
        ignored = {row.profile.name: row.ignores for row in before.rows}
        left = {row.profile.name: row.leaves_out for row in before.rows}
        count = self._count

        def fresh(some: Iterable[Befallen]) -> tuple[Befallen, ...]:
            found = []
            for one in some:
                if known[one.finding.fingerprint] > 0:
                    known[one.finding.fingerprint] -= 1
                else:
                    found.append(one)
            return tuple(found)

        rows = tuple(
            ReaderRow(
                row.profile,
                row.reads,
                fresh(row.fails),
                fresh(row.misreads),
                +(Counter(row.ignores) - Counter(ignored.get(row.profile.name, {}))),
                tuple(one for one in row.leaves_out if one not in left.get(row.profile.name, ())),
            )
            for row in self.rows
        )
        survey = self._replace(rows=rows)
        return survey._replace(older=count - survey._count)

    @property
    def _count(self) -> int:
        return sum(len(row.fails) + len(row.misreads) for row in self.rows)


def _before(
    since: str, name: str, configuration: Configuration, rules: RuleSet, repository: str | None
) -> _Survey | None:
    """The same of a revision, where the set has the same place there; None where there was nothing."""
    revision = since.removesuffix(":")
    top = ""
    if os.path.lexists(name):
        top = (home_of(repository) if os.path.isdir(repository) else "") if repository else home_of(os.curdir)
        named = list(places(revision, [name], top, "--since", repository))
    elif ":" in name:
        named = [f"{revision}:{name.partition(':')[2]}"]
    else:
        raise UsageError(f"--since is about directories, files and revisions, not {name}")
    try:
        return _survey(named, configuration, rules, repository) if named else None
    except NothingThereError:
        return None


def _survey(names: list[str], configuration: Configuration, rules: RuleSet, repository: str | None) -> _Survey:
    wanted = {rule.spec.id for rule in rules.rules if rule.pack == PACK}
    rows: dict[str, ReaderRow] = {}
    sources: dict[str, bytes] = {}
    messages = 0
    for one in open_sets(names, configuration.keeps, repository=repository):
        definitions = [load(file.path, file.data) for file in one.files]
        reported = {file.path for file in one.files if file.reported}
        sources |= {file.path: file.data for file in one.files if file.reported}
        messages += sum(found.message is not None for found in definitions if found.file in reported)
        for outcome in outcomes(definitions, wanted):
            befallen = list(_befallen(definitions, [r for r in outcome.readings if r.file in reported], rules))
            row = ReaderRow(
                outcome.profile,
                outcome.reads,
                tuple(found for found in befallen if found.reading.outcome == "fails"),
                tuple(found for found in befallen if found.reading.outcome == "misreads"),
                outcome.ignored,
                outcome.unstable,
            )
            rows[outcome.profile.name] = _together(rows.get(outcome.profile.name), row)
    return _Survey(tuple(rows.values()), sources, messages)


def _together(one: ReaderRow | None, other: ReaderRow) -> ReaderRow:
    """The rows of a reader for two sets as one."""
    if one is None:
        return other
    return ReaderRow(
        one.profile,
        one.reads + other.reads,
        one.fails + other.fails,
        one.misreads + other.misreads,
        Counter(one.ignores) + Counter(other.ignores),
        one.leaves_out + other.leaves_out,
    )


def _befallen(definitions: list[Definition], readings: list[ReadingElement], rules: RuleSet) -> Iterator[Befallen]:
    """The readings that break rules, each with its place; those that a comment ignores are left out."""
    by_file: dict[str, list[Violation]] = {}
    for violation in rules.violations("reading", readings):
        by_file.setdefault(violation.anchor.file, []).append(violation)
    for one in definitions:
        violations = by_file.get(one.file, [])
        told: Callable[[Violation], str] = lambda violation: printable(violation.message)  # noqa: E731 (a key)
        known = {(violation.rule.id, told(violation)): violation.element for violation in violations}
        for finding in place(one, violations, rules) if violations else ():
            if not (rules.ignores and rules.ignores(finding.path, finding.rule)):
                yield Befallen(known[finding.rule, finding.message], finding)
