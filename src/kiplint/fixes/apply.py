"""Mending sets of definitions: the fixes that go together are made, again and again, as long as nothing gets worse."""

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
"""From the files of a set, by path, to its findings with their fixes."""

MOST_ROUNDS = 40


class FixedSet(msgspec.Struct, frozen=True):
    """What mending a set came to: the files that changed, what was mended, and the findings that are left."""

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    mended: tuple[Finding, ...]
    left: tuple[Finding, ...]


def fix_set(files: Mapping[str, bytes], check: Check, *, unsafe: bool = False) -> FixedSet:
    """The files after all fixes that may be made. `unsafe` takes those too that a person has to look at.

    Fixes that collide come one after the other, in rounds. One that would leave the set with more findings of any rule
    is not made; nor is a safe one that would give a version another layout or header.
    """
    now = dict(files)
    first = findings = list(check(now))
    refused: set[str] = set()
    for _ in range(MOST_ROUNDS):
        wanted = [one for one in findings if _may_be_made(one, unsafe) and one.identity not in refused]
        chosen = _together(wanted)
        if not chosen:
            break
        step = _step(now, findings, chosen, check, unsafe=unsafe)
        if step is None:
            bad = [one for one in chosen if _step(now, findings, [one], check, unsafe=unsafe) is None]
            refused.update(one.identity for one in bad or chosen[1:])
            continue
        now, findings = step
        refused.clear()  # what was worse before may be right now
    if not _counted(findings) < _counted(first):
        now, findings = dict(files), first
    before = {path: files[path] for path in files if files[path] != now[path]}
    return FixedSet(before, {path: now[path] for path in before}, _gone(first, findings), tuple(findings))


def _step(
    files: Mapping[str, bytes], findings: Sequence[Finding], chosen: Sequence[Finding], check: Check, *, unsafe: bool
) -> tuple[dict[str, bytes], list[Finding]] | None:
    """The files with the fixes made, and what is found then; None when that is worse."""
    changed = _changed(files, chosen)
    found = list(check(changed))
    still = {(one.identity, one.message) for one in found}
    does = any((one.identity, one.message) not in still for one in chosen)
    fine = does and _is_no_worse(findings, found) and (unsafe or _keeps_layouts(files, changed))
    return (changed, found) if fine else None


def _gone(before: Sequence[Finding], after: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that are there no more; of several of a rule in one file, the first that there is a fix for."""
    remaining = Counter((one.rule, one.path) for one in after)
    gone: list[Finding] = []
    for one in sorted(before, key=lambda one: one.fix is not None):
        if remaining[one.rule, one.path] > 0:
            remaining[one.rule, one.path] -= 1
        else:
            gone.append(one)
    return tuple(sorted(gone, key=lambda one: (one.path, one.span.line, one.span.column, one.rule)))


def _may_be_made(finding: Finding, unsafe: bool) -> bool:
    return finding.fix is not None and (unsafe or finding.fix.applicability == "safe")


def _together(wanted: Iterable[Finding]) -> list[Finding]:
    """The first of the findings whose fixes do not collide."""
    taken: dict[str, list[Edit]] = {}
    chosen: list[Finding] = []
    for one in wanted:
        edits = _edits(one.fix)
        if any(collide(new, old) for path, new in edits for old in taken.get(path, ())):
            continue
        for path, edit in edits:
            taken.setdefault(path, []).append(edit)
        chosen.append(one)
    return chosen


def _edits(fix: Fix | None) -> list[tuple[str, Edit]]:
    return [(one.path, Edit(one.start, one.end, one.text)) for one in fix.edits] if fix else []


def _changed(files: Mapping[str, bytes], findings: Iterable[Finding]) -> dict[str, bytes]:
    by_file: dict[str, list[Edit]] = {}
    for one in findings:
        for path, edit in _edits(one.fix):
            by_file.setdefault(path, []).append(edit)
    return {path: apply_edits(data, by_file.get(path, ())) for path, data in files.items()}


def _is_no_worse(before: Sequence[Finding], after: Sequence[Finding]) -> bool:
    """Whether there are no more findings of any rule."""
    old, new = (Counter(one.rule for one in some) for some in (before, after))
    return new <= old


def _counted(findings: Sequence[Finding]) -> tuple[int, int, int]:
    """How many there are that are errors, at least warnings, and in all."""
    counts = Counter(one.severity for one in findings)
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
    return not message.valid_problem and all(one.is_primitive or one.struct for one in message.all_fields)


def _is_same(old: Message, new: Message) -> bool:
    if not old.valid <= new.valid:
        return False
    ranges: list[VersionRange] = [*intervals(old), *intervals(new)]
    ranges += [one.versions for side in (old, new) for one in side.header_ranges]
    for piece in boundaries([*ranges, old.flexible, VersionRange.of(0, 0)], old.valid):
        version = piece.lowest
        if tokens(layout(old, version)) != tokens(layout(new, version)):
            return False
        if old.is_rpc and -1 != header_of(old, version) != header_of(new, version):
            return False
    return True
