"""Apply fixes to a set of definitions, in rounds of fixes that do not collide, as long as nothing gets worse."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from kiplint.engine.finding import Finding, Fix
from kiplint.model.headers import header_of
from kiplint.model.layout import intervals, layout, tokens
from kiplint.model.load import load
from kiplint.model.message import Message
from kiplint.text.edit import Edit, apply_edits, collide
from kiplint.versions import VersionRange, boundaries

Check = Callable[[Mapping[str, bytes]], Sequence[Finding]]
"""A function from the files of a set, by path, to its findings with their fixes."""

MOST_ROUNDS = 40


class FixedSet(msgspec.Struct, frozen=True):
    """The result of fixing a set: the files that changed, the findings that were fixed, and those that remain."""

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    fixed: tuple[Finding, ...]
    remaining: tuple[Finding, ...]


def fix_set(files: Mapping[str, bytes], check: Check, *, unsafe: bool = False) -> FixedSet:
    """Apply all fixes that are allowed; `unsafe` allows those too that a person has to review.

    Fixes that collide are applied in separate rounds. A fix that would leave the set with more findings of any rule is
    not applied; nor is a safe fix that would change the layout or header of a version.
    """
    now = dict(files)
    first = findings = list(check(now))
    refused: set[str] = set()
    for _ in range(MOST_ROUNDS):
        candidates = [item for item in findings if _is_allowed(item, unsafe) and item.identity not in refused]
        chosen = _without_collisions(candidates)
        if not chosen:
            break
        step = _step(now, findings, chosen, check, unsafe=unsafe)
        if step is None:
            bad = [item for item in chosen if _step(now, findings, [item], check, unsafe=unsafe) is None]
            refused.update(item.identity for item in bad or chosen[1:])
            continue
        now, findings = step
        refused.clear()  # what made things worse before may be right now
    if not _counts(findings) < _counts(first):
        now, findings = dict(files), first
    before = {path: files[path] for path in files if files[path] != now[path]}
    return FixedSet(before, {path: now[path] for path in before}, _gone(first, findings), tuple(findings))


def _step(
    files: Mapping[str, bytes], findings: Sequence[Finding], chosen: Sequence[Finding], check: Check, *, unsafe: bool
) -> tuple[dict[str, bytes], list[Finding]] | None:
    """The files with the fixes applied, and their findings; None when that is no improvement."""
    changed = _changed(files, chosen)
    after = list(check(changed))
    still = {(item.identity, item.message) for item in after}
    improves = any((item.identity, item.message) not in still for item in chosen) and _is_no_worse(findings, after)
    return (changed, after) if improves and (unsafe or _keeps_layouts(files, changed)) else None


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
    """The findings whose fixes do not collide with those of findings before them."""
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


def _is_no_worse(before: Sequence[Finding], after: Sequence[Finding]) -> bool:
    """Whether there are no more findings of any rule."""
    old, new = (Counter(finding.rule for finding in findings) for findings in (before, after))
    return new <= old


def _counts(findings: Sequence[Finding]) -> tuple[int, int, int]:
    """The number of errors, of findings that are at least warnings, and of all findings."""
    counts = Counter(finding.severity for finding in findings)
    return counts["error"], counts["error"] + counts["warning"], counts.total()


def _keeps_layouts(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> bool:
    """Whether no version that could be read has another layout or header."""
    for path, data in before.items():
        if after[path] != data:
            old, new = load(path, data).message, load(path, after[path]).message
            if old is not None and _is_readable(old) and (new is None or not _is_same(old, new)):
                return False
    return True


def _is_readable(message: Message) -> bool:
    """Whether all types are known, so that there is a layout to keep."""
    return not message.valid_problem and all(field.is_primitive or field.struct for field in message.all_fields)


def _is_same(old: Message, new: Message) -> bool:
    if not old.valid <= new.valid:
        return False
    ranges: list[VersionRange] = [*intervals(old), *intervals(new)]
    ranges += [entry.versions for message in (old, new) for entry in message.header_ranges]
    for piece in boundaries([*ranges, old.flexible, VersionRange.of(0, 0)], old.valid):
        version = piece.lowest
        if tokens(layout(old, version)) != tokens(layout(new, version)):
            return False
        if old.is_rpc and -1 != header_of(old, version) != header_of(new, version):
            return False
    return True
