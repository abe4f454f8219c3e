"""The check of schema sets against the rules."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    new_findings,
    read_baseline,
)
from kiplint.engine.config import Configuration, FailOn, StrPath, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Result, check_set
from kiplint.fixes.fix import FixedSet, Fixes, fix_set
from kiplint.fixes.fixers import make_fix
from kiplint.fixes.regressions import CheckedFiles, Files
from kiplint.fixes.write import require_files
from kiplint.render.report import FindingsSummary, Report, at_least
from kiplint.sources.disk import STDIN
from kiplint.sources.open import OpenedSets, open_sets
from kiplint.sources.repository import HERE, Repository, open_repository, work_tree_of
from kiplint.sources.schema_files import NothingThereError, SchemaFiles
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
    base: str = ""
    """The revision that it is compared with; empty for none."""

    command = "check"

    @property
    def fix_commands(self) -> tuple[str, str]:
        """The command that applies the safe fixes, and the one that applies the others too."""
        base = f" --changed-since {self.base}" if self.base else ""
        return f"`kiplint check{base} --fix`", f"`kiplint check{base} --fix --unsafe-fixes`"

    @property
    def document(self) -> CheckDocument:
        """The content of the JSON output."""
        stale = UNSET if self.stale is None else self.stale
        return CheckDocument(1, self.findings, CheckSummary(**self.summary), stale)


def check(
    *sets: StrPath,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    severity: Mapping[str, str] = MappingProxyType({}),
    fail_on: FailOn | None = None,
    fix: bool = False,
    unsafe_fixes: bool = False,
    diff: bool = False,
    baseline: StrPath | None = None,
    update_baseline: bool = False,
    changed_since: str | None = None,
    whole: bool = False,
    config: StrPath | Mapping[str, Any] | None = None,
    isolated: bool = False,
    repository: StrPath | None = None,
) -> CheckResult:
    """Check directories, files, archives or revisions (`REV:path` of the `repository`), by default `.`.

    The status is `findings` when a finding is at least as severe as `fail_on`, by default that of the configuration.
    No fix breaks a released version: one that a release of the configuration has, as in `diff`; without such releases,
    one that the revision `changed_since`, by default HEAD, has.

    `fix` writes fixes to the files, `diff` only to the result's `patch`; the findings of the result are those that
    remain. What the check does not report, because the baseline or `changed_since` has it, is not fixed.
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
        repository=open_repository(repository),
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
    repository: Repository = HERE

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
    """What a check reads: the sets, notes on what was opened, the baseline, and the base's findings."""

    sets: Sequence[SchemaFiles]
    notes: Sequence[str]
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
    opened = OpenedSets(())
    try:
        opened = open_sets(options.names, keeps, options.repository)
    except NothingThereError:
        if base is None:
            raise
    return _Inputs(*opened, baseline, base)


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
    """The result of one set. Its findings have fixes, with `strict` only those that edit no file as the base has it."""
    result = check_set(
        schemas.files,
        options.rules,
        directory=schemas.directory,
        single_file=schemas.single_file,
        fixer=make_fix,
        base=base.at(schemas.directory) if base else None,
    )
    if options.strict and base:
        edited_paths = {edit.path for finding in result.findings if finding.fix for edit in finding.fix.edits}
        unchanged_paths = {path for path in edited_paths if base.has(path, result.sources[path])}
        result.findings = [
            finding.with_fix(None)
            if finding.fix and not unchanged_paths.isdisjoint(edit.path for edit in finding.fix.edits)
            else finding
            for finding in result.findings
        ]
    return result


def _fix(options: CheckOptions, inputs: _Inputs, results: Sequence[Result]) -> tuple[list[Result], Fixes]:
    """Fix the findings that neither the baseline nor the base has; write the files unless only a patch is wanted.

    Returns the results after the fixes. In them a finding has no fix if the fix was refused.
    """
    baseline = read_baseline(inputs.baseline) if inputs.baseline else None
    known_counts = Counter(baseline.counts if baseline else {})
    base_counts = Counter(inputs.base.counts if inputs.base else {})
    releases = _releases_to_preserve(options) if options.unsafe_fixes else None
    new_results: list[Result] = []
    fixed_sets: list[FixedSet] = []
    for schemas, result in zip(inputs.sets, results, strict=True):
        counts = Counter(finding.fingerprint for finding in result.findings)
        known = counts & known_counts
        older = (counts - known) & base_counts
        known_counts, base_counts = known_counts - known, base_counts - older
        base_of_set = inputs.base._replace(counts=older) if inputs.base else None
        fixed_set = None
        if any(finding.fix for finding in _with_fixes_of_new(result, known, base_of_set)):
            check = partial(_check_files, options, schemas, known, base_of_set)
            files = {file.path: file.data for file in schemas.files}
            fixed_set = fix_set(check(files), check, unsafe=options.unsafe_fixes, releases=releases)
            fixed_sets.append(fixed_set)
        new_results.append(_result_after(options, inputs, schemas, result, fixed_set))
    fixes = Fixes(fixed_sets)
    if options.writes:
        fixes.change.write()
    return new_results, fixes


def _check_files(
    options: CheckOptions, schemas: SchemaFiles, known: Mapping[str, int], base: BaseState | None, files: Files
) -> CheckedFiles:
    """A set with other bytes in its files, checked against all rules, which no fix may break: also those not selected.

    Findings that the baseline or the base has, which `known` and `base` count, have no fix.
    """
    changed_schemas = _with_data(schemas, files)
    result = _check(options, base, changed_schemas)
    other_result = _check(replace(options, rules=options.other_rules), None, changed_schemas)
    return CheckedFiles(files, _with_fixes_of_new(result, known, base), other_result.findings)


def _with_data(schemas: SchemaFiles, files: Files) -> SchemaFiles:
    """The set with other bytes in some of its files."""
    changed_files = [replace(file, data=files.get(file.path, file.data)) for file in schemas.files]
    return replace(schemas, files=tuple(changed_files))


def _with_fixes_of_new(result: Result, known: Mapping[str, int], base: BaseState | None) -> list[Finding]:
    """The findings of a set, without the fixes of those that the baseline or the base has."""
    new = _recent(new_findings(result.findings, known), result.sources, base)
    new_ids = {id(finding) for finding in new}  # findings may be equal
    return [finding if id(finding) in new_ids else finding.with_fix(None) for finding in result.findings]


def _result_after(
    options: CheckOptions, inputs: _Inputs, schemas: SchemaFiles, result: Result, fixed_set: FixedSet | None
) -> Result:
    """The result of a set after its fixes, in which the findings whose fixes were refused have none."""
    if fixed_set is None:
        return result
    new_result = _check(options, inputs.base, _with_data(schemas, fixed_set.after)) if fixed_set.after else result
    refused = {finding.fingerprint for finding, _ in fixed_set.refusals}
    new_result.findings = [
        finding.with_fix(None) if finding.fingerprint in refused else finding for finding in new_result.findings
    ]
    return new_result


def _releases_to_preserve(options: CheckOptions) -> Releases | None:
    """The releases that no fix may break; without any, what the base or else HEAD has; None for all versions."""
    if options.changed_since:
        return releases_or_base(options.configuration, options.changed_since)
    work_tree = work_tree_of(_directory(options.names[0]))
    if work_tree:
        return releases_or_base(options.configuration, HEAD, repository=open_repository(work_tree))
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
        base=options.changed_since or "",
    )


def _notes(options: CheckOptions, inputs: _Inputs) -> Iterator[str]:
    """Which directories are empty, which links are not followed, and with --changed-since which versions are released.

    A review has its own note on releases.
    """
    yield from inputs.notes
    links = [*dict.fromkeys(link for schemas in inputs.sets for link in schemas.links)]
    if links:
        yield f"{plural(len(links), 'link')} not followed: {first_of(links, 3)}"
    if options.changed_since and not options.strict:
        base = f"{options.changed_since}:"
        yield from releases_note(releases_of(options.configuration, base), base)
