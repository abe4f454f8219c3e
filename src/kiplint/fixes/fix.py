"""Fix the findings in the files of a set, without overlapping fixes and without making anything worse."""

from __future__ import annotations

from bisect import insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import msgspec

from kiplint.compat.released import Releases
from kiplint.engine.finding import Finding
from kiplint.fixes.regressions import SAFE, UNSAFE_BREAKS, CheckedFiles, Files, Limits, Regression
from kiplint.fixes.trial import Check, EditGroup, try_edits
from kiplint.fixes.write import FileChanges
from kiplint.text.edit import Edit, collides
from kiplint.text.words import plural

MAX_BATCHES: Final = 20
"""The maximum number of batches of fixes that are tried; the remaining fixes are discarded."""


class FixedSet(msgspec.Struct, frozen=True):
    """The result of fixing a set: the files that changed, before and after, and the findings that were fixed.

    `refusals` are the findings whose fixes were not applied, each with what its fix would make worse, or with None if
    its fix does not resolve the finding.
    """

    before: Files
    after: Files
    fixed: tuple[Finding, ...]
    refusals: tuple[tuple[Finding, Regression | None], ...] = ()


def fix_set(before: CheckedFiles, check: Check, *, unsafe: bool = False, releases: Releases | None = None) -> FixedSet:
    """Apply the safe fixes of the findings and, if `unsafe` is set, the unsafe ones, until none remains.

    Fixes that collide are applied in separate batches, and safe ones before unsafe ones. A fix that makes anything
    worse is not applied. `releases` decide what an unsafe fix must not break, by default all versions.
    """
    after = before
    refusals: dict[str, tuple[Finding, Regression | None]] = {}  # by fingerprint
    for _ in range(MAX_BATCHES):
        findings = [finding for finding in after.findings if finding.fix and finding.fingerprint not in refusals]
        safe_findings = safely_fixable(findings)
        batch = without_collisions(safe_findings or (findings if unsafe else ()))
        if not batch:
            break
        limits = SAFE if safe_findings else Limits(allowed_breaks=UNSAFE_BREAKS, releases=releases)
        trial = try_edits(after, [group_of(finding) for finding in batch], check, limits)
        if trial.after is not after:
            refusals = {}  # a fix that made something worse before may be right now
        else:
            for number, reasons in trial.dropped.items():
                refusals[batch[number].fingerprint] = (batch[number], reasons[0] if reasons else None)
        after = trial.after

    fixed_findings = _fixed_findings(before.findings, after.findings)
    if not fixed_findings:  # the findings of a file are limited: others have taken the place of the fixed ones
        after = before
    changed_paths = [path for path, data in after.files.items() if before.files[path] != data]
    return FixedSet(
        before={path: before.files[path] for path in changed_paths},
        after={path: after.files[path] for path in changed_paths},
        fixed=fixed_findings,
        refusals=tuple(refusals.values()),
    )


def safely_fixable(findings: Iterable[Finding]) -> list[Finding]:
    """The findings that have a safe fix."""
    return [finding for finding in findings if finding.fix and finding.fix.applicability == "safe"]


def without_collisions(findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose fixes do not collide with the fixes of earlier findings."""
    edits_by_path: dict[str, list[Edit]] = defaultdict(list)  # each list sorted
    compatible_findings: list[Finding] = []
    for finding in findings:
        edits = finding.fix.edits if finding.fix else ()
        if any(collides(edit, edits_by_path[edit.path]) for edit in edits):
            continue
        compatible_findings.append(finding)
        for edit in edits:
            insort(edits_by_path[edit.path], edit)
    return compatible_findings


def group_of(finding: Finding) -> EditGroup:
    """The edits of the fix of a finding, which have to resolve it."""
    edits = finding.fix.edits if finding.fix else ()
    return EditGroup(tuple(dict.fromkeys(edit.path for edit in edits)), edits, finding)


def _fixed_findings(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that were fixed: for each rule and file, as many as there are fewer findings than before.

    They are counted because a fix may rename an element, which changes the fingerprints of findings that remain. Those
    whose fingerprint is still there count as remaining first, then those without a fix.
    """
    remaining_counts = Counter((finding.rule, finding.path) for finding in after)
    remaining_fingerprints = {finding.fingerprint for finding in after}
    likely_remaining_first = sorted(
        before, key=lambda finding: (finding.fingerprint not in remaining_fingerprints, finding.fix is not None)
    )
    fixed_findings: list[Finding] = []
    for finding in likely_remaining_first:
        if remaining_counts[finding.rule, finding.path] > 0:
            remaining_counts[finding.rule, finding.path] -= 1
        else:
            fixed_findings.append(finding)
    return tuple(sorted(fixed_findings, key=lambda finding: (finding.path, finding.line, finding.column, finding.rule)))


class Fixes(NamedTuple):
    """What was fixed in the sets."""

    fixed_sets: Sequence[FixedSet]

    @property
    def change(self) -> FileChanges:
        """The changed files before and after."""
        change = FileChanges({}, {})
        for fixed_set in self.fixed_sets:
            change.before.update(fixed_set.before)
            change.after.update(fixed_set.after)
        return change

    def notes(self, remaining: Sequence[Finding], hidden: int, *, is_written: bool, unsafe: bool) -> tuple[str, ...]:
        """What was fixed, or would be if nothing is written; what that changes; and what was not fixed, and why.

        `remaining` are the findings that the check reports after the fixes; `hidden` is how many it does not report,
        as they are older than the change or in the baseline.
        """
        fixed_findings = [finding for fixed_set in self.fixed_sets for finding in fixed_set.fixed]
        refusals = [refusal for fixed_set in self.fixed_sets for refusal in fixed_set.refusals]
        counts = Counter(finding.rule for finding in fixed_findings)
        rules = [f"{rule} ({count})" if count > 1 else rule for rule, count in sorted(counts.items())]
        findings, files = plural(len(fixed_findings), "finding"), plural(len(self.change.after), "file")
        verb = "fixed" if is_written else "would fix"
        parts = [f"{verb} {findings} in {files}: {', '.join(rules)}" if rules else "nothing to fix"]
        parts.append(f"{len(remaining):,} left")
        fixable = sum(finding.fix is not None for finding in remaining)
        if fixable and not unsafe:
            parts.append(f"{fixable:,} of them fixable with --unsafe-fixes")
        if hidden:
            parts.append(f"{hidden:,} known and not fixed")

        side_effects = [
            f"review: {finding.path}:{finding.line}: {finding.rule} changes {finding.fix.changes}"
            for finding in fixed_findings
            if finding.fix and finding.fix.changes
        ]
        reasons = [
            f"not fixed: {finding.path}:{finding.line}: {finding.rule}: {regression or 'the fix does not resolve it'}"
            for finding, regression in refusals
        ]
        return (", ".join(parts), *side_effects, *reasons)
