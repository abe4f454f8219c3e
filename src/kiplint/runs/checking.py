"""One check, step by step: what is read, what is found in it, and what of that counts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

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
    from kiplint.runs.baseline import Asked as BaselineOptions
    from kiplint.runs.mending import Mending
    from kiplint.runs.since import Base

IGNORE = "To ignore it: `// kiplint: ignore[RULE] reason` above the line, or `--ignore RULE` everywhere."


class CheckOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options of a check, as `check` documents them. They are passed on whole, never copied one by one."""

    fail_on: FailOn | None = None
    only_failing: bool = False
    baseline: str = ""
    update_baseline: bool = False
    allow_new: bool = False
    changed_since: str | None = None
    as_hook: bool = False
    mending: Literal["fix", "diff"] | None = None
    unsafe_fixes: bool = False
    fix_baselined: bool = False
    fixes: bool = True
    readers: bool = False
    repository: str | None = None
    stdin_filename: str = ""


class Part(NamedTuple):
    """Sets that are checked together, and the options; those of other parts differ in `changed_since` alone."""

    names: tuple[str, ...]
    options: CheckOptions


class _Outcome(NamedTuple):
    """The results of a part's sets, what was fixed, and its findings: all, and those that are not older."""

    results: Sequence[Checked]
    mended: Mending | None
    everything: tuple[Finding, ...]
    recent: tuple[Finding, ...]
    sources: Mapping[str, bytes]


def check_sets(parts: Sequence[Part], configuration: Configuration) -> CheckResult:
    """Check the sets of all parts, and compare their findings with one baseline.

    Only a single part can be fixed. The counts of files and messages are those of the first part.
    """
    options, names = parts[0].options, tuple(dict.fromkeys(name for part in parts for name in part.names))
    if options.mending == "fix":
        from kiplint.runs.changing import refuse_what_is_fixed

        refuse_what_is_fixed(names)
    rules = configuration.rules()
    if options.readers or are_named(configuration.config.select):
        rules.readings = readings_of(*rules.rules)
    baseline = _baseline_options(names, configuration, options)
    runs = [_Run(part, configuration, rules, baseline) for part in parts]
    outcomes = [run.outcome() for run in runs]
    everything = _joined([outcome.everything for outcome in outcomes])
    recent = _joined([outcome.recent for outcome in outcomes])
    mended = outcomes[0].mended
    if mended and options.mending == "fix":
        mended.change.write(names)
    findings, stale = recent, None
    notes: tuple[str, ...] = ()
    if baseline is not None:
        from kiplint.runs.baseline import hold_against

        findings, stale, notes = hold_against(recent, everything, rules, baseline, configuration.base)
    if mended:
        spared, written = len(everything) - len(findings), options.mending == "fix"
        notes = (*notes, mended.told(findings, spared, written=written, unsafe=options.unsafe_fixes))
    messages = frozenset().union(*(result.names for outcome in outcomes for result in outcome.results))
    if names:
        notes = (*configuration.misnamed(rules, messages), *notes)
    failing = at_least(findings, options.fail_on or configuration.config.fail_on)
    shown = failing if options.only_failing else findings
    return CheckResult(
        findings=shown,
        files=len(runs[0].seen.paths),
        messages=sum(result.messages for result in outcomes[0].results),
        sources={path: data for outcome in reversed(outcomes) for path, data in outcome.sources.items()},
        status="findings" if failing else "ok",
        sets=parts[0].names,
        rules=rule_infos([*rules.known, *rules.rules], shown, IGNORE),
        paths=tuple(runs[0].seen.paths),
        stale=stale,
        notes=(*dict.fromkeys(note for run in runs for note in run.seen.empty), *notes),
        left_out=tuple(dict.fromkeys(name for run in runs for name in run.seen.left_out)),
        older=len(everything) - len(recent),
        patch=mended.change.patch(names) if mended else None,
    )


class _Seen(msgspec.Struct):
    """What was come upon: the paths of the files that were asked for and of others, and names without definitions."""

    paths: list[str] = msgspec.field(default_factory=list)
    left_out: list[str] = msgspec.field(default_factory=list)
    empty: list[str] = msgspec.field(default_factory=list)


class _Run:
    """The check of a part: its sets, the rules, the options, and what was come upon so far."""

    def __init__(
        self, part: Part, configuration: Configuration, rules: RuleSet, baseline: BaselineOptions | None
    ) -> None:
        self.names, self.options = part
        self.configuration, self.rules, self.baseline = configuration, rules, baseline
        self.seen = _Seen()

    def outcome(self) -> _Outcome:
        """Check the sets."""
        results, mended = self._examined()
        found = tuple(sorted((one for result in results for one in result.findings), key=lambda one: one.path))
        sources = {path: data for result in results for path, data in result.sources.items()}
        everything = recent = located(found, self.seen.paths)
        if self.base is not None:
            from kiplint.runs.since import brought_about

            recent = brought_about(everything, sources, self.base)
        return _Outcome(results, mended, everything, recent, sources)

    @cached_property
    def base(self) -> Base | None:
        """What was there in the revision, if one was named."""
        if self.options.changed_since is None:
            return None
        from kiplint.runs.since import read_base

        return read_base(self.options.changed_since, self.names, self.configuration.keeps, self.rules)

    def _read(self) -> Iterator[SchemaFiles]:
        """The sets, noted in `seen`; of what changed since a revision it is no mistake that there is none."""
        options, seen = self.options, self.seen
        if not self.names:
            return
        try:
            for one in open_sets(
                self.names, self.configuration.keeps, options.stdin_filename, options.repository, seen.empty
            ):
                seen.left_out += one.left_out
                seen.paths += [file.path for file in one.files if file.wanted]
                yield one
        except NothingThereError:
            if options.changed_since is None:
                raise
            seen.empty.clear()

    def _examined(self) -> tuple[Sequence[Checked], Mending | None]:
        """What a check comes to, of the sets as they are, or as they are mended but for what was there before."""
        if not (self.options.mending and self.names):
            return tuple(_checked(self._read(), self.rules, fixes=self.options.fixes)), None
        from kiplint.runs.mending import mend_sets
        from kiplint.runs.sparing import Sparing

        base, known = self.base, self._recorded()
        sparing = Sparing(base, known) if base or known else None
        mended = mend_sets(self._read(), self.rules, unsafe=self.options.unsafe_fixes, sparing=sparing)
        return mended.results, mended

    def _recorded(self) -> Mapping[str, int]:
        if self.baseline is None or self.options.fix_baselined:
            return {}
        from kiplint.runs.baseline import recorded

        return recorded(self.baseline)


def _baseline_options(
    names: tuple[str, ...], configuration: Configuration, options: CheckOptions
) -> BaselineOptions | None:
    known = configuration.config.baseline
    if not (options.baseline or known or options.update_baseline or options.allow_new):
        return None
    from kiplint.runs.baseline import Asked as BaselineOptions

    configured = known and os.path.join(configuration.base, known)
    updated = options.update_baseline, options.allow_new
    return BaselineOptions(options.baseline, configured, *updated, names, options.stdin_filename)


def _joined(parts: Sequence[tuple[Finding, ...]]) -> tuple[Finding, ...]:
    """The findings of all parts; what an earlier part has of the same directory is not repeated."""
    if len(parts) == 1:
        return parts[0]
    joined: list[Finding] = []
    known: set[tuple[str, str]] = set()
    for findings in parts:
        keys = [(os.path.realpath(os.path.dirname(finding.path)), finding.identity) for finding in findings]
        joined += [finding for finding, key in zip(findings, keys, strict=True) if key not in known]
        known.update(keys)
    return tuple(joined)


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
