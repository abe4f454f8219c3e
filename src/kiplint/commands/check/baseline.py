"""The baseline of a check: recorded findings are left out of its result, and the file can be updated."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from kiplint.engine.baseline import (
    Baseline,
    BaselineEntry,
    StaleEntry,
    baseline_of,
    new_findings,
    read_baseline,
    stale_entries,
    without,
    write_baseline,
)
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.sources.tree import home_of
from kiplint.text.files import Disk
from kiplint.text.show import encodable, printable
from kiplint.text.words import plural

MOST_LISTED = 20
"""How many stale entries are listed."""
HIDING = ("syntax/", "shape/")
"""Findings of these rules that belong to no message hide all other findings of their file."""


class BaselineFile(NamedTuple):
    """The file of a baseline, whether the user names it or a configuration, and what a run does with it."""

    path: str
    is_named: bool
    is_updated: bool
    sets: tuple[str, ...]
    files: Disk


def find_baseline(named: str, configured: str, sets: tuple[str, ...], files: Disk, *, is_updated: bool) -> BaselineFile:
    """The baseline that the user names, else the configured one. Raises UsageError where there is none to update."""
    if named:
        return BaselineFile(named, True, is_updated, sets, files)
    if not configured:
        raise UsageError("--update-baseline writes a baseline: name it by --baseline FILE")
    inside = os.path.realpath(configured).startswith(os.path.join(os.getcwd(), ""))
    return BaselineFile(os.path.relpath(configured) if inside else configured, False, is_updated, sets, files)


class Compared(NamedTuple):
    """The findings that no baseline records, its stale entries (None without a baseline), and warnings about it."""

    findings: tuple[Finding, ...]
    stale: tuple[StaleEntry, ...] | None
    notes: tuple[str, ...]


def apply_baseline(
    findings: tuple[Finding, ...],
    everything: tuple[Finding, ...],
    plain: Callable[[], tuple[Finding, ...]],
    rules: RuleSet,
    baseline: BaselineFile,
    tree: str = "",
) -> Compared:
    """The findings that are not recorded; `everything` are these and the older ones, whose entries are not stale.

    `plain` gives the findings without a base, as a baseline records them: rules may report less with one. `tree` is the
    directory of the configuration; outside its work tree a configured file is not written. An entry is stale when this
    run would have reported what it records: its rule ran, its file could be read, and everything was checked that the
    baseline covers. An update writes the file with all `findings` where there is none yet. Raises UsageError when the
    file cannot be read or written, and when stale entries should go but not everything was checked.
    """
    file, before = baseline.path, _read(baseline)
    checked_paths = [_recorded_path(path, file) for path in baseline.sets]
    writable_tree = None if baseline.is_named else home_of(tree) or tree
    if before is None:
        first = baseline_of(findings, checked_paths)
        write_baseline(first, file, writable_tree)
        return Compared((), (), (_holds(file, first, first.total, 0),))
    missing = [path for path in before.checked if not _is_covered(path, checked_paths, file)]
    is_judged = (lambda entry: False) if missing else _reportable(everything, rules)
    stale = stale_entries(before, everything, is_judged)
    if stale and plain() is not everything:
        stale = stale_entries(before, plain(), is_judged)
    new = new_findings(before, findings)
    if not baseline.is_updated:
        return Compared(new, stale, tuple(_warning(file, before, stale)))
    if missing:
        raise UsageError(f"{file} is about {missing[0]} too: nothing can be dropped from it without checking that")
    after = without(before, stale)
    write_baseline(after, file, writable_tree)
    return Compared(new, (), (_holds(file, after, 0, _paid(stale)),))


def read_counts(baseline: BaselineFile) -> dict[str, int]:
    """How often each finding is recorded, by fingerprint; raises UsageError as `apply_baseline` does for the file."""
    content = _read(baseline)
    return content.counts if content else {}


def _holds(file: str, baseline: Baseline, new: int, dropped: int) -> str:
    return f"{printable(file)} holds {plural(baseline.total, 'finding')}: {new:,} new, {dropped:,} dropped"


def _read(baseline: BaselineFile) -> Baseline | None:
    """The baseline; None where there is none yet, and an update writes it."""
    content = read_baseline(baseline.path, baseline.files)
    if content is None and not baseline.is_updated:
        raise UsageError(f"there is no baseline {baseline.path}; to record the present findings, add --update-baseline")
    return content


def _recorded_path(path: str, file: str) -> str:
    """A path as a baseline names it: relative to the file of the baseline, if it is on disk."""
    if os.path.lexists(path):
        path = os.path.relpath(os.path.realpath(path), _folder(file)).replace(os.sep, "/")
    return encodable(path)


def _is_covered(recorded_path: str, checked_paths: Sequence[str], file: str) -> bool:
    """Whether a recorded path lies in a checked one; a path that no longer exists is covered too."""
    folder = _folder(file)
    inner, *outer = (os.path.normpath(os.path.join(folder, path)) for path in (recorded_path, *checked_paths))
    is_gone = ":" not in recorded_path and not os.path.lexists(inner)
    return is_gone or any(inner == path or inner.startswith(os.path.join(path, "")) for path in outer)


def _folder(file: str) -> str:
    return os.path.dirname(os.path.realpath(file))


def _reportable(findings: Sequence[Finding], rules: RuleSet) -> Callable[[BaselineEntry], bool]:
    """The test whether this run would have reported what an entry records."""
    off = {rule.id for rule in rules.all_rules} - {rule.id for rule in rules.rules}
    hiding_findings = [finding for finding in findings if not finding.message_name and finding.rule.startswith(HIDING)]
    unparsable = {_plain(finding.path) for finding in hiding_findings}
    return lambda entry: entry.rule not in off and _plain(entry.message_name) not in unparsable


def _plain(name: str) -> str:
    """The name of a message, or of the file that it is in, in one spelling: `fetch_request.json` has FetchRequest."""
    return os.path.basename(name).removesuffix(".json").replace("_", "").lower()


def _warning(file: str, baseline: Baseline, stale: Sequence[StaleEntry]) -> Iterator[str]:
    if not stale:
        return
    number = _paid(stale)
    verb, them = ("is", "it") if number == 1 else ("are", "them")
    total = plural(baseline.total, "recorded finding")
    yield f"warning: {printable(file)}: {number:,} of {total} {verb} stale, --update-baseline drops {them}"
    for entry in stale[:MOST_LISTED]:
        yield f"  stale: {entry.where}" + (f" ({entry.left:,} of {entry.count:,} left)" if entry.left else "")
    if len(stale) > MOST_LISTED:
        yield f"  ... and {len(stale) - MOST_LISTED:,} more"


def _paid(stale: Sequence[StaleEntry]) -> int:
    """How many recorded findings are gone."""
    return sum(entry.count - entry.left for entry in stale)
