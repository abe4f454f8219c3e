"""The check of schema sets against the rules."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from operator import attrgetter
from types import MappingProxyType
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import replace

from kiplint.compat.released import Releases, releases_note, releases_of, releases_or_base
from kiplint.compat.since import BaseState, new_since, read_base
from kiplint.engine.baseline import (
    BaselineFile,
    BaselineResult,
    StaleEntry,
    apply_baseline,
    are_among,
    new_findings,
    read_baseline,
)
from kiplint.engine.config import Configuration, FailOn, Path, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Result, check_set
from kiplint.fixes.fix import FixedSet, Fixes, count_fixable, fix_set, safely_fixable
from kiplint.fixes.fixers import make_fix
from kiplint.fixes.regressions import CheckedFiles, Files
from kiplint.fixes.write import require_files
from kiplint.render.report import FindingsSummary, Report, at_least
from kiplint.sources.archive import ARCHIVES
from kiplint.sources.disk import STDIN
from kiplint.sources.git import work_tree_of
from kiplint.sources.open import open_sets
from kiplint.sources.schema_files import NothingThereError, SchemaFiles, SourceError
from kiplint.text.words import first_of, plural

HEAD: Final = "HEAD"


class CheckSummary(FindingsSummary, frozen=True, omit_defaults=True):
    """The numbers of a check."""

    left_out: Annotated[
        int, Meta(description="JSON files next to definitions that are not definitions; omitted if 0.")
    ] = 0
    older: Annotated[int, Meta(description="With --changed-since: the number of older findings; omitted if 0.")] = 0


class CheckDocument(msgspec.Struct, frozen=True):
    """What `kiplint check --output-format json` writes."""

    version: Literal[1]
    findings: tuple[Finding, ...]
    summary: CheckSummary
    stale: Annotated[tuple[StaleEntry, ...] | UnsetType, Meta(description="With a baseline: its stale entries.")] = (
        UNSET
    )


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
) -> CheckResult:
    """Check directories, files, archives or revisions (`REV:path` of the `repository`), by default `.`.

    The status is `findings` when a finding is at least as severe as `fail_on`, by default that of the configuration.
    No fix breaks a released version: one that a release of the configuration has, as in `diff`; without such releases,
    one that the revision `changed_since`, by default HEAD, has.

    `fix` writes fixes to the files, `diff` only to the result's `patch`; the findings of the result are those that
    remain. Findings in the baseline and findings older than the change are not fixed; without `changed_since`, those
    that HEAD has are fixed only if `whole` is set.
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
    )
    return check_sets(options)


class CheckOptions(msgspec.Struct, frozen=True, dict=True):
    """What is checked, against which rules, and what else is done, as the parameters of `check` say.

    With `strict`, `changed_since` leaves out a finding that the base has too, even if its line was changed.
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

    @cached_property
    def other_rules(self) -> RuleSet:
        """The default rules that are not selected: no fix may break them either."""
        running_ids = {rule.id for rule in self.rules.rules}
        default_rules = self.configuration.default_and_selected_rules().rules
        return RuleSet([rule for rule in default_rules if rule.id not in running_ids], self.rules.all_rules)

    @property
    def writes(self) -> bool:
        """Whether fixes are written to the files."""
        return self.fix and not self.diff


class _Inputs(NamedTuple):
    """What a check reads: the sets, notes on directories without definitions, the baseline, and the base's findings."""

    sets: Sequence[SchemaFiles]
    empty_notes: Sequence[str]
    baseline: BaselineFile | None
    base: BaseState | None

    @property
    def paths(self) -> list[str]:
        """The files whose findings are reported."""
        return [file.path for schemas in self.sets for file in schemas.files if file.is_reported]


def check_sets(options: CheckOptions) -> CheckResult:
    """Read the sets, check or fix them, leave out the findings that are not new, and report the others."""
    inputs = _read(options)
    results = [_check(options, inputs.base, schemas) for schemas in inputs.sets]
    fixes = None
    if options.fix or options.diff:
        results, fixes = _fix(options, inputs, results)
    else:
        results = [
            _without_refused_fixes(options, inputs.base, schemas, result)
            for schemas, result in zip(inputs.sets, results, strict=True)
        ]
    comparison, older_count = _leave_out_old(options, inputs, results)
    return _report(options, inputs, results, fixes, comparison, older_count)


def _read(options: CheckOptions) -> _Inputs:
    """Read the sets, and what they are compared with. Without a base, it is an error if there is no set."""
    if options.writes:
        require_files(options.names)
    baseline = _baseline(options)
    keeps, since = options.configuration.keeps, options.changed_since
    base = None
    if since is not None:
        base = read_base(since, options.names, keeps, options.rules, strict=options.strict)
    empty_notes: list[str] = []  # about names without definitions; `open_sets` fills it
    try:
        sets = [*open_sets(options.names, keeps, repository=options.repository, empty=empty_notes)]
    except NothingThereError:
        if base is None:
            raise
        return _Inputs((), (), baseline, base)
    return _Inputs(sets, empty_notes, baseline, base)


def _baseline(options: CheckOptions) -> BaselineFile | None:
    """The baseline that the user names, else the one that the configuration names, or None."""
    configuration, is_updated = options.configuration, options.update_baseline
    if options.baseline:
        return BaselineFile(options.baseline, is_updated, files=configuration.files)
    if configuration.config.baseline:
        path = os.path.join(configuration.base, configuration.config.baseline)
        relative_path = os.path.relpath(path)
        shown_path = path if relative_path.startswith("..") else relative_path
        return BaselineFile(shown_path, is_updated, config_folder=configuration.base, files=configuration.files)
    if is_updated:
        raise UsageError("--update-baseline requires a baseline; name it with --baseline FILE")
    return None


def _check(options: CheckOptions, base: BaseState | None, schemas: SchemaFiles) -> Result:
    """The result of one set, whose findings have all fixes, whatever these make worse."""
    return check_set(
        schemas.files,
        options.rules,
        directory=schemas.directory,
        single_file=schemas.single_file,
        fixer=make_fix,
        base=base.at(schemas.directory) if base else None,
    )


def _fix(options: CheckOptions, inputs: _Inputs, results: Sequence[Result]) -> tuple[list[Result], Fixes]:
    """Fix the findings that neither the baseline nor the base has; write the files unless only a patch is wanted.

    Without a base, findings that HEAD has are not fixed either; `older` counts those that have a fix. Returns the
    results after the fixes.
    """
    findings = [finding for result in results for finding in result.findings]
    baseline = read_baseline(inputs.baseline) if inputs.baseline else None
    new_to_baseline = new_findings(findings, baseline.counts if baseline else {})
    new_to_base = new_to_baseline
    if any(finding.fix for finding in new_to_baseline):  # else HEAD need not be checked
        new_to_base = _recent(new_to_baseline, _sources(results), inputs.base or _head_as_base(options))
    ids_to_fix = {id(finding) for finding in new_to_base}  # findings of two sets may be equal
    releases = _releases_to_preserve(options) if any(finding.fix for finding in new_to_base) else None

    new_results: list[Result] = []
    fixed_sets: list[FixedSet] = []
    for schemas, result in zip(inputs.sets, results, strict=True):
        counts_to_leave = Counter(item.fingerprint for item in result.findings if id(item) not in ids_to_fix)
        new_result = result
        if any(finding.fix and id(finding) in ids_to_fix for finding in result.findings):
            check = partial(_check_files, options, inputs.base, schemas, counts_to_leave)
            fixed_set = fix_set(check(_data_of(schemas)), check, unsafe=options.unsafe_fixes, releases=releases)
            fixed_sets.append(fixed_set)
            new_result = _check(options, inputs.base, _with_data(schemas, fixed_set.after))
        new_result.findings = _without_fixes(new_result.findings, counts_to_leave)
        new_results.append(new_result)
    fixes = Fixes(fixed_sets)
    if options.writes:
        fixes.change.write()
    if not inputs.base:
        older = count_fixable(new_to_baseline, options.unsafe_fixes) - count_fixable(new_to_base, options.unsafe_fixes)
        fixes = fixes._replace(older=older)
    return new_results, fixes


def _without_refused_fixes(
    options: CheckOptions, base: BaseState | None, schemas: SchemaFiles, result: Result
) -> Result:
    """The result, in which the findings whose safe fixes `check --fix` would refuse have no fix."""
    if not safely_fixable(result.findings):
        return result  # unsafe fixes are tried only when --unsafe-fixes applies them
    check = partial(_check_files, options, base, schemas, {})
    refusals = fix_set(check(_data_of(schemas)), check).refusals
    refused_fingerprints = {finding.fingerprint for finding, _ in refusals}
    result.findings = [
        finding.with_fix(None) if finding.fingerprint in refused_fingerprints else finding
        for finding in result.findings
    ]
    return result


def _check_files(
    options: CheckOptions,
    base: BaseState | None,
    schemas: SchemaFiles,
    counts_to_leave: Mapping[str, int],
    files: Files,
) -> CheckedFiles:
    """A set with other bytes in its files, checked against all rules, which no fix may break: also those not selected.

    The findings that `counts_to_leave` counts have no fix.
    """
    changed_schemas = _with_data(schemas, files)
    result = _check(options, base, changed_schemas)
    other_result = _check(replace(options, rules=options.other_rules), None, changed_schemas)
    return CheckedFiles(files, _without_fixes(result.findings, counts_to_leave), other_result.findings)


def _data_of(schemas: SchemaFiles) -> Files:
    """The bytes of the files of a set, by path."""
    return {file.path: file.data for file in schemas.files}


def _with_data(schemas: SchemaFiles, files: Files) -> SchemaFiles:
    """The set with other bytes in some of its files."""
    changed_files = [replace(file, data=files.get(file.path, file.data)) for file in schemas.files]
    return replace(schemas, files=tuple(changed_files))


def _without_fixes(findings: Sequence[Finding], counts_to_leave: Mapping[str, int]) -> list[Finding]:
    """The findings; as many of each fingerprint as `counts_to_leave` says have lost their fix."""
    are_to_leave = are_among(findings, counts_to_leave)
    return [
        finding.with_fix(None) if is_to_leave else finding
        for finding, is_to_leave in zip(findings, are_to_leave, strict=True)
    ]


def _head_as_base(options: CheckOptions) -> BaseState | None:
    """HEAD, whose findings are not fixed; None if all are to be fixed, or if the sets are not in one work tree."""
    are_on_disk = all(os.path.lexists(name) and not name.lower().endswith(ARCHIVES) for name in options.names)
    work_trees = {work_tree_of(_directory(name)) for name in options.names}
    if options.whole or not are_on_disk or len(work_trees) > 1 or "" in work_trees:
        return None
    (work_tree,) = work_trees
    with suppress(SourceError):  # git is missing or refuses the repository
        return read_base(HEAD, options.names, options.configuration.keeps, options.rules, repository=work_tree)
    return None


def _releases_to_preserve(options: CheckOptions) -> Releases | None:
    """The releases that no fix may break; without any, what the base or else HEAD has; None for all versions."""
    if options.changed_since:
        return releases_or_base(options.configuration, options.changed_since)
    work_tree = work_tree_of(_directory(options.names[0]))
    if work_tree:
        return releases_or_base(options.configuration, HEAD, repository=work_tree)
    return releases_of(options.configuration, "")


def _directory(name: str) -> str:
    """The directory that a path of a set is, or that its file is in."""
    return name if os.path.isdir(name) else os.path.dirname(name) or os.curdir


def _leave_out_old(options: CheckOptions, inputs: _Inputs, results: Sequence[Result]) -> tuple[BaselineResult, int]:
    """The findings that neither the base nor the baseline has, with the stale entries; and how many the base has."""
    findings = [finding for result in results for finding in result.findings]
    sorted_findings = tuple(sorted(findings, key=attrgetter("path")))  # those of all sets in one order
    recent = _recent(sorted_findings, _sources(results), inputs.base)
    comparison = BaselineResult(recent)
    if inputs.baseline:
        are_all_readable = sum(result.messages for result in results) == len(inputs.paths)
        is_whole = inputs.base is None and are_all_readable
        comparison = apply_baseline(recent, options.rules, inputs.baseline, options.names, is_whole=is_whole)
    return comparison, len(findings) - len(recent)


def _recent(findings: tuple[Finding, ...], sources: Mapping[str, bytes], base: BaseState | None) -> tuple[Finding, ...]:
    """The findings that the base does not have; all without a base."""
    if base is None:
        return findings
    return new_since(findings, sources, base)


def _sources(results: Iterable[Result]) -> dict[str, bytes]:
    """The bytes of every file that has findings, by path."""
    return {path: data for result in results for path, data in result.sources.items()}


def _report(
    options: CheckOptions,
    inputs: _Inputs,
    results: Sequence[Result],
    fixes: Fixes | None,
    comparison: BaselineResult,
    older_count: int,
) -> CheckResult:
    """The result with the findings that the baseline does not have, and notes on what was read, recorded and fixed."""
    findings = comparison.findings
    notes = [*_notes(options, inputs), *comparison.notes]
    if fixes:
        hidden = sum(len(result.findings) for result in results) - len(findings)
        notes += fixes.notes(findings, hidden, is_written=options.writes, unsafe=options.unsafe_fixes)
    fail_on = options.fail_on or options.configuration.config.fail_on
    left_out = [path for schemas in inputs.sets for path in schemas.left_out]
    return CheckResult(
        findings=findings,
        files=len(inputs.paths),
        messages=sum(result.messages for result in results),
        sources=_sources(results),
        status="findings" if at_least(findings, fail_on) else "ok",
        sets=options.names,
        rules=options.rules.by_id,
        paths=tuple(inputs.paths),
        stale=comparison.stale,
        notes=tuple(notes),
        left_out=tuple(dict.fromkeys(left_out)),
        older=older_count,
        patch=fixes.change.patch(options.names) if fixes else None,
        whole=options.whole,
    )


def _notes(options: CheckOptions, inputs: _Inputs) -> Iterator[str]:
    """Which directories are empty, which links are not followed, and with --changed-since which versions are released.

    A review has its own note on releases.
    """
    yield from inputs.empty_notes
    links = [*dict.fromkeys(link for schemas in inputs.sets for link in schemas.links)]
    if links:
        yield f"{plural(len(links), 'link')} not followed: {first_of(links, 3)}"
    if options.changed_since and not options.strict:
        base = f"{options.changed_since}:"
        yield from releases_note(releases_of(options.configuration, base), base)
