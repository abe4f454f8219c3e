"""The check of schema sets against the rules."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Final, NamedTuple

from msgspec.structs import replace

from kiplint.compat.released import Releases, releases_note, releases_of, releases_or_base
from kiplint.compat.since import BaseState, join_bases, new_since, read_base
from kiplint.engine.baseline import (
    BaselineFile,
    BaselineResult,
    StaleEntry,
    apply_baseline,
    new_findings,
    read_baseline,
)
from kiplint.engine.config import Configuration, Configurations, FailOn, RuleOptions, StrPath
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Result, check_set
from kiplint.fixes.fix import FixedSet, Fixes, fix_set
from kiplint.fixes.fixers import make_fix
from kiplint.fixes.regressions import CheckedFiles, Files
from kiplint.fixes.write import require_files
from kiplint.limits import ALL_PROBLEMS, REPORTED_PROBLEMS, ProblemLimits
from kiplint.sources.built_in import find_release
from kiplint.sources.open import open_sets
from kiplint.sources.repository import open_repository, work_tree_of
from kiplint.sources.schema_files import NothingThereError, OpenedSets, SchemaFiles
from kiplint.text.files import relative_path
from kiplint.text.words import first_of, plural

HEAD: Final = "HEAD"


class CheckOptions(RuleOptions, frozen=True, kw_only=True):
    """What `kiplint check` checks, fixes and updates."""

    sets: Sequence[StrPath] = ()
    """Directories, files, archives or revisions (`REV:path` of the `repository`); without any, `.`."""
    fail_on: FailOn | None = None
    """The lowest severity that causes the status `findings`; by default that of the configuration."""
    fix: bool = False
    """Whether to write the safe fixes of the reported findings to the files."""
    unsafe_fixes: bool = False
    """Whether to apply unsafe fixes too."""
    diff: bool = False
    """Whether to return the patch of the fixes without writing it."""
    baseline: StrPath | None = None
    """A file of known findings, which are not reported; by default that of the configuration."""
    update_baseline: bool = False
    """Whether to write the baseline again."""
    base: str | None = None
    """The revision to compare with: its findings are not reported, unless they are on a changed line."""
    whole: bool = False
    """Whether text also lists infos."""
    statistics: bool = False
    """Whether text is a line for each rule, with its number of findings."""
    repository: StrPath | None = None
    """The repository of revisions, a directory or a bundle."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the sets."""
        return tuple(os.fspath(name) for name in self.sets) or (os.curdir,)

    @property
    def writes(self) -> bool:
        """Whether fixes are written to the files."""
        return self.fix and not self.diff


class CheckOutcome(NamedTuple):
    """What a check found, and what it read."""

    findings: tuple[Finding, ...]
    """The findings that neither the base nor the baseline has, by path."""
    messages: int
    """The number of messages that were checked."""
    sources: Mapping[str, bytes]
    """The bytes of every file that has findings, by path."""
    paths: tuple[str, ...]
    """The files whose findings are reported."""
    left_out: tuple[str, ...]
    """JSON files next to the definitions that are not definitions."""
    stale: tuple[StaleEntry, ...] | None
    """The entries of the baseline that record more findings than there are; None without a baseline."""
    patch: bytes | None
    """The unified diff of the fixes; None if no fixes were requested."""
    older: int
    """The number of findings that the base also has."""
    notes: tuple[str, ...]


class _Run(NamedTuple):
    """What is checked, and by which configurations."""

    options: CheckOptions
    configurations: Configurations
    strict: bool
    merged: tuple[str, ...]

    @property
    def configuration(self) -> Configuration:
        """The main configuration."""
        return self.configurations.main


class _Inputs(NamedTuple):
    """The input of a check: the sets, notes on what was opened, the baseline, and the base's findings."""

    sets: Sequence[SchemaFiles]
    notes: Sequence[str]
    baseline: BaselineFile | None
    base: BaseState | None

    @property
    def paths(self) -> list[str]:
        """The files whose findings are reported."""
        return [file.path for schemas in self.sets for file in schemas.files if file.is_reported]


def check_sets(
    options: CheckOptions, configurations: Configurations, *, strict: bool = False, merged: tuple[str, ...] = ()
) -> CheckOutcome:
    """Read the sets, check or fix each by its configuration, and omit the findings that are not new.

    With `strict`, `base` omits a finding that the base has too, even if its line was changed. `merged`
    are the commits that a merge brings in: what they have is omitted as well. Raises UsageError for mistakes in the
    arguments and for files that cannot be written, and SourceError for files that cannot be opened.
    """
    run = _Run(options, configurations, strict, merged)
    configurations.main.rules()  # a mistake in the options is reported even if there is nothing to check
    inputs = _read(run)
    results = [_check(run, inputs.base, schemas) for schemas in inputs.sets]
    fixes = None
    if run.options.fix or run.options.diff:
        results, fixes = _fix(run, inputs, results)
    comparison, older_count = _leave_out_old(run, inputs, results)
    return _outcome(run, inputs, results, fixes, comparison, older_count)


def _read(run: _Run) -> _Inputs:
    """Read the sets, and what they are compared with. Without a base, it is an error if there is no set."""
    _require_texts(run.options.names)
    if run.options.writes:
        require_files(run.options.names)
    baseline = _baseline(run)
    keeps, revision = run.configurations.keeps, run.options.base
    base = None
    if revision is not None:
        read = partial(
            read_base, names=run.options.names, keeps=keeps, rules_of=run.configurations.rules_of, strict=run.strict
        )
        base = join_bases(read(revision), map(read, run.merged))
    opened = OpenedSets(())
    try:
        opened = open_sets(run.options.names, keeps, open_repository(run.options.repository))
    except NothingThereError:
        if base is None:
            raise
    return _Inputs(*opened, baseline, base)


def _require_texts(names: Iterable[str]) -> None:
    """Raise UsageError for a built-in release: it has facts alone, and many rules are about texts and comments."""
    for name in names:
        release = "" if os.path.lexists(name) else find_release(name)
        if release:
            raise UsageError(
                f"{name} is a built-in release, which has no texts or comments to check; check its tag in a clone of "
                f"Kafka (kiplint check {release}: --repo CLONE) or its jar (kafka-clients-{release}.jar)"
            )


def _baseline(run: _Run) -> BaselineFile | None:
    """The baseline that the user names, otherwise the one that the configuration names, or None."""
    configuration, is_updated = run.configuration, run.options.update_baseline
    if run.options.baseline:
        return BaselineFile(os.fspath(run.options.baseline), is_updated, files=configuration.files)
    if configuration.config.baseline:
        path = os.path.join(configuration.base, configuration.config.baseline)
        path_from_here = relative_path(path)
        shown_path = path if path_from_here.startswith("..") else path_from_here
        return BaselineFile(shown_path, is_updated, config_folder=configuration.base, files=configuration.files)
    if is_updated:
        raise UsageError("--update-baseline requires a baseline; name it with --baseline FILE")
    return None


def _check(
    run: _Run,
    base: BaseState | None,
    schemas: SchemaFiles,
    rules: RuleSet | None = None,
    most: ProblemLimits = REPORTED_PROBLEMS,
) -> Result:
    """The result of one set, by its own rules unless others are given; `most` limits the problems of each file.

    The findings have fixes, with `strict` only those that edit no unchanged file.
    """
    result = check_set(
        schemas.files,
        rules or run.configurations.rules_of(schemas.directory),
        directory=schemas.directory,
        single_file=schemas.single_file,
        fixer=make_fix,
        base=base.at(schemas.directory) if base else None,
        most=most,
    )
    if run.strict and base:
        edited_paths = {edit.path for finding in result.findings if finding.fix for edit in finding.fix.edits}
        unchanged_paths = {path for path in edited_paths if base.has(path, result.sources[path])}
        result.findings = [
            finding.with_fix(None)
            if finding.fix and not unchanged_paths.isdisjoint(edit.path for edit in finding.fix.edits)
            else finding
            for finding in result.findings
        ]
    return result


def _fix(run: _Run, inputs: _Inputs, results: Sequence[Result]) -> tuple[list[Result], Fixes]:
    """Fix the findings that neither the baseline nor the base has; write the files unless only a patch is wanted.

    Returns the results after the fixes. In them a finding has no fix if the fix was rejected.
    """
    baseline = read_baseline(inputs.baseline) if inputs.baseline else None
    baseline_counts = Counter(baseline.counts if baseline else {})
    base_counts = Counter(inputs.base.counts if inputs.base else {})
    releases = _releases_to_preserve(run) if run.options.unsafe_fixes else None
    new_results: list[Result] = []
    fixed_sets: list[FixedSet] = []
    for schemas, result in zip(inputs.sets, results, strict=True):
        counts = Counter(finding.fingerprint for finding in result.findings)
        in_baseline = counts & baseline_counts
        in_base = (counts - in_baseline) & base_counts
        baseline_counts, base_counts = baseline_counts - in_baseline, base_counts - in_base
        base_of_set = inputs.base._replace(counts=in_base) if inputs.base else None
        fixed_set = None
        if any(finding.fix for finding in _with_fixes_of_new(result, in_baseline, base_of_set)):
            check = partial(_check_files, run, schemas, in_baseline, base_of_set)
            files = {file.path: file.data for file in schemas.files}
            fixed_set = fix_set(check(files), check, unsafe=run.options.unsafe_fixes, releases=releases)
            fixed_sets.append(fixed_set)
        new_results.append(_result_after(run, inputs, schemas, result, fixed_set))
    fixes = Fixes(fixed_sets)
    if run.options.writes:
        fixes.change.write()
    return new_results, fixes


def _check_files(
    run: _Run, schemas: SchemaFiles, in_baseline: Mapping[str, int], base: BaseState | None, files: Files
) -> CheckedFiles:
    """A set with changed files, checked against all rules, selected or not: a fix must not break any of them.

    Findings that the baseline or the base has, which `in_baseline` and `base` count, have no fix.
    """
    changed_schemas = _with_data(schemas, files)
    result = _check(run, base, changed_schemas, most=ALL_PROBLEMS)
    other_rules = run.configurations.of(schemas.directory).other_rules
    other_result = _check(run, None, changed_schemas, other_rules, ALL_PROBLEMS)
    return CheckedFiles(files, _with_fixes_of_new(result, in_baseline, base), other_result.findings)


def _with_data(schemas: SchemaFiles, files: Files) -> SchemaFiles:
    """The set with changed bytes in some of its files."""
    changed_files = [replace(file, data=files.get(file.path, file.data)) for file in schemas.files]
    return replace(schemas, files=tuple(changed_files))


def _with_fixes_of_new(result: Result, in_baseline: Mapping[str, int], base: BaseState | None) -> list[Finding]:
    """The findings of a set, without the fixes of those that the baseline or the base has."""
    new = _recent(new_findings(result.findings, in_baseline), result.sources, base)
    new_ids = {id(finding) for finding in new}  # findings may be equal
    return [finding if id(finding) in new_ids else finding.with_fix(None) for finding in result.findings]


def _result_after(
    run: _Run, inputs: _Inputs, schemas: SchemaFiles, result: Result, fixed_set: FixedSet | None
) -> Result:
    """The result of a set after its fixes, in which the findings whose fixes were rejected have none."""
    if fixed_set is None:
        return result
    new_result = _check(run, inputs.base, _with_data(schemas, fixed_set.after)) if fixed_set.after else result
    refused = {finding.fingerprint for finding, _ in fixed_set.refusals}
    new_result.findings = [
        finding.with_fix(None) if finding.fingerprint in refused else finding for finding in new_result.findings
    ]
    return new_result


def _releases_to_preserve(run: _Run) -> Releases | None:
    """The releases that no fix may break; without any, what the base or else HEAD has; None for all versions."""
    if run.options.base:
        return releases_or_base(run.configuration, run.options.base)
    work_tree = work_tree_of(_directory(run.options.names[0]))
    if work_tree:
        return releases_or_base(run.configuration, HEAD, repository=open_repository(work_tree))
    return releases_of(run.configuration, "")


def _directory(name: str) -> str:
    """The directory that a path of a set is, or that its file is in."""
    return name if os.path.isdir(name) else os.path.dirname(name) or os.curdir


def _leave_out_old(run: _Run, inputs: _Inputs, results: Sequence[Result]) -> tuple[BaselineResult, int]:
    """The findings that neither the base nor the baseline has, with the stale entries; and how many the base has."""
    findings = [finding for result in results for finding in result.findings]
    sorted_findings = tuple(sorted(findings, key=attrgetter("path")))  # those of all sets in one order
    recent = _recent(sorted_findings, _sources(results), inputs.base)
    comparison = BaselineResult(recent)
    if inputs.baseline:
        are_all_readable = sum(result.messages for result in results) == len(inputs.paths)
        is_whole = inputs.base is None and are_all_readable
        comparison = apply_baseline(
            recent, run.configuration.rules(), inputs.baseline, run.options.names, is_whole=is_whole
        )
    return comparison, len(findings) - len(recent)


def _recent(findings: tuple[Finding, ...], sources: Mapping[str, bytes], base: BaseState | None) -> tuple[Finding, ...]:
    """The findings that the base does not have; all without a base."""
    if base is None:
        return findings
    return new_since(findings, sources, base)


def _sources(results: Iterable[Result]) -> dict[str, bytes]:
    """The bytes of every file that has findings, by path."""
    return {path: data for result in results for path, data in result.sources.items()}


def _outcome(
    run: _Run,
    inputs: _Inputs,
    results: Sequence[Result],
    fixes: Fixes | None,
    comparison: BaselineResult,
    older_count: int,
) -> CheckOutcome:
    """The findings that the baseline does not have, and notes on what was read, recorded and fixed."""
    findings = comparison.findings
    notes = [*_notes(run, inputs), *comparison.notes]
    if fixes:
        hidden = sum(len(result.findings) for result in results) - len(findings)
        is_written, unsafe = run.options.writes, run.options.unsafe_fixes
        notes += fixes.notes(findings, hidden, is_written=is_written, unsafe=unsafe)
    left_out = [path for schemas in inputs.sets for path in schemas.left_out]
    return CheckOutcome(
        findings=findings,
        messages=sum(result.messages for result in results),
        sources=_sources(results),
        paths=tuple(inputs.paths),
        left_out=tuple(dict.fromkeys(left_out)),
        stale=comparison.stale,
        patch=fixes.change.patch(run.options.names) if fixes else None,
        older=older_count,
        notes=tuple(notes),
    )


def _notes(run: _Run, inputs: _Inputs) -> Iterator[str]:
    """Which directories are empty, which links are not followed, and with --base which versions are released.

    A review has its own note on releases.
    """
    yield from inputs.notes
    links = [*dict.fromkeys(link for schemas in inputs.sets for link in schemas.links)]
    if links:
        yield f"{plural(len(links), 'link')} not followed: {first_of(links, 3)}"
    if run.options.base and not run.strict:
        base = f"{run.options.base}:"
        yield from releases_note(releases_of(run.configuration, base), base)
