"""Checking sets and mending them: `check --fix` and `check --diff`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from kiplint.compat.since import BaseState, brought_about
from kiplint.engine.finding import Finding, Fix
from kiplint.engine.ruleset import RuleSet, Violation
from kiplint.engine.run import Input, Result, check_set
from kiplint.sources.schema_files import SchemaFiles
from kiplint.text.words import plural

if TYPE_CHECKING:
    from kiplint.fixes.write import FileChanges


class Sparing:
    """Tells the findings to mend from those to leave alone, set by set: what one set uses up, the next has no more."""

    def __init__(self, base: BaseState | None, recorded: Mapping[str, int]) -> None:
        self._base = base
        self._recorded = Counter(recorded)

    def chosen(self, findings: Sequence[Finding], sources: Mapping[str, bytes]) -> list[Finding]:
        """The findings of a set to mend, in their order; `sources` are the texts that they are in."""
        left = Counter(self._recorded)
        chosen = []
        for one in self._new(findings, sources):
            if left[one.fingerprint]:
                left[one.fingerprint] -= 1
            else:
                chosen.append(one)
        return chosen

    def settle(self, findings: Sequence[Finding], sources: Mapping[str, bytes]) -> None:
        """Take note of what is left in a set that is done."""
        self._recorded -= Counter(one.fingerprint for one in self._new(findings, sources))
        if self._base is not None:
            there = Counter(one.fingerprint for one in findings)
            self._base = self._base._replace(counts=Counter(self._base.counts) - there)

    def _new(self, findings: Sequence[Finding], sources: Mapping[str, bytes]) -> tuple[Finding, ...]:
        return tuple(findings) if self._base is None else brought_about(tuple(findings), sources, self._base)


class Mending(msgspec.Struct, frozen=True):
    """What mending came to: what is found in the files now, the change, and what was mended."""

    results: tuple[Result, ...]
    change: FileChanges
    mended: tuple[Finding, ...]

    def told(self, left: Sequence[Finding], spared: int, *, written: bool, unsafe: bool) -> str:
        """What was mended and what is `left`, in words; what would be, if nothing is `written`.

        `spared` is how many findings are neither, being older than the change or in the baseline.
        """
        counts = Counter(one.rule for one in self.mended)
        rules = ", ".join(f"{rule} ({count})" if count > 1 else rule for rule, count in sorted(counts.items()))
        verb = "mended" if written else "would mend"
        number, files = plural(len(self.mended), "finding"), plural(len(self.change.after), "file")
        head = f"{verb} {number} in {files}" if self.mended else "nothing to mend"
        doubtful = 0 if unsafe else sum(one.fix is not None for one in left)
        parts = [f"{head}: {rules}" if rules else head, f"{len(left):,} left"]
        parts += [f"of which {doubtful:,} with --unsafe-fixes"] if doubtful else []
        parts += [f"{spared:,} known and left alone"] if spared else []
        return ", ".join(parts)


def mend_sets(sets: Iterable[SchemaFiles], rules: RuleSet, *, unsafe: bool, sparing: Sparing | None = None) -> Mending:
    """Mend the files of the sets that were asked for, in memory; what is only context stays as it is.

    What `sparing` says to leave alone has no fix afterwards, and none of it is made.
    """
    from kiplint.fixes.write import FileChanges

    results: list[Result] = []
    before: dict[str, bytes] = {}
    after: dict[str, bytes] = {}
    mended: list[Finding] = []
    for one in sets:
        files = {file.path: file.data for file in one.files}
        check = _Check(one, rules, sparing)
        if not any(finding.fix for finding in check(files)):
            results.append(check.last(files))
            continue
        from kiplint.fixes.apply import fix_set  # most sets have nothing to mend

        found = fix_set(files, check, unsafe=unsafe)
        before |= found.before
        after |= found.after
        mended += found.mended
        results.append(check.last({**files, **found.after}))
    return Mending(tuple(results), FileChanges(before, after), tuple(mended))


def fixer(violation: Violation, pointer: str, files: Mapping[str, bytes]) -> Fix | None:
    """The fix of a broken rule. The fixers are imported with the first rule that has one."""
    from kiplint.fixes.fixers import make_fix

    return make_fix(violation, pointer, files)


class _Check:
    """Checks a set in one state after the other, and remembers what each came to."""

    def __init__(self, one: SchemaFiles, rules: RuleSet, sparing: Sparing | None) -> None:
        self._set = one
        self._rules = rules
        self._sparing = sparing
        self._done: list[tuple[Mapping[str, bytes], Result]] = []

    def __call__(self, files: Mapping[str, bytes]) -> Sequence[Finding]:
        return self.result(files).findings

    def result(self, files: Mapping[str, bytes]) -> Result:
        """What a check of the files comes to."""
        for known, result in self._done:
            if known == files:
                return result
        inputs = (Input(file.path, files[file.path], file.reported) for file in self._set.files)
        result = check_set(inputs, self._rules, directory=self._set.directory, partial=self._set.lone, fixer=fixer)
        if self._sparing is not None:
            chosen = {id(finding) for finding in self._sparing.chosen(result.findings, result.sources)}
            result.findings = [one if id(one) in chosen else replace(one, fix=None) for one in result.findings]
        self._done.append((dict(files), result))
        return result

    def last(self, files: Mapping[str, bytes]) -> Result:
        """The same, of the state that the set is left in."""
        result = self.result(files)
        if self._sparing is not None:
            self._sparing.settle(result.findings, result.sources)
        return result
