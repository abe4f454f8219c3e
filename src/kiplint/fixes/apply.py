"""Apply fixes to a set of definitions, in rounds of fixes that do not collide, as long as nothing gets worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import msgspec

from kiplint.compat.released import Releases
from kiplint.engine.finding import Finding, Fix
from kiplint.fixes.sets import Check, CheckedFiles, Files, Regression, regressions, unreadable
from kiplint.text.edit import Edit, apply_edits, collide

MOST_ROUNDS = 40


class FixedSet(msgspec.Struct, frozen=True):
    """The result of fixing a set: the files that changed, the findings that were fixed, and those that remain.

    `refused` are remaining findings whose fixes would make something worse, and what the first of them would.
    """

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    fixed: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    refused: tuple[tuple[Finding, Regression], ...] = ()


def fix_set(
    files: Files,
    check: Check,
    *,
    unsafe: bool = False,
    chosen: Collection[str] = (),
    others: Check = lambda files: (),
    base: Files | None = None,
    releases: Releases | None = None,
) -> FixedSet:
    """Apply all fixes of the findings of `check` that are allowed: `unsafe` ones, which a person has to review, where
    that is set, and for the rules whose fix was `chosen`.

    Fixes that collide are applied in separate rounds. A fix that makes anything worse (see `regressions`) is not
    applied; `others` gives the findings of the rules that `check` does not run, `base` the files of a revision,
    of which only the versions in the `releases`, if there are any, may not change.
    """

    def checked(files: Files, findings: Sequence[Finding]) -> CheckedFiles:
        return CheckedFiles(files, (*findings, *others(files)))

    now, changed = dict(files), dict(files)
    first = findings = after = list(check(now))
    refused: dict[str, tuple[Finding, Regression | None]] = {}

    def step(kept: Sequence[Finding], more: Sequence[Finding]) -> list[Regression] | None:
        """What the fixes of `more` make worse beside those that are kept; None where they fix nothing."""
        nonlocal changed, after
        changed = _changed(now, (*kept, *more))
        after = list(check(changed))
        still = {(item.identity, item.message) for item in after}
        if all((item.identity, item.message) in still for item in more):
            return None
        likely = any(item.fix and item.fix.applicability == "unsafe" for item in (*kept, *more))
        before, now_after = checked(now, findings), checked(changed, after)
        return list(regressions(before, now_after, likely=likely, base=base, releases=releases))

    def accepted(kept: list[Finding], more: list[Finding]) -> list[Finding]:
        """The kept findings, and those of `more` whose fixes make nothing worse beside them; refuses the others."""
        worse = step(kept, more)
        if worse == []:
            return [*kept, *more]
        if len(more) == 1:
            refused[more[0].identity] = (more[0], next(iter(worse or ()), None))
            return kept
        paths = {regression.path for regression in worse or ()}
        ordered = sorted(more, key=lambda item: any(path in paths for path, _ in _edits(item.fix)))
        for half in (ordered[: len(ordered) // 2], ordered[len(ordered) // 2 :]):
            kept = accepted(kept, half)
        return kept

    for _ in range(MOST_ROUNDS):
        candidates = [
            item
            for item in findings
            if _is_allowed(item, unsafe or item.rule in chosen) and item.identity not in refused
        ]
        batch = _without_collisions(candidates)
        if not batch:
            break
        if kept := accepted([], batch):
            if len(kept) < len(batch):
                step([], kept)
            now, findings = changed, after
            refused.clear()  # what made things worse before may be right now
    hidden = unreadable(first) - unreadable(findings)
    if not _counts([item for item in findings if item.path not in hidden]) < _counts(first):
        now, findings = dict(files), first
    before = {path: files[path] for path in files if files[path] != now[path]}
    refusals = tuple((item, why) for item, why in refused.values() if why is not None)
    return FixedSet(before, {path: now[path] for path in before}, _gone(first, findings), tuple(findings), refusals)


def _gone(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that are gone; of several of a rule in one file, those with a fix first."""
    remaining = Counter((item.rule, item.path) for item in after)
    gone: list[Finding] = []
    for item in sorted(before, key=lambda item: item.fix is not None):
        if remaining[item.rule, item.path] > 0:
            remaining[item.rule, item.path] -= 1
        else:
            gone.append(item)
    return tuple(sorted(gone, key=lambda item: (item.path, item.span.line, item.span.column, item.rule)))


def _is_allowed(finding: Finding, unsafe: bool) -> bool:
    return finding.fix is not None and (unsafe or finding.fix.applicability == "safe")


def _without_collisions(findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose fixes do not collide with the fixes of earlier findings."""
    taken: dict[str, list[Edit]] = {}
    chosen: list[Finding] = []
    for finding in findings:
        edits = _edits(finding.fix)
        if any(collide(new, old) for path, new in edits for old in taken.get(path, ())):
            continue
        for path, edit in edits:
            taken.setdefault(path, []).append(edit)
        chosen.append(finding)
    return chosen


def _edits(fix: Fix | None) -> list[tuple[str, Edit]]:
    return [(edit.path, Edit(edit.start, edit.end, edit.text)) for edit in fix.edits] if fix else []


def _changed(files: Mapping[str, bytes], findings: Iterable[Finding]) -> dict[str, bytes]:
    by_file: dict[str, list[Edit]] = {}
    for finding in findings:
        for path, edit in _edits(finding.fix):
            by_file.setdefault(path, []).append(edit)
    return {path: apply_edits(data, by_file.get(path, ())) for path, data in files.items()}


def _counts(findings: Sequence[Finding]) -> tuple[int, int, int]:
    """The number of errors, of findings that are at least warnings, and of all findings."""
    counts = Counter(finding.severity for finding in findings)
    return counts["error"], counts["error"] + counts["warning"], counts.total()
