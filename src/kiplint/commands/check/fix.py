"""The fixes of a check: `check --fix` and `check --diff`."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

from kiplint.compat.since import BaseState, brought_about
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, Result, check_set
from kiplint.sources.schema_files import SchemaFiles
from kiplint.text.words import plural

if TYPE_CHECKING:
    from kiplint.compat.released import Releases
    from kiplint.engine.locate import FixFunction
    from kiplint.fixes.sets import Regression
    from kiplint.fixes.write import FileChanges


MOST_REASONS: Final = 10


class OldFindings:
    """The findings not to fix: older ones and recorded ones, each as often as it is known, over all sets of a run.

    Where older ones `are_left_out` of the report too, rules heed the base.
    """

    def __init__(self, base: BaseState | None, recorded_counts: Mapping[str, int], *, are_left_out: bool) -> None:
        self.base, self.are_left_out = base, are_left_out
        self._recorded_counts = Counter(recorded_counts)

    def without(self, findings: Sequence[Finding], sources: Mapping[str, bytes]) -> list[Finding]:
        """The findings of a set to fix, in their order; `sources` are the files that have them."""
        remaining = Counter(self._recorded_counts)
        recent = []
        for finding in self._new(findings, sources):
            if remaining[finding.fingerprint]:
                remaining[finding.fingerprint] -= 1
            else:
                recent.append(finding)
        return recent

    def count_off(self, findings: Sequence[Finding], sources: Mapping[str, bytes]) -> None:
        """Count off the findings that remain in a set that is done."""
        self._recorded_counts -= Counter(finding.fingerprint for finding in self._new(findings, sources))
        if self.base is not None:
            remaining = Counter(finding.fingerprint for finding in findings)
            self.base = self.base._replace(counts=Counter(self.base.counts) - remaining)

    def older(self, findings: Sequence[Finding], sources: Mapping[str, bytes]) -> Iterator[Finding]:
        """The findings of a set that are reported, and are not fixed because they are older."""
        if not self.are_left_out:
            recent = set(map(id, self._new(findings, sources)))
            yield from (finding for finding in findings if id(finding) not in recent)

    def _new(self, findings: Sequence[Finding], sources: Mapping[str, bytes]) -> tuple[Finding, ...]:
        return tuple(findings) if self.base is None else brought_about(tuple(findings), sources, self.base)


class Fixes(msgspec.Struct, frozen=True):
    """The results of the fixed sets, the change of their files, and the findings that were fixed."""

    results: tuple[Result, ...]
    change: FileChanges
    fixed: tuple[Finding, ...]
    refusals: tuple[tuple[Finding, Regression], ...] = ()
    """The findings whose fixes would make something worse, and what."""
    older: tuple[Finding, ...] = ()
    """The findings with a fix that are left as HEAD has them too."""

    def summary(self, remaining: Sequence[Finding], others: int, *, is_written: bool, unsafe: bool) -> str:
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
        older = sum(
            unsafe or (finding.fix is not None and finding.fix.applicability == "safe") for finding in self.older
        )
        parts += [f"{older:,} of them older than HEAD and fixable with `check --fix --all`"] if older else []
        parts += [f"{fixable:,} of them fixable with --unsafe-fixes"] if fixable else []
        parts += [f"{others:,} known and not fixed"] if others else []
        return ", ".join(parts)

    @property
    def effects(self) -> tuple[str, ...]:
        """What the unsafe fixes change: a line for each kind, with the place of the first, `MOST_REASONS` of them."""
        places: dict[tuple[str, str], list[str]] = {}
        for finding in self.fixed:
            if finding.fix and finding.fix.applicability == "unsafe" and finding.fix.changes:
                place = f"{finding.path}:{finding.line}"
                places.setdefault((finding.rule, finding.fix.changes), []).append(place)
        lines = [
            f"review: {rule} changes {changes}: {first}" + (f" and {len(more)} more" if more else "")
            for (rule, changes), (first, *more) in sorted(places.items())
        ]
        kinds = len(lines) - MOST_REASONS
        return (*lines[:MOST_REASONS], *([f"review: {kinds} more kinds of changes"] if kinds > 0 else []))

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the fixes that would make something worse were not applied: a line for each, `MOST_REASONS` of them."""
        lines = [
            f"not fixed: {finding.path}:{finding.line}: {finding.rule}: {why}"
            for finding, why in self.refusals[:MOST_REASONS]
        ]
        more = len(self.refusals) - len(lines)
        return (*lines, *([f"not fixed: {more} more"] if more else []))


def fix_sets(
    sets: Iterable[SchemaFiles],
    rules: RuleSet,
    fixer: FixFunction,
    *,
    unsafe: bool,
    releases: Callable[[], Releases | None],
    old: OldFindings | None = None,
    others: RuleSet | None = None,
) -> Fixes:
    """Fix the files of the sets in memory, but not those that are only context. `old` findings lose their fix.

    `releases` gives what no unsafe fix may break; `others` are the rules that do not run, and that no fix may break
    either.
    """
    from kiplint.fixes.write import FileChanges

    results: list[Result] = []
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    fixed_findings: list[Finding] = []
    refusals: list[tuple[Finding, Regression]] = []
    older: list[Finding] = []
    for schemas in sets:
        files = {file.path: file.data for file in schemas.files}
        check = _Check(schemas, rules, fixer, old)
        if not any(finding.fix for finding in check(files)):
            result, older_findings = check.last(files)
            results.append(result)
            older += older_findings
            continue
        from kiplint.fixes.apply import fix_set  # most sets have nothing to fix

        silent = _Check(schemas, others, None, None) if others and others.rules else lambda files: ()
        outcome = fix_set(files, check, unsafe=unsafe, others=silent, releases=releases())
        refusals += outcome.refusals
        before |= outcome.before
        after |= outcome.after
        fixed_findings += outcome.fixed
        result, older_findings = check.last({**files, **outcome.after})
        results.append(result)
        older += older_findings
    return Fixes(tuple(results), FileChanges(before, after), tuple(fixed_findings), tuple(refusals), tuple(older))


class _Check(msgspec.Struct, frozen=True):
    """Checks a set in one state after the other, and remembers the last results."""

    schemas: SchemaFiles
    rules: RuleSet
    fixer: FixFunction | None
    old: OldFindings | None
    last_results: deque[tuple[Mapping[str, bytes], Result, list[Finding]]] = msgspec.field(
        default_factory=lambda: deque(maxlen=2)
    )

    def __call__(self, files: Mapping[str, bytes]) -> Sequence[Finding]:
        return self.result(files).findings

    def result(self, files: Mapping[str, bytes]) -> Result:
        """The result of a check of the files."""
        for previous, result, _ in self.last_results:
            if previous == files:
                return result
        old, directory = self.old, self.schemas.directory
        result = check_set(
            (Input(file.path, files[file.path], file.is_reported) for file in self.schemas.files),
            self.rules,
            directory=directory,
            partial=self.schemas.single_file,
            fixer=self.fixer,
            base=old.base.at(directory) if old and old.base and old.are_left_out else None,
        )
        older: list[Finding] = []
        if old is not None:
            older = [finding for finding in old.older(result.findings, result.sources) if finding.fix]
            recent = set(map(id, old.without(result.findings, result.sources)))
            result.findings = [
                finding if id(finding) in recent else finding.fixed_by(()) for finding in result.findings
            ]
        self.last_results.append((dict(files), result, older))
        return result

    def last(self, files: Mapping[str, bytes]) -> tuple[Result, list[Finding]]:
        """The same for the last state of the set, and the findings whose fixes are not made as they are older."""
        last = self.result(files)
        if self.old is not None:
            self.old.count_off(last.findings, last.sources)
        return last, next(older for _, result, older in self.last_results if result is last)
