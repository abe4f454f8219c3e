"""One check, step by step: what is read, what is found in it, and what of that counts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import msgspec

from kiplint.engine.config import FailOn
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import SEVERITIES, Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, check_set
from kiplint.engine.run import Result as Checked
from kiplint.runs.configuration import Configuration
from kiplint.runs.halves import located
from kiplint.runs.reading import are_named, readings_of
from kiplint.runs.result import CheckResult, rule_infos
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import NothingThereError, SchemaFiles
from kiplint.text.show import printable

if TYPE_CHECKING:
    from kiplint.engine.place import Mender
    from kiplint.runs.baseline import Asked as AskedOfBaseline
    from kiplint.runs.mending import Mending
    from kiplint.runs.since import Base

IGNORE = "To ignore it: `// kiplint: ignore[RULE] reason` above the line, or `--ignore RULE` everywhere."


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """What was asked of a check; see `check`."""

    fail_on: FailOn | None = None
    only_failing: bool = False
    baseline: str = ""
    update_baseline: bool = False
    allow_new: bool = False
    changed_since: str | None = None
    mending: Literal["fix", "diff"] | None = None
    unsafe_fixes: bool = False
    fix_baselined: bool = False
    fixes: bool = True
    readers: bool = False
    repository: str | None = None
    stdin_filename: str = ""


class _Seen(msgspec.Struct):
    """What was come upon: the paths of the files that were asked for and of others, and names without definitions."""

    paths: list[str] = msgspec.field(default_factory=list)
    left_out: list[str] = msgspec.field(default_factory=list)
    empty: list[str] = msgspec.field(default_factory=list)


class _Told(NamedTuple):
    """The findings that count, how many are older than the change, stale entries of the baseline, and notes."""

    findings: tuple[Finding, ...]
    older: int
    stale: tuple[Mapping[str, Any], ...] | None
    notes: tuple[str, ...]


def check_sets(sets: tuple[str, ...], configuration: Configuration, asked: Asked) -> CheckResult:
    """Check what the names stand for."""
    if asked.mending == "fix":
        from kiplint.runs.changing import refuse_what_is_fixed

        refuse_what_is_fixed(sets)
    run = _Run(sets, configuration, asked)
    checked, mended = run.examined()
    found = tuple(sorted((one for result in checked for one in result.findings), key=lambda one: one.path))
    sources = {path: data for result in checked for path, data in result.sources.items()}
    told = run.told(located(found, run.seen.paths), sources, mended)
    names = frozenset().union(*(result.names for result in checked))
    failing = at_least(told.findings, asked.fail_on or configuration.config.fail_on)
    shown = failing if asked.only_failing else told.findings
    return CheckResult(
        findings=shown,
        files=len(run.seen.paths),
        messages=sum(result.messages for result in checked),
        sources=sources,
        status="findings" if failing else "ok",
        sets=sets,
        rules=rule_infos([*run.rules.known, *run.rules.rules], shown, IGNORE),
        paths=tuple(run.seen.paths),
        stale=told.stale,
        notes=(*run.seen.empty, *configuration.misnamed(run.rules, names), *told.notes),
        left_out=tuple(run.seen.left_out),
        older=told.older,
        patch=mended.change.patch(sets) if mended else None,
    )


class _Run:
    """What a check is about: the names, the rules, what was asked for, and what was come upon so far."""

    def __init__(self, names: tuple[str, ...], configuration: Configuration, asked: Asked) -> None:
        self.names, self.asked = names, asked
        self.configuration = configuration
        self.rules = configuration.rules()
        if asked.readers or are_named(configuration.config.select):
            self.rules.readings = readings_of(*self.rules.rules)
        self.seen = _Seen()
        self.baseline = self._asked_of_baseline()

    def read(self) -> Iterator[SchemaFiles]:
        """The sets, noted in `seen`; of what changed since a revision it is no mistake that there is none."""
        asked, seen = self.asked, self.seen
        try:
            for one in open_sets(
                self.names, self.configuration.keeps, asked.stdin_filename, asked.repository, seen.empty
            ):
                seen.left_out += one.left_out
                seen.paths += [file.path for file in one.files if file.wanted]
                yield one
        except NothingThereError:
            if asked.changed_since is None:
                raise
            seen.empty.clear()

    def examined(self) -> tuple[Sequence[Checked], Mending | None]:
        """What a check comes to, of the sets as they are, or as they are mended but for what was there before."""
        if not self.asked.mending:
            return tuple(_checked(self.read(), self.rules, fixes=self.asked.fixes)), None
        from kiplint.runs.mending import mend_sets
        from kiplint.runs.sparing import Sparing

        base, known = self.base, self._recorded()
        sparing = Sparing(base, known) if base or known else None
        mended = mend_sets(self.read(), self.rules, unsafe=self.asked.unsafe_fixes, sparing=sparing)
        return mended.results, mended

    @cached_property
    def base(self) -> Base | None:
        """What was there in the revision, if one was named."""
        if self.asked.changed_since is None:
            return None
        from kiplint.runs.since import read_base

        return read_base(self.asked.changed_since, self.names, self.configuration.keeps, self.rules)

    def told(self, found: tuple[Finding, ...], sources: Mapping[str, bytes], mended: Mending | None) -> _Told:
        """What is left without what is older or recorded; what was mended is written on the way."""
        everything = len(found)
        if self.base is not None:
            from kiplint.runs.since import brought_about

            found = brought_about(found, sources, self.base)
        older = everything - len(found)
        written = self.asked.mending == "fix"
        if mended and written:
            mended.change.write(self.names)
        notes: tuple[str, ...] = ()
        stale = None
        if self.baseline is not None:
            from kiplint.runs.baseline import hold_against

            found, stale, notes = hold_against(found, self.rules, self.baseline, self.configuration.base)
        if mended:
            spared, unsafe = everything - len(found), self.asked.unsafe_fixes
            notes = (*notes, mended.told(found, spared, written=written, unsafe=unsafe))
        return _Told(found, older, stale, notes)

    def _asked_of_baseline(self) -> AskedOfBaseline | None:
        asked, known = self.asked, self.configuration.config.baseline
        if not (asked.baseline or known or asked.update_baseline or asked.allow_new):
            return None
        from kiplint.runs.baseline import Asked as AskedOfBaseline

        configured = known and os.path.join(self.configuration.base, known)
        updated = asked.update_baseline, asked.allow_new
        return AskedOfBaseline(asked.baseline, configured, *updated, self.names, asked.stdin_filename)

    def _recorded(self) -> Mapping[str, int]:
        if self.baseline is None or self.asked.fix_baselined:
            return {}
        from kiplint.runs.baseline import recorded

        return recorded(self.baseline)


def _checked(sets: Iterable[SchemaFiles], rules: RuleSet, *, fixes: bool) -> Iterator[Checked]:
    mender: Mender | None = None
    if fixes:
        from kiplint.runs import mending

        mender = mending.mender
    for one in sets:
        files = (Input(file.path, file.data, file.wanted) for file in one.files)
        yield check_set(files, rules, directory=one.directory, partial=one.lone, mender=mender)


def at_least(findings: tuple[Finding, ...], fail_on: str) -> tuple[Finding, ...]:
    """The findings that are as severe as `fail_on` says. Raises UsageError for a level that there is not."""
    if fail_on not in get_args(FailOn):
        raise UsageError(f"fail_on: {printable(fail_on)} is none of {', '.join(get_args(FailOn))}")
    grave = () if fail_on == "never" else SEVERITIES[: SEVERITIES.index(fail_on) + 1]
    return tuple(one for one in findings if one.severity in grave)
