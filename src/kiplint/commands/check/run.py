"""The check of schema sets against the rules."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from kiplint.engine.baseline import (
    BaselineFile,
    BaselineResult,
    StaleEntry,
    apply_baseline,
    new_findings,
    read_baseline,
)
from kiplint.engine.config import Configuration, FailOn, Path, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Fix, Violation
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Result, check_set
from kiplint.render.report import FindingsSummary, Report, at_least
from kiplint.sources.disk import STDIN
from kiplint.sources.git import home_of
from kiplint.sources.open import ARCHIVES, open_sets
from kiplint.sources.schema_files import NothingThereError, SchemaFiles, SourceError
from kiplint.text.words import first_of, plural

if TYPE_CHECKING:
    from kiplint.commands.check.fix import Fixes
    from kiplint.compat.released import Releases
    from kiplint.compat.since import BaseState

HEAD: Final = "HEAD"


class CheckSummary(FindingsSummary, frozen=True, omit_defaults=True):
    """The numbers of a check."""

    left_out: Annotated[
        int, Meta(description="JSON files beside definitions that are not definitions; left out for 0.")
    ] = 0
    older: Annotated[int, Meta(description="With --changed-since: what was there before; left out for 0.")] = 0


class CheckDocument(msgspec.Struct, frozen=True):
    """What `kiplint check --output-format json` writes."""

    version: Literal[1]
    findings: tuple[Finding, ...]
    summary: CheckSummary
    stale: Annotated[
        tuple[StaleEntry, ...] | UnsetType, Meta(description="Where a baseline is used: its entries to drop.")
    ] = UNSET


class CheckResult(Report, frozen=True):
    """The result of `check`."""

    stale: tuple[StaleEntry, ...] | None = None
    """The entries of the baseline that record more findings than there are; None without a baseline."""
    patch: bytes | None = None
    """The unified diff of the fixes; None where none were to be made."""

    command = "check"

    @property
    def document(self) -> CheckDocument:
        """The content of the JSON output."""
        stale = UNSET if self.stale is None else self.stale
        return CheckDocument(1, self.findings, CheckSummary(**self.summary), stale)


def check(
    *sets: Path,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    severity: Mapping[str, str] = MappingProxyType({}),
    fail_on: FailOn | None = None,
    fix: bool = False,
    unsafe_fixes: bool = False,
    diff: bool = False,
    baseline: Path | None = None,
    update_baseline: bool = False,
    changed_since: str | None = None,
    whole: bool = False,
    config: Path | Mapping[str, Any] | None = None,
    isolated: bool = False,
    repository: Path | None = None,
    with_fixes: bool = True,
) -> CheckResult:
    """Check directories, files, archives or revisions (`REV:path` of the `repository`), by default `.`.

    The status is `findings` when a finding is at least as severe as `fail_on`, by default that of the configuration.
    With `changed_since`, fixes change no version that is released: that a release of the configuration has, as in
    `diff`; without any, that the revision has.

    `fix` writes fixes to the files, `diff` only to the result's `patch`; the findings of the result are those that
    remain. Findings in the baseline and findings older than the change are not fixed; without `changed_since`, those
    that HEAD has are fixed only if `whole` is set. Unless `with_fixes` is set, findings carry no fix.
    Raises UsageError for mistakes in the arguments, the configuration or a pack, and for files that cannot be written,
    and SourceError for files that cannot be opened.
    """
    names = tuple(os.fspath(name) for name in sets) or (".",)
    start = "" if names[0] == STDIN else names[0]
    configuration = configure(start, select=select, ignore=ignore, severity=severity, config=config, isolated=isolated)
    options = CheckOptions(
        names,
        configuration,
        configuration.rules(),
        fail_on=fail_on,
        fix=fix,
        diff=diff,
        unsafe_fixes=unsafe_fixes,
        baseline=os.fspath(baseline) if baseline else "",
        update_baseline=update_baseline,
        changed_since=changed_since,
        whole=whole,
        repository=os.fspath(repository) if repository else None,
        with_fixes=with_fixes,
    )
    return check_sets(options)


class CheckOptions(msgspec.Struct, frozen=True):
    """What is checked, against which rules, and what is done beside, as the parameters of `check` say.

    With `strict`, `changed_since` leaves out what the base has too, even if its line was changed.
    """

    names: tuple[str, ...]
    configuration: Configuration
    rules: RuleSet
    fail_on: FailOn | None = None
    fix: bool = False
    diff: bool = False
    unsafe_fixes: bool = False
    baseline: str = ""
    update_baseline: bool = False
    changed_since: str | None = None
    strict: bool = False
    whole: bool = False
    repository: str | None = None
    with_fixes: bool = True

    @property
    def writes(self) -> bool:
        """Whether fixes are written to the files."""
        return self.fix and not self.diff


def check_sets(options: CheckOptions) -> CheckResult:
    """Read the sets, check or fix them, leave out what is known, and report the rest."""
    if options.writes:
        from kiplint.fixes.write import require_files

        require_files(options.names)
    baseline, base, inputs = _baseline(options), _base(options), _read(options)
    fixes = _fixes(options, inputs, base, baseline) if options.fix or options.diff else None
    results = fixes.results if fixes else [_check_set(options, base, schemas) for schemas in inputs.sets]
    all_findings = tuple(sorted((item for result in results for item in result.findings), key=attrgetter("path")))
    sources = _sources(results)
    recent_findings = _recent(all_findings, sources, base)
    messages = sum(result.messages for result in results)
    if fixes and options.writes:
        fixes.change.write()
    comparison = BaselineResult(recent_findings)
    if baseline:
        is_whole = base is None and messages == len(inputs.paths)
        comparison = apply_baseline(recent_findings, options.rules, baseline, options.names, is_whole=is_whole)
    notes = [*_notes(options, inputs), *comparison.notes]
    if fixes:
        others = len(all_findings) - len(comparison.findings)
        notes += fixes.notes(comparison.findings, others, is_written=options.writes, unsafe=options.unsafe_fixes)
    fail_on = options.fail_on or options.configuration.config.fail_on
    return CheckResult(
        findings=comparison.findings,
        files=len(inputs.paths),
        messages=messages,
        sources=sources,
        status="findings" if at_least(comparison.findings, fail_on) else "ok",
        sets=options.names,
        rules=options.rules.by_id,
        paths=tuple(inputs.paths),
        stale=comparison.stale,
        notes=tuple(notes),
        left_out=tuple(dict.fromkeys(path for schemas in inputs.sets for path in schemas.left_out)),
        older=len(all_findings) - len(recent_findings),
        patch=fixes.change.patch(options.names) if fixes else None,
        whole=options.whole,
    )


class _Input(NamedTuple):
    """The sets, and the names of those that are empty."""

    sets: Sequence[SchemaFiles]
    empty: Sequence[str]

    @property
    def paths(self) -> list[str]:
        """The files whose findings are reported."""
        return [file.path for schemas in self.sets for file in schemas.files if file.is_reported]


def _read(options: CheckOptions) -> _Input:
    """The sets. Having none is an error only where nothing is compared."""
    empty: list[str] = []
    try:
        sets = [*open_sets(options.names, options.configuration.keeps, repository=options.repository, empty=empty)]
    except NothingThereError:
        if options.changed_since is None:
            raise
        return _Input((), ())
    return _Input(sets, empty)


def _base(options: CheckOptions) -> BaseState | None:
    """The findings of the revision `changed_since`."""
    if options.changed_since is None:
        return None
    from kiplint.compat.since import read_base

    return read_base(
        options.changed_since, options.names, options.configuration.keeps, options.rules, strict=options.strict
    )


def _baseline(options: CheckOptions) -> BaselineFile | None:
    """The file of known findings, if one is named or configured; one that a configuration names is in its work tree."""
    configuration, updates = options.configuration, options.update_baseline
    if options.baseline:
        return BaselineFile(options.baseline, updates, files=configuration.files)
    if not configuration.config.baseline:
        if updates:
            raise UsageError("--update-baseline writes a baseline: name it by --baseline FILE")
        return None
    path = os.path.join(configuration.base, configuration.config.baseline)
    inner = os.path.relpath(path)
    return BaselineFile(path if inner.startswith("..") else inner, updates, configuration.base, configuration.files)


def _check(options: CheckOptions, base: BaseState | None, schemas: SchemaFiles) -> Result:
    """The result of one set as it is."""
    return check_set(
        schemas.files,
        options.rules,
        directory=schemas.directory,
        single_file=schemas.single_file,
        fixer=_make_fix if options.with_fixes or options.fix or options.diff else None,
        base=base.at(schemas.directory) if base else None,
    )


def _check_set(options: CheckOptions, base: BaseState | None, schemas: SchemaFiles) -> Result:
    """The result of one set as it is, with the fixes that `check --fix` would not refuse."""
    result = _check(options, base, schemas)
    if not any(finding.fix and finding.fix.applicability == "safe" for finding in result.findings):
        return result  # a person reviews the other fixes, and `check --fix` tries them then
    from kiplint.commands.check.fix import without_refused_fixes

    check_others = partial(_check, _other_rules(options), None)
    return without_refused_fixes(schemas, result, partial(_check, options, base), check_others)


def _make_fix(violation: Violation, pointer: str, files: Mapping[str, bytes]) -> Fix | None:
    """The fix of a violation. The fixers are imported with the first violation that has one."""
    from kiplint.fixes.fixers import make_fix

    return make_fix(violation, pointer, files)


def _fixes(options: CheckOptions, inputs: _Input, base: BaseState | None, baseline: BaselineFile | None) -> Fixes:
    """The results of the sets with their fixes. What the base, or else HEAD, or the baseline has is not fixed."""
    from kiplint.commands.check.fix import count_fixable, fix_sets

    results = [_check(options, base, schemas) for schemas in inputs.sets]
    accepted_baseline = read_baseline(baseline) if baseline else None
    findings = [finding for result in results for finding in result.findings]
    visible = new_findings(findings, accepted_baseline.counts if accepted_baseline else {})
    recent = visible
    if any(finding.fix for finding in visible):
        recent = _recent(visible, _sources(results), base or _head(options))
    fixes = fix_sets(
        zip(inputs.sets, results, strict=True),
        recent,
        partial(_check, options, base),
        partial(_check, _other_rules(options), None),
        unsafe=options.unsafe_fixes,
        releases=cache(partial(_fixed_releases, options)),
    )
    if base is None:
        fixes.older = count_fixable(visible, options.unsafe_fixes) - count_fixable(recent, options.unsafe_fixes)
    return fixes


def _other_rules(options: CheckOptions) -> CheckOptions:
    """The options with the rules that do not run, which no fix may break either."""
    from kiplint.fixes.apply import all_rules

    running, every = {rule.id for rule in options.rules.rules}, all_rules(options.configuration)
    others = RuleSet([rule for rule in every.rules if rule.id not in running], every.all_rules)
    return replace(options, rules=others, with_fixes=False, fix=False, diff=False)


def _head(options: CheckOptions) -> BaseState | None:
    """The findings of HEAD, which are not fixed; None outside a repository, and where all are to be fixed."""
    homes = {home_of(_folder(name)) for name in options.names}
    home = homes.pop()
    if options.whole or homes or not home or not all(map(os.path.lexists, options.names)):
        return None
    if any(name.lower().endswith(ARCHIVES) for name in options.names):
        return None
    from kiplint.compat.since import read_base

    with suppress(SourceError):  # git is missing or refuses the repository
        return read_base(HEAD, options.names, options.configuration.keeps, options.rules, repository=home)
    return None


def _fixed_releases(options: CheckOptions) -> Releases | None:
    """The releases that no fix may break; without any, what the base or HEAD has."""
    from kiplint.compat.released import releases_of, releases_or_base

    since, place = options.changed_since, home_of(_folder(options.names[0]))
    if since or place:
        return releases_or_base(options.configuration, since or HEAD, repository=None if since else place)
    return releases_of(options.configuration, "")


def _folder(name: str) -> str:
    """The directory of a set that a path names."""
    return name if os.path.isdir(name) else os.path.dirname(name) or os.curdir


def _sources(results: Iterable[Result]) -> dict[str, bytes]:
    return {path: data for result in results for path, data in result.sources.items()}


def _recent(findings: tuple[Finding, ...], sources: Mapping[str, bytes], base: BaseState | None) -> tuple[Finding, ...]:
    """The findings that the base does not have."""
    if base is None:
        return findings
    from kiplint.compat.since import new_since

    return new_since(findings, sources, base)


def _notes(options: CheckOptions, inputs: _Input) -> Iterator[str]:
    """What is empty or not followed; and which versions are released, if that is asked."""
    yield from inputs.empty
    if links := [*dict.fromkeys(link for schemas in inputs.sets for link in schemas.links)]:
        yield f"{plural(len(links), 'link')} not followed: {first_of(links, 3)}"
    if options.changed_since and not options.strict:
        from kiplint.compat.released import releases_note, releases_of

        place = f"{options.changed_since}:"
        yield from releases_note(releases_of(options.configuration, place), place)
