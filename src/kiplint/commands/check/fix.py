"""The fixes of a check: `check --fix` and `check --diff`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

MOST_LISTED: Final = 10


class Fixes(msgspec.Struct):
    """The results of the fixed sets, the change of their files, and the findings that were fixed."""

    results: list[Result]
    change: FileChanges
    fixed: list[Finding]
    refusals: list[tuple[Finding, Regression]]
    """The findings whose fixes would make something worse, and what."""
    older: int = 0
    """How many reported findings could be fixed, but are in HEAD too."""

    def notes(self, remaining: Sequence[Finding], others: int, *, is_written: bool, unsafe: bool) -> tuple[str, ...]:
        """What was fixed, or would be if nothing is written yet; what that changes; and what was not fixed, and why.

        `others` is how many findings are not fixed as they are older than the change or in the baseline.
        """
        counts = Counter(finding.rule for finding in self.fixed)
        rules = ", ".join(f"{rule} ({count})" if count > 1 else rule for rule, count in sorted(counts.items()))
        verb = "fixed" if is_written else "would fix"
        number, files = plural(len(self.fixed), "finding"), plural(len(self.change.after), "file")
        fixable = 0 if unsafe else count_fixable(remaining, unsafe=True)
        parts = [f"{verb} {number} in {files}: {rules}" if rules else "nothing to fix", f"{len(remaining):,} left"]
        parts += [f"{self.older:,} of them older than HEAD and fixable with `check --fix --all`"] if self.older else []
        parts += [f"{fixable:,} of them fixable with --unsafe-fixes"] if fixable else []
        parts += [f"{others:,} known and not fixed"] if others else []
        effects = [
            f"review: {item.path}:{item.line}: {item.rule} changes {item.fix.changes}"
            for item in self.fixed
            if item.fix and item.fix.changes
        ]
        reasons = [f"not fixed: {item.path}:{item.line}: {item.rule}: {why}" for item, why in self.refusals]
        return (", ".join(parts), *_first(effects), *_first(reasons))


def _first(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:MOST_LISTED]
    if len(lines) > MOST_LISTED:
        yield f"... and {len(lines) - MOST_LISTED} more"


def count_fixable(findings: Iterable[Finding], unsafe: bool) -> int:
    """How many findings have a fix, safe unless `unsafe` ones count too."""
    return sum(item.fix is not None and (unsafe or item.fix.applicability == "safe") for item in findings)


Check = Callable[[SchemaFiles], Result]


def fix_sets(
    checked_sets: Iterable[tuple[SchemaFiles, Result]],
    chosen: Iterable[Finding],
    check: Check,
    check_others: Check,
    *,
    unsafe: bool,
    releases: Callable[[], Releases | None],
) -> Fixes:
    """Fix the files of the sets in memory, but not those that are only context.

    `chosen` are the findings of the results that are to be fixed; the others lose their fix. `check` runs the rules
    that run, and gives their findings with fixes; `check_others` those that do not run, and that no fix may break
    either. `releases` gives what no unsafe fix may break.
    """
    chosen_ids = set(map(id, chosen))
    fixes = Fixes([], FileChanges({}, {}), [], [])
    for schemas, first in checked_sets:
        result = first
        known = Counter(finding.fingerprint for finding in first.findings if id(finding) not in chosen_ids)
        if any(finding.fix and id(finding) in chosen_ids for finding in first.findings):
            fixed_set = fix_set(
                {file.path: file.data for file in schemas.files},
                partial(_findings_to_fix, schemas, check, known),
                findings=_without_known_fixes(first.findings, known),
                unsafe=unsafe,
                check_other_rules=partial(_findings_to_fix, schemas, check_others, {}),
                releases=releases(),
            )
            result = check(_with_data(schemas, fixed_set.after))
            fixes.change.before.update(fixed_set.before)
            fixes.change.after.update(fixed_set.after)
            fixes.fixed += fixed_set.fixed
            fixes.refusals += [(finding, reason) for finding, reason in fixed_set.refusals if reason]
        result.findings = _without_known_fixes(result.findings, known)
        fixes.results.append(result)
    return fixes


def without_refused_fixes(schemas: SchemaFiles, result: Result, check: Check, check_others: Check) -> Result:
    """The result, in which the findings whose safe fixes would make something worse have no fix."""
    fixed_set = fix_set(
        {file.path: file.data for file in schemas.files},
        partial(_findings_to_fix, schemas, check, {}),
        findings=result.findings,
        check_other_rules=partial(_findings_to_fix, schemas, check_others, {}),
    )
    refused = {finding.fingerprint for finding, _ in fixed_set.refusals}
    result.findings = [item.fixed_by(None) if item.fingerprint in refused else item for item in result.findings]
    return result


def _findings_to_fix(
    schemas: SchemaFiles, check: Check, known: Mapping[str, int], files: Mapping[str, bytes]
) -> list[Finding]:
    """The findings of the set with other bytes in these files; the known ones have lost their fix."""
    return _without_known_fixes(check(_with_data(schemas, files)).findings, known)


def _with_data(schemas: SchemaFiles, files: Mapping[str, bytes]) -> SchemaFiles:
    """The set with other bytes in these files."""
    return replace(schemas, files=tuple(replace(file, data=files.get(file.path, file.data)) for file in schemas.files))


def _without_known_fixes(findings: Sequence[Finding], known: Mapping[str, int]) -> list[Finding]:
    """The findings, of which the known ones (how many, by fingerprint) have lost their fix."""
    flags = zip(findings, are_recorded(findings, known), strict=True)
    return [finding.fixed_by(None) if is_known else finding for finding, is_known in flags]
