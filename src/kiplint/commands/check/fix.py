"""The fixes of a check: `check --fix` and `check --diff`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from kiplint.compat.released import Releases
from kiplint.engine.baseline import are_among
from kiplint.engine.finding import Finding
from kiplint.engine.run import Result
from kiplint.fixes.apply import Regression, fix_set
from kiplint.fixes.write import FileChanges
from kiplint.sources.schema_files import SchemaFiles
from kiplint.text.words import plural

Check = Callable[[SchemaFiles], Result]
"""Returns the result of a check of a set."""


class Fixes(NamedTuple):
    """What fixes did: the results of the sets after them, the changes of files, and the findings that were fixed."""

    results: list[Result]
    change: FileChanges
    fixed: list[Finding]
    refusals: list[tuple[Finding, Regression]]
    """The findings whose fixes would make something worse, and what."""
    older: int = 0
    """How many findings have a fix that was not applied because HEAD has these findings too."""

    def notes(self, remaining: Sequence[Finding], hidden: int, *, is_written: bool, unsafe: bool) -> tuple[str, ...]:
        """What was fixed, or would be if nothing is written; what that changes; and what was not fixed, and why.

        `remaining` are the findings that the check reports after the fixes; `hidden` is how many it does not report,
        as they are older than the change or in the baseline.
        """
        counts = Counter(finding.rule for finding in self.fixed)
        rules = [f"{rule} ({count})" if count > 1 else rule for rule, count in sorted(counts.items())]
        findings, files = plural(len(self.fixed), "finding"), plural(len(self.change.after), "file")
        verb = "fixed" if is_written else "would fix"
        parts = [f"{verb} {findings} in {files}: {', '.join(rules)}" if rules else "nothing to fix"]
        parts.append(f"{len(remaining):,} left")
        if self.older:
            parts.append(f"{self.older:,} of them older than HEAD and fixable with `check --fix --all`")
        fixable = count_fixable(remaining, unsafe=True)
        if fixable and not unsafe:
            parts.append(f"{fixable:,} of them fixable with --unsafe-fixes")
        if hidden:
            parts.append(f"{hidden:,} known and not fixed")

        side_effects = [
            f"review: {finding.path}:{finding.line}: {finding.rule} changes {finding.fix.changes}"
            for finding in self.fixed
            if finding.fix and finding.fix.changes
        ]
        reasons = [
            f"not fixed: {finding.path}:{finding.line}: {finding.rule}: {regression}"
            for finding, regression in self.refusals
        ]
        return (", ".join(parts), *side_effects, *reasons)


def count_fixable(findings: Iterable[Finding], unsafe: bool) -> int:
    """How many findings have a safe fix, or if `unsafe` is set any fix."""
    return sum(finding.fix is not None and (unsafe or finding.fix.applicability == "safe") for finding in findings)


def fix_sets(
    checked_sets: Iterable[tuple[SchemaFiles, Result]],
    findings_to_fix: Iterable[Finding],
    check: Check,
    check_other_rules: Check,
    *,
    unsafe: bool,
    releases: Releases | None,
) -> Fixes:
    """Fix the files of the sets in memory.

    `findings_to_fix` are some of the findings in the results; the others lose their fix, as --fix does not apply it.
    `check` gives the findings of the rules that run, with fixes. `check_other_rules` gives those of the rules that do
    not run; no fix may cause one. If `unsafe` is set, unsafe fixes are applied too, but none breaks a version that one
    of the `releases` has.
    """
    ids_to_fix = {id(finding) for finding in findings_to_fix}  # findings of two sets may be equal
    fixes = Fixes([], FileChanges({}, {}), [], [])
    for schemas, first_result in checked_sets:
        result = first_result
        findings_to_leave = [finding for finding in result.findings if id(finding) not in ids_to_fix]
        counts_to_leave = Counter(finding.fingerprint for finding in findings_to_leave)
        if any(finding.fix and id(finding) in ids_to_fix for finding in result.findings):
            fixed_set = fix_set(
                {file.path: file.data for file in schemas.files},
                partial(_findings_in, schemas, check, counts_to_leave),
                findings=_without_fixes(result.findings, counts_to_leave),
                unsafe=unsafe,
                check_other_rules=partial(_findings_in, schemas, check_other_rules, {}),
                releases=releases,
            )
            result = check(_with_data(schemas, fixed_set.after))
            fixes.change.before.update(fixed_set.before)
            fixes.change.after.update(fixed_set.after)
            fixes.fixed.extend(fixed_set.fixed)
            # A refusal without a regression is of a fix that does not resolve its finding.
            fixes.refusals.extend((finding, regression) for finding, regression in fixed_set.refusals if regression)
        result.findings = _without_fixes(result.findings, counts_to_leave)
        fixes.results.append(result)
    return fixes


def without_refused_fixes(schemas: SchemaFiles, result: Result, check: Check, check_other_rules: Check) -> Result:
    """The result, in which the findings whose safe fixes would make something worse have no fix."""
    fixed_set = fix_set(
        {file.path: file.data for file in schemas.files},
        partial(_findings_in, schemas, check, {}),
        findings=result.findings,
        check_other_rules=partial(_findings_in, schemas, check_other_rules, {}),
    )
    refused_fingerprints = {finding.fingerprint for finding, _ in fixed_set.refusals}
    result.findings = [
        finding.with_fix(None) if finding.fingerprint in refused_fingerprints else finding
        for finding in result.findings
    ]
    return result


def _findings_in(
    schemas: SchemaFiles, check: Check, counts_to_leave: Mapping[str, int], data_by_path: Mapping[str, bytes]
) -> list[Finding]:
    """The findings of a set with other bytes in its files, after `_without_fixes`."""
    return _without_fixes(check(_with_data(schemas, data_by_path)).findings, counts_to_leave)


def _with_data(schemas: SchemaFiles, data_by_path: Mapping[str, bytes]) -> SchemaFiles:
    """The set with other bytes in the files of these paths."""
    files = [replace(file, data=data_by_path.get(file.path, file.data)) for file in schemas.files]
    return replace(schemas, files=tuple(files))


def _without_fixes(findings: Sequence[Finding], counts_to_leave: Mapping[str, int]) -> list[Finding]:
    """The findings; as many of each fingerprint as `counts_to_leave` says have lost their fix."""
    are_to_leave = are_among(findings, counts_to_leave)
    return [
        finding.with_fix(None) if is_to_leave else finding
        for finding, is_to_leave in zip(findings, are_to_leave, strict=True)
    ]
