"""Apply fixes to a set of definitions, in rounds of fixes that do not collide, as long as nothing gets worse."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import msgspec

from kiplint.compat.released import Releases
from kiplint.engine.finding import Finding, Fix
from kiplint.fixes.sets import Check, CheckedFiles, Files, Regression, regressions, unreadable
from kiplint.text.edit import Edit, Edits, apply_edits

MOST_ROUNDS: Final = 6
MOST_TRIALS: Final = 64
"""How often a set is checked again to tell the fixes that make something worse from the others."""


class FixedSet(msgspec.Struct, frozen=True):
    """The result of fixing a set: the files that changed, the findings that were fixed, and those that remain.

    `refusals` are remaining findings whose fixes would make something worse, and what the first of them would.
    """

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    fixed: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    refusals: tuple[tuple[Finding, Regression], ...] = ()


def fix_set(
    files: Files,
    check: Check,
    *,
    unsafe: bool = False,
    others: Check = lambda files: (),
    releases: Releases | None = None,
) -> FixedSet:
    """Apply all fixes of the findings of `check`; `unsafe` ones, which a person has to review, only where that is set.

    Fixes that collide are applied in separate rounds, and those of texts that are no JSON before all others. A fix that
    makes anything worse (see `regressions`) is not applied; `others` gives the findings of the rules that `check` does
    not run, `releases` decide what is released, by default all versions of the files. Fixes are tried one by one as far
    as `MOST_TRIALS` suffice; beyond, all are refused that are where something gets worse.
    """
    trials = _Trials(check, others, releases)
    first = state = trials.check(files)
    refusals: dict[str, Refusal] = {}
    progress = False
    for _ in range(MOST_ROUNDS):
        candidates = [item for item in state.own if item.fix and (unsafe or item.fix.applicability == "safe")]
        candidates = [item for item in candidates if item.rule.startswith(TEXT)] or candidates
        batch = without_collisions(item for item in candidates if item.fingerprint not in refusals)
        if not batch and progress:
            refusals, progress = {}, False  # what made things worse before may be right now
            batch = without_collisions(candidates)
        if not batch or trials.left < 0:
            break
        better, new_refusals = trials.accept(state, batch)
        refusals |= new_refusals
        progress |= better is not state
        state = better
    if not _is_better(first.own, state.own):
        state = first
    paths = [path for path, data in state.files.items() if files[path] != data]
    return FixedSet(
        {path: files[path] for path in paths},
        {path: state.files[path] for path in paths},
        _fixed_findings(first.own, state.own),
        tuple(state.own),
        tuple((finding, reason) for finding, reason in refusals.values() if reason is not None),
    )


TEXT: Final = "syntax/"
"""The rules about texts. All other rules read a definition out of the text as far as it is JSON."""

Refusal = tuple[Finding, Regression | None]
"""A finding whose fix is not applied, and what it would make worse; None where it would fix nothing."""


class _Trials:
    """Tries fixes on the files of a set; `left` is how often they may still be checked."""

    def __init__(self, check: Check, others: Check, releases: Releases | None) -> None:
        self._check, self._others, self._releases = check, others, releases
        self.left = MOST_TRIALS

    def check(self, files: Files) -> CheckedFiles:
        """The files with their findings."""
        return CheckedFiles(files, self._check(files), self._others(files))

    def accept(self, before: CheckedFiles, batch: Sequence[Finding]) -> tuple[CheckedFiles, dict[str, Refusal]]:
        """The files with those fixes of a batch that together make nothing worse, and the refusals of the others."""
        accepted_findings: list[Finding] = []
        refusals: dict[str, Refusal] = {}
        better, parts = before, [list(batch)]
        while parts:
            if not (part := parts.pop()):
                continue
            self.left -= 1
            after = self.check(_apply_fixes(before.files, (*accepted_findings, *part)))
            useless = {_key(item) for item in after.own}.issuperset(map(_key, part))
            likely = any(item.fix and item.fix.applicability == "unsafe" for item in (*accepted_findings, *part))
            worse = [] if useless else list(regressions(before, after, likely=likely, releases=self._releases))
            if not (useless or worse):
                accepted_findings += part
                better = after
                continue
            reasons = _reasons(worse, part)
            suspects = [item for item in part if item.fingerprint in reasons]
            rest = [item for item in part if item.fingerprint not in reasons]
            if len(part) > 1 and 4 * len(suspects) <= self.left:
                middle = len(rest) if rest and suspects else len(part) // 2
                items = [*rest, *suspects]
                parts += [items[middle:], items[:middle]]
                continue
            if not suspects or self.left < 0:
                suspects, rest = part, []
            reason = next(iter(worse), None)
            refusals |= {item.fingerprint: (item, reasons.get(item.fingerprint, reason)) for item in suspects}
            parts.append(rest)
        return better, refusals


def _key(finding: Finding) -> tuple[str, str]:
    return finding.fingerprint, finding.message


def without_collisions(findings: Iterable[Finding]) -> list[Finding]:
    """The findings whose fixes do not collide with the fixes of earlier findings."""
    edits_by_path: dict[str, Edits] = {}
    compatible: list[Finding] = []
    for finding in findings:
        edits = _edits(finding.fix)
        if not any(path in edits_by_path and edits_by_path[path].collides(edit) for path, edit in edits):
            compatible.append(finding)
            for path, edit in edits:
                edits_by_path.setdefault(path, Edits()).add(edit)
    return compatible


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
    for regression in worse:
        pointers = (regression.pointer, _element(regression.pointer), None)
        keys = ((regression.path, pointer) for pointer in pointers)
        for fingerprint in next((near.pop(key) for key in keys if key in near), ()):
            reasons.setdefault(fingerprint, regression)
    return reasons


def _element(pointer: str) -> str:
    """The pointer of the field or struct that a JSON pointer leads into; empty for the message."""
    match = _ELEMENT.match(pointer)
    return match.group() if match else ""


def _fixed_findings(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that are gone; of several of a rule in one file, those with a fix first."""
    remaining = Counter((item.rule, item.path) for item in after)
    findings: list[Finding] = []
    for item in sorted(before, key=lambda item: item.fix is not None):
        if remaining[item.rule, item.path] > 0:
            remaining[item.rule, item.path] -= 1
        else:
            findings.append(item)
    return tuple(sorted(findings, key=lambda item: (item.path, item.line, item.column, item.rule)))


def _edits(fix: Fix | None) -> list[tuple[str, Edit]]:
    return [(edit.path, edit) for edit in fix.edits] if fix else []


def _apply_fixes(files: Mapping[str, bytes], findings: Iterable[Finding]) -> dict[str, bytes]:
    by_file: dict[str, list[Edit]] = {}
    for finding in findings:
        for path, edit in _edits(finding.fix):
            by_file.setdefault(path, []).append(edit)
    return {path: apply_edits(data, by_file.get(path, ())) for path, data in files.items()}


def _is_better(before: Sequence[Finding], after: Sequence[Finding]) -> bool:
    """Whether the findings are fewer or less severe, without those that a mistake in the JSON hid."""
    hidden_paths = unreadable(before) - unreadable(after)
    return _counts([item for item in after if item.path not in hidden_paths]) < _counts(before)


def _counts(findings: Sequence[Finding]) -> tuple[int, int, int]:
    """The number of errors, of findings that are at least warnings, and of all findings."""
    counts = Counter(finding.severity for finding in findings)
    return counts["error"], counts["error"] + counts["warning"], counts.total()
