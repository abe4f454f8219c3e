"""Apply fixes to a set of definitions, in rounds of fixes that do not collide, as long as nothing gets worse."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import msgspec

from kiplint.compat.released import Releases
from kiplint.engine.finding import Finding, Fix
from kiplint.fixes.sets import BaseTree, Check, CheckedFiles, Files, Regression, regressions, tree_of, unreadable
from kiplint.limits import RECHECKED_BYTES, RECHECKED_FILE
from kiplint.text.edit import Edit, Edits, apply_edits

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
    of which only the versions in the `releases`, if there are any, may not change. Fixes are tried one by one if
    `RECHECKED_BYTES` suffice; else all are refused that are where something gets worse.
    """
    revision = None if base is None else BaseTree(tree_of(base), releases)
    left, size = int(RECHECKED_BYTES), sum(map(len, files.values())) + RECHECKED_FILE * len(files)

    def checked(files: Files, findings: Sequence[Finding]) -> CheckedFiles:
        return CheckedFiles(files, (*findings, *others(files)), revision)

    now, changed = dict(files), dict(files)
    first = findings = after = list(check(now))
    before = checked(now, findings)
    refused: dict[str, tuple[Finding, Regression | None]] = {}

    def step(kept: Sequence[Finding], more: Sequence[Finding]) -> list[Regression] | None:
        """What the fixes of `more` make worse beside those that are kept; None where they fix nothing."""
        nonlocal changed, after, left
        left -= size
        changed = _changed(now, (*kept, *more))
        after = list(check(changed))
        still = {(item.fingerprint, item.message) for item in after}
        if all((item.fingerprint, item.message) in still for item in more):
            return None
        likely = any(item.fix and item.fix.applicability == "unsafe" for item in (*kept, *more))
        return list(regressions(before, checked(changed, after), likely=likely))

    def accepted(kept: list[Finding], more: list[Finding]) -> list[Finding]:
        """The kept findings, and those of `more` whose fixes make nothing worse beside them; refuses the others."""
        if not more:
            return kept
        worse = step(kept, more)
        if worse == []:
            return [*kept, *more]
        reasons = _reasons(worse or (), more)
        suspects = [item for item in more if item.fingerprint in reasons]
        rest = [item for item in more if item.fingerprint not in reasons]
        if len(more) > 1 and 4 * len(suspects) * size <= left:
            ordered = [*rest, *suspects]
            middle = len(rest) if rest and suspects else len(more) // 2
            for part in (ordered[:middle], ordered[middle:]):
                kept = accepted(kept, part)
            return kept
        if not suspects or left < -RECHECKED_BYTES // 4:
            suspects, rest = more, []
        why = next(iter(worse or ()), None)
        refused.update({item.fingerprint: (item, reasons.get(item.fingerprint, why)) for item in suspects})
        return accepted(kept, rest)

    progress = False
    for _ in range(MOST_ROUNDS):
        candidates = [item for item in findings if _is_allowed(item, unsafe or item.rule in chosen)]
        batch = without_collisions(item for item in candidates if item.fingerprint not in refused)
        if not batch and progress:
            refused, progress = {}, False  # what made things worse before may be right now
            batch = without_collisions(candidates)
        if not batch:
            break
        if kept := accepted([], batch):
            if len(kept) < len(batch):
                step([], kept)
            now, findings, progress = changed, after, True
            before = checked(now, findings)
    if not _is_better(first, findings):
        now, findings = dict(files), first
    changes = {path: now[path] for path in files if files[path] != now[path]}
    refusals = tuple((item, why) for item, why in refused.values() if why is not None)
    return FixedSet({path: files[path] for path in changes}, changes, _gone(first, findings), tuple(findings), refusals)


def without_collisions(findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose fixes do not collide with the fixes of earlier findings."""
    taken: dict[str, Edits] = {}
    chosen: list[Finding] = []
    for finding in findings:
        edits = _edits(finding.fix)
        if not any(path in taken and taken[path].collides(edit) for path, edit in edits):
            chosen.append(finding)
            for path, edit in edits:
                taken.setdefault(path, Edits()).add(edit)
    return chosen


_ELEMENT: Final = re.compile(r"(?:/(?:fields|commonStructs)/[0-9]+)*+")


def _reasons(worse: Iterable[Regression], findings: Iterable[Finding]) -> dict[str, Regression]:
    """The findings, by fingerprint, whose fixes are likely to cause regressions, and the first of these for each.

    They are those about the same property, else about the same field or struct, else those that edit the same file.
    """
    near: dict[tuple[str, str | None], list[str]] = {}
    for item in findings:
        places = {(item.path, item.pointer), (item.path, _element(item.pointer))}
        for place in (*places, *((path, None) for path in {path for path, _ in _edits(item.fix)})):
            near.setdefault(place, []).append(item.fingerprint)
    reasons: dict[str, Regression] = {}
    known = set()
    for regression in worse:
        pointers = regression.pointer, _element(regression.pointer), None
        blamed = next((key for pointer in pointers if (key := (regression.path, pointer)) in near), None)
        if blamed and blamed not in known:
            known.add(blamed)
            reasons |= {key: regression for key in near[blamed] if key not in reasons}
    return reasons


def _element(pointer: str) -> str:
    """The pointer of the field or struct that a JSON pointer leads into; empty for the message."""
    match = _ELEMENT.match(pointer)
    return match.group() if match else ""


def _gone(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that are gone; of several of a rule in one file, those with a fix first."""
    remaining = Counter((item.rule, item.path) for item in after)
    gone: list[Finding] = []
    for item in sorted(before, key=lambda item: item.fix is not None):
        if remaining[item.rule, item.path] > 0:
            remaining[item.rule, item.path] -= 1
        else:
            gone.append(item)
    return tuple(sorted(gone, key=lambda item: (item.path, item.line, item.column, item.rule)))


def _is_allowed(finding: Finding, unsafe: bool) -> bool:
    return finding.fix is not None and (unsafe or finding.fix.applicability == "safe")


def _edits(fix: Fix | None) -> list[tuple[str, Edit]]:
    return [(edit.path, Edit(edit.start, edit.end, edit.text)) for edit in fix.edits] if fix else []


def _changed(files: Mapping[str, bytes], findings: Iterable[Finding]) -> dict[str, bytes]:
    by_file: dict[str, list[Edit]] = {}
    for finding in findings:
        for path, edit in _edits(finding.fix):
            by_file.setdefault(path, []).append(edit)
    return {path: apply_edits(data, by_file.get(path, ())) for path, data in files.items()}


def _is_better(before: Sequence[Finding], after: Sequence[Finding]) -> bool:
    """Whether the findings are fewer or less severe, without those that a mistake in the JSON hid."""
    hidden = unreadable(before) - unreadable(after)
    return _counts([item for item in after if item.path not in hidden]) < _counts(before)


def _counts(findings: Sequence[Finding]) -> tuple[int, int, int]:
    """The number of errors, of findings that are at least warnings, and of all findings."""
    counts = Counter(finding.severity for finding in findings)
    return counts["error"], counts["error"] + counts["warning"], counts.total()
