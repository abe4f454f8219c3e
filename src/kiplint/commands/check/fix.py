"""The fixes of a check: `check --fix` and `check --diff`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec
from msgspec.structs import replace

from kiplint.compat.released import Releases
from kiplint.engine.baseline import are_recorded
from kiplint.engine.finding import Finding
from kiplint.engine.run import Result
from kiplint.fixes.apply import Regression, fix_set
from kiplint.fixes.write import FileChanges
from kiplint.sources.schema_files import SchemaFiles
from kiplint.text.words import plural

MOST_REASONS: Final = 10


class Fixes(msgspec.Struct):
    """The results of the fixed sets, the change of their files, and the findings that were fixed."""

    results: list[Result]
    change: FileChanges
    fixed: list[Finding]
    refusals: list[tuple[Finding, Regression]]
    """The findings whose fixes would make something worse, and what."""
    known: list[Finding]
    """The findings that could be fixed, but were not to be: the base, HEAD or the baseline has them."""

    def notes(self, remaining: Sequence[Finding], others: int, *, is_written: bool, unsafe: bool) -> tuple[str, ...]:
        """What was fixed, as `_summary` says, what that changes, and what was not fixed, and why."""
        summary = self._summary(remaining, others, is_written=is_written, unsafe=unsafe)
        return (summary, *self._effects(), *self._reasons())

    def _summary(self, remaining: Sequence[Finding], others: int, *, is_written: bool, unsafe: bool) -> str:
        """How many findings were fixed, or would be if nothing is written yet, and how many remain, in words.

        `others` is how many findings are not fixed as they are older than the change or in the baseline.
        """
        counts = Counter(finding.rule for finding in self.fixed)
        rules = ", ".join(f"{rule} ({count})" if count > 1 else rule for rule, count in sorted(counts.items()))
        verb = "fixed" if is_written else "would fix"
        number, files = plural(len(self.fixed), "finding"), plural(len(self.change.after), "file")
        head = f"{verb} {number} in {files}" if self.fixed else "nothing to fix"
        fixable = 0 if unsafe else sum(finding.fix is not None for finding in remaining)
        parts = [f"{head}: {rules}" if rules else head, f"{len(remaining):,} left"]
        known = Counter(finding.fingerprint for finding in self.known)
        older = (known & Counter(finding.fingerprint for finding in remaining)).total()
        parts += [f"{older:,} of them older than HEAD and fixable with `check --fix --all`"] if older else []
        parts += [f"{fixable:,} of them fixable with --unsafe-fixes"] if fixable else []
        parts += [f"{others:,} known and not fixed"] if others else []
        return ", ".join(parts)

    def _effects(self) -> tuple[str, ...]:
        """What the unsafe fixes change: a line for each kind, with its first location, `MOST_REASONS` of them."""
        locations: dict[tuple[str, str], list[str]] = {}
        for finding in self.fixed:
            if finding.fix and finding.fix.applicability == "unsafe" and finding.fix.changes:
                location = f"{finding.path}:{finding.line}"
                locations.setdefault((finding.rule, finding.fix.changes), []).append(location)
        lines = [
            f"review: {rule} changes {changes}: {first}" + (f" and {len(more)} more" if more else "")
            for (rule, changes), (first, *more) in sorted(locations.items())
        ]
        kinds = len(lines) - MOST_REASONS
        return (*lines[:MOST_REASONS], *([f"review: {kinds} more kinds of changes"] if kinds > 0 else []))

    def _reasons(self) -> tuple[str, ...]:
        """Why the fixes that would make something worse were not applied: a line for each, `MOST_REASONS` of them."""
        lines = [
            f"not fixed: {finding.path}:{finding.line}: {finding.rule}: {why}"
            for finding, why in self.refusals[:MOST_REASONS]
        ]
        more = len(self.refusals) - len(lines)
        return (*lines, *([f"not fixed: {more} more"] if more else []))


Check = Callable[[SchemaFiles], Result]
Choose = Callable[[Sequence[Finding], Mapping[str, bytes]], Sequence[Finding]]
"""Takes the findings of all sets and the files that have them, and returns those to fix."""


def fix_sets(
    sets: Iterable[SchemaFiles],
    check: Check,
    check_others: Check,
    choose: Choose,
    *,
    unsafe: bool,
    releases: Callable[[], Releases | None],
) -> Fixes:
    """Fix the files of the sets in memory, but not those that are only context.

    `check` runs the rules that run, and gives their findings with fixes; `check_others` those that do not run, and that
    no fix may break either. `choose` says which findings are to be fixed; the others lose their fix. `releases` gives
    what no unsafe fix may break.
    """
    checked_sets = [(schemas, check(schemas)) for schemas in sets]
    findings = [finding for _, result in checked_sets for finding in result.findings]
    sources = {path: data for _, result in checked_sets for path, data in result.sources.items()}
    chosen = choose(findings, sources) if any(finding.fix for finding in findings) else ()
    chosen_ids = set(map(id, chosen))

    fixes = Fixes([], FileChanges({}, {}), [], [], [])
    for schemas, first in checked_sets:
        result = first
        known = Counter(finding.fingerprint for finding in first.findings if id(finding) not in chosen_ids)
        if any(finding.fix and id(finding) in chosen_ids for finding in first.findings):
            fixed_set = fix_set(
                {file.path: file.data for file in schemas.files},
                partial(_findings_to_fix, schemas, check, known),
                findings=_split(first.findings, known)[0],
                unsafe=unsafe,
                others=partial(_findings_to_fix, schemas, check_others, {}),
                releases=releases(),
            )
            result = check(_with_data(schemas, fixed_set.after))
            fixes.change.before.update(fixed_set.before)
            fixes.change.after.update(fixed_set.after)
            fixes.fixed += fixed_set.fixed
            fixes.refusals += [(finding, reason) for finding, reason in fixed_set.refusals if reason]
        result.findings, known_findings = _split(result.findings, known)
        fixes.results.append(result)
        fixes.known += [item for item in known_findings if item.fix and (unsafe or item.fix.applicability == "safe")]
    return fixes


def without_refused_fixes(schemas: SchemaFiles, result: Result, check: Check, check_others: Check) -> Result:
    """The result, in which the findings whose safe fixes would make something worse have no fix."""
    fixed_set = fix_set(
        {file.path: file.data for file in schemas.files},
        partial(_findings_to_fix, schemas, check, {}),
        findings=result.findings,
        others=partial(_findings_to_fix, schemas, check_others, {}),
    )
    refused = {finding.fingerprint for finding, _ in fixed_set.refusals}
    result.findings = [item.fixed_by(()) if item.fingerprint in refused else item for item in result.findings]
    return result


def _findings_to_fix(
    schemas: SchemaFiles, check: Check, known: Mapping[str, int], files: Mapping[str, bytes]
) -> list[Finding]:
    """The findings of the set with other bytes in these files; the known ones have lost their fix."""
    return _split(check(_with_data(schemas, files)).findings, known)[0]


def _with_data(schemas: SchemaFiles, files: Mapping[str, bytes]) -> SchemaFiles:
    """The set with other bytes in these files."""
    return replace(schemas, files=tuple(replace(file, data=files.get(file.path, file.data)) for file in schemas.files))


def _split(findings: Sequence[Finding], known: Mapping[str, int]) -> tuple[list[Finding], list[Finding]]:
    """The findings, of which the known ones (how many, by fingerprint) have lost their fix; and these as they were."""
    flags = [*zip(findings, are_recorded(findings, known), strict=True)]
    fixable = [finding.fixed_by(()) if is_known else finding for finding, is_known in flags]
    return fixable, [finding for finding, is_known in flags if is_known]
