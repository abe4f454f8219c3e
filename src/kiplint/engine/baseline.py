"""The baseline: recorded findings that are accepted, so that only new findings are reported.

A baseline counts fingerprints, so it knows neither lines nor paths: a schema can grow, move to another file or into
another directory, and its recorded findings stay the same. Rule, message and location accompany each fingerprint for
people who read the history of the file.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Annotated, Literal, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.limits import BASELINE_BYTES
from kiplint.sources.repository import work_tree_of
from kiplint.text.decode import NOT_JSON, blank_comments
from kiplint.text.files import DISK, Disk, read_file, relative_path, replace_file
from kiplint.text.show import encodable, printable
from kiplint.text.words import plural


class BaselineEntry(msgspec.Struct, frozen=True):
    """A finding that is accepted `count` times."""

    message_name: str
    rule: str
    place: Annotated[str, Meta(description="The JSON pointer of the place, with names for indexes.")]
    count: Annotated[int, Meta(ge=1, description="How many findings are recorded.")]
    fingerprint: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]


class StaleEntry(BaselineEntry, frozen=True):
    """An entry of the baseline that records more findings than there still are."""

    left: Annotated[int, Meta(ge=0, description="How many of them still occur.")]


class Baseline(msgspec.Struct, frozen=True):
    """The accepted findings, each fingerprint once, and the sets that were checked when they were recorded."""

    version: Literal[1]
    checked: tuple[str, ...]
    findings: tuple[BaselineEntry, ...]

    @property
    def total(self) -> int:
        """The number of accepted findings."""
        return sum(entry.count for entry in self.findings)

    @property
    def counts(self) -> dict[str, int]:
        """The number of accepted findings, by fingerprint."""
        return {entry.fingerprint: entry.count for entry in self.findings}


class BaselineFile(NamedTuple):
    """The file of a baseline, one of the `files`, and whether a run updates it.

    A file that a configuration names is written only in the work tree around `config_folder`, the directory of the
    configuration, because that may come from a pull request. `config_folder` is None for a file that the user names.
    """

    path: str
    is_updated: bool = False
    config_folder: str | None = None
    files: Disk = DISK


class BaselineResult(NamedTuple):
    """The findings that no baseline records, its stale entries (None without a baseline), and notes about it."""

    findings: tuple[Finding, ...]
    stale: tuple[StaleEntry, ...] | None = None
    notes: tuple[str, ...] = ()


def apply_baseline(
    findings: tuple[Finding, ...], rules: RuleSet, file: BaselineFile, sets: Iterable[str], *, is_whole: bool
) -> BaselineResult:
    """The findings of a run that the baseline does not record, the entries that are stale now, and notes.

    The run checks the paths `sets`. An entry is stale when the run would have found what it records, and did not: its
    rule ran, everything was checked that the baseline covers, and the run `is_whole`, which means that every file could
    be read and no base hides findings. An update drops the stale entries, and writes the file with all findings where
    there is none yet. Raises UsageError when the file cannot be read or written.
    """
    baseline = read_baseline(file)
    folder = os.path.dirname(os.path.realpath(file.path))
    checked_paths = [_recorded_path(path, folder) for path in sets]
    if baseline is None:
        baseline = baseline_of(findings, checked_paths)
        write_baseline(baseline, file)
        note = _update_note(file.path, baseline, new=baseline.total, dropped=0)
        return BaselineResult(findings=(), stale=(), notes=(note,))

    stale: tuple[StaleEntry, ...] = ()
    if is_whole and all(_is_covered(path, checked_paths, folder) for path in baseline.checked):
        ids_not_run = {rule.id for rule in rules.all_rules} - {rule.id for rule in rules.rules}
        stale = tuple(entry for entry in stale_entries(baseline, findings) if entry.rule not in ids_not_run)
    unrecorded_findings = new_findings(findings, baseline.counts)
    updated_baseline = drop_stale(baseline, stale)
    dropped = baseline.total - updated_baseline.total
    if file.is_updated:
        write_baseline(updated_baseline, file)
        note = _update_note(file.path, updated_baseline, new=0, dropped=dropped)
        return BaselineResult(unrecorded_findings, stale=(), notes=(note,))
    warning = (
        f"warning: {printable(file.path)}: stale findings: {dropped:,} of {baseline.total:,}; "
        "--update-baseline removes them"
    )
    return BaselineResult(unrecorded_findings, stale, (warning,) if stale else ())


def are_among(findings: Iterable[Finding], counts: Mapping[str, int]) -> list[bool]:
    """Whether each finding is among known ones, such as those of a baseline: `counts` is their number by fingerprint.

    Of more findings with one fingerprint than are known, the first ones are the known ones.
    """
    unused_counts = Counter(counts)
    result = []
    for finding in findings:
        result.append(unused_counts[finding.fingerprint] > 0)
        unused_counts[finding.fingerprint] -= 1
    return result


def new_findings(findings: Sequence[Finding], counts: Mapping[str, int]) -> tuple[Finding, ...]:
    """The findings that a baseline does not record, in their order; `counts` is how many it records, by fingerprint."""
    flags = are_among(findings, counts)
    return tuple(finding for finding, is_recorded in zip(findings, flags, strict=True) if not is_recorded)


def stale_entries(baseline: Baseline, findings: Iterable[Finding]) -> tuple[StaleEntry, ...]:
    """The entries that record more findings than these `findings` have, each with the number that remains."""
    present_counts = Counter(finding.fingerprint for finding in findings)
    return tuple(
        StaleEntry(**asdict(entry), left=present_counts[entry.fingerprint])
        for entry in baseline.findings
        if present_counts[entry.fingerprint] < entry.count
    )


def drop_stale(baseline: Baseline, stale: Iterable[StaleEntry]) -> Baseline:
    """The baseline with the counts of stale entries reduced to what is left; entries with nothing left are dropped."""
    new_counts = baseline.counts | {entry.fingerprint: entry.left for entry in stale}
    entries = [replace(entry, count=new_counts[entry.fingerprint]) for entry in baseline.findings]
    return _sorted_baseline(baseline.checked, (entry for entry in entries if entry.count))


def baseline_of(findings: Iterable[Finding], checked_paths: Iterable[str]) -> Baseline:
    """The baseline that records these findings, and the sets at these paths, which were checked for them."""
    entries = (
        BaselineEntry(printable(item.message_name), item.rule, printable(item.place), 1, item.fingerprint)
        for item in findings
    )
    return _sorted_baseline(checked_paths, entries)


def _sorted_baseline(checked_paths: Iterable[str], entries: Iterable[BaselineEntry]) -> Baseline:
    """The baseline with the entries in order; the counts of one fingerprint, of which a merge may leave two, add up."""
    by_fingerprint: dict[str, BaselineEntry] = {}
    for entry in entries:
        previous_entry = by_fingerprint.get(entry.fingerprint)
        count = entry.count + (previous_entry.count if previous_entry else 0)
        by_fingerprint[entry.fingerprint] = replace(previous_entry or entry, count=count)
    sorted_entries = sorted(by_fingerprint.values(), key=attrgetter("message_name", "rule", "place", "fingerprint"))
    return Baseline(1, tuple(sorted(set(checked_paths))), tuple(sorted_entries))


def parse(data: bytes, name: str) -> Baseline:
    """The baseline of a file, which may begin with comments such as a licence. Raises UsageError."""
    try:
        baseline = msgspec.json.decode(blank_comments(data), type=Baseline)
    except NOT_JSON as error:
        raise UsageError(f"{name} is not a baseline: {error}") from None
    return _sorted_baseline(baseline.checked, baseline.findings)


def render(baseline: Baseline) -> bytes:
    """The text of a baseline: sorted, one entry a line, so that diffs show which entries come and go."""
    findings = b",\n".join(map(msgspec.json.encode, baseline.findings))
    return b'{"version": 1, "checked": %b, "findings": [\n%b\n]}\n' % (msgspec.json.encode(baseline.checked), findings)


def read_baseline(file: BaselineFile) -> Baseline | None:
    """The baseline of a file; None if there is no file yet and the run will write it, otherwise raises UsageError."""
    try:
        return parse(file.files.read(file.path, BASELINE_BYTES), file.path)
    except FileNotFoundError:
        if file.is_updated:
            return None
        text = f"there is no baseline {file.path}; to record the current findings, add --update-baseline"
        raise UsageError(text) from None
    except OSError as error:
        raise UsageError(f"cannot read the baseline {file.path}: {error.strerror}") from None


def write_baseline(baseline: Baseline, file: BaselineFile) -> None:
    """Write or replace the file of a baseline; a link stays a link. Raises UsageError when that fails."""
    target = os.path.realpath(file.path)
    try:
        if file.config_folder is not None:
            tree = work_tree_of(file.config_folder) or file.config_folder
            if not target.startswith(os.path.join(os.path.realpath(tree), "")):
                text = f"it is outside {tree}; name it with --baseline to allow that"
                raise UsageError(f"cannot write the baseline {file.path}: {text}")
        replace_file(target, _leading_comments(target) + render(baseline))
    except OSError as error:
        raise UsageError(f"cannot write the baseline {file.path}: {error.strerror}") from None


def _leading_comments(path: str) -> bytes:
    """The comments at the beginning of a baseline, such as a licence; empty if there is no file yet."""
    if not os.path.lexists(path):
        return b""
    before_object, brace, _ = read_file(path, BASELINE_BYTES).partition(b"{")
    is_comment = brace and not blank_comments(before_object).strip()
    return before_object if is_comment else b""


def _recorded_path(path: str, folder: str) -> str:
    """A checked path or revision as a baseline records it: a path that exists is made relative to its folder."""
    if os.path.lexists(path):
        path = relative_path(os.path.realpath(path), folder)
    return encodable(path)


def _is_covered(recorded_path: str, checked_paths: Iterable[str], folder: str) -> bool:
    """Whether a recorded path is or lies below one of the checked paths; one that no longer exists is covered too.

    All of them are as `_recorded_path` gives them for the `folder` of the baseline.
    """
    full_path = os.path.normpath(os.path.join(folder, recorded_path))
    is_revision = ":" in recorded_path
    if not is_revision and not os.path.lexists(full_path):
        return True
    for checked_path in checked_paths:
        covering_path = os.path.normpath(os.path.join(folder, checked_path))
        if full_path == covering_path or full_path.startswith(os.path.join(covering_path, "")):
            return True
    return False


def _update_note(path: str, baseline: Baseline, new: int, dropped: int) -> str:
    """The note about a baseline that was written, with the number of added and removed findings."""
    return f"{printable(path)} has {plural(baseline.total, 'finding')}: {new:,} new, {dropped:,} removed"
