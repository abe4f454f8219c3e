"""The baseline: recorded findings that are accepted, so that only new findings are reported.

A baseline counts fingerprints, so it knows neither lines nor paths: a schema can grow, move to another file or into
another directory, and its debt stays the same. Rule, message and place stand beside each fingerprint for the people who
read the file's history; only fingerprint and count have a meaning.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.limits import BASELINE_BYTES
from kiplint.text.decode import NOT_JSON, blank_comments
from kiplint.text.files import DISK, Disk, read_file, replace_file
from kiplint.text.show import printable

VERSION = 1


class BaselineEntry(msgspec.Struct, frozen=True):
    """A finding that is accepted `count` times."""

    message_name: str
    rule: str
    place: Annotated[str, Meta(description="The JSON pointer of the place, with names for indexes.")]
    count: Annotated[int, Meta(ge=1, description="How many findings are recorded.")]
    fingerprint: Annotated[str, Meta(pattern="^[0-9a-f]{32}$")]

    @property
    def where(self) -> str:
        """Rule, message and place in a line that is safe to print."""
        message = f" in {printable(self.message_name)}" if self.message_name else ""
        return f"{printable(self.rule)}{message}" + (f" at {printable(self.place)}" if self.place else "")


class StaleEntry(BaselineEntry, frozen=True):
    """An entry of the baseline that records more findings than there still are."""

    left: Annotated[int, Meta(ge=0, description="How many of them are still there.")]


class Baseline(msgspec.Struct, frozen=True):
    """The accepted findings, each fingerprint once, and the sets that were checked when they were recorded."""

    version: int
    checked: tuple[str, ...]
    findings: tuple[BaselineEntry, ...]

    @property
    def total(self) -> int:
        """The number of accepted findings."""
        return sum(entry.count for entry in self.findings)

    @property
    def counts(self) -> dict[str, int]:
        """How often each finding is accepted, by fingerprint."""
        return {entry.fingerprint: entry.count for entry in self.findings}


def parse(data: bytes, name: str) -> Baseline:
    """The baseline of a file, which may begin with comments such as a licence.

    Entries that occur twice after a merge are added up. Raises UsageError.
    """
    try:
        content = msgspec.json.decode(blank_comments(data))
        version = content.get("version") if isinstance(content, dict) else None
        if isinstance(version, int) and version != VERSION:
            raise UsageError(f"{name} is a baseline of version {version}; this kiplint reads version {VERSION}")
        baseline = msgspec.convert(content, Baseline)
    except NOT_JSON as error:
        raise UsageError(f"{name} is not a baseline: {error}") from None
    return _make(baseline.checked, baseline.findings)


def render(baseline: Baseline) -> bytes:
    """The text of a baseline: sorted, one entry a line, so that diffs show which entries come and go."""
    set_names = (msgspec.json.encode(name).decode() for name in baseline.checked)
    findings = (_line(entry) for entry in baseline.findings)
    text = f'{{\n  "version": {VERSION},\n  "checked": {_block(set_names)},\n  "findings": {_block(findings)}\n}}\n'
    return text.encode()


def are_recorded(findings: Iterable[Finding], counts: Mapping[str, int]) -> list[bool]:
    """Whether each finding is one that was counted before, by fingerprint; of equal ones the first are."""
    remaining = Counter(counts)
    result = []
    for finding in findings:
        result.append(remaining[finding.fingerprint] > 0)
        remaining[finding.fingerprint] -= 1
    return result


def new_findings(baseline: Baseline, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings that are not accepted, in their order; of equal findings the first are accepted."""
    accepted = are_recorded(findings, baseline.counts)
    return tuple(finding for finding, is_accepted in zip(findings, accepted, strict=True) if not is_accepted)


def stale_entries(
    baseline: Baseline, findings: Iterable[Finding], is_judged: Callable[[BaselineEntry], bool]
) -> tuple[StaleEntry, ...]:
    """The entries that record more than these findings. `is_judged` says whether this run could report an entry's."""
    present = Counter(finding.fingerprint for finding in findings)
    return tuple(
        StaleEntry(**asdict(entry), left=present[entry.fingerprint])
        for entry in baseline.findings
        if present[entry.fingerprint] < entry.count and is_judged(entry)
    )


def without(baseline: Baseline, stale: Iterable[StaleEntry]) -> Baseline:
    """The baseline with its stale entries reduced or removed."""
    remaining = {entry.fingerprint: entry.left for entry in stale}
    counts = ((entry, remaining.get(entry.fingerprint, entry.count)) for entry in baseline.findings)
    return _make(baseline.checked, (replace(entry, count=count) for entry, count in counts if count))


def baseline_of(findings: Iterable[Finding], set_names: Iterable[str]) -> Baseline:
    """The baseline that records these findings, and the sets that were checked for them."""
    return _make(set_names, map(_entry, findings))


def _make(set_names: Iterable[str], entries: Iterable[BaselineEntry]) -> Baseline:
    by_fingerprint: dict[str, BaselineEntry] = {}
    for entry in entries:
        previous = by_fingerprint.get(entry.fingerprint)
        by_fingerprint[entry.fingerprint] = replace(previous, count=previous.count + entry.count) if previous else entry
    sorted_entries = sorted(by_fingerprint.values(), key=attrgetter("message_name", "rule", "place", "fingerprint"))
    return Baseline(VERSION, tuple(sorted(set(set_names))), tuple(sorted_entries))


def _entry(finding: Finding) -> BaselineEntry:
    return BaselineEntry(
        message_name=printable(finding.message_name),
        rule=finding.rule,
        place=printable(finding.place),
        count=1,
        fingerprint=finding.fingerprint,
    )


def _line(entry: BaselineEntry) -> str:
    pairs = asdict(entry).items()
    return "{ " + ", ".join(f'"{name}": {msgspec.json.encode(value).decode()}' for name, value in pairs) + " }"


def _block(lines: Iterable[str]) -> str:
    inner = ",\n".join(f"    {line}" for line in lines)
    return f"[\n{inner}\n  ]" if inner else "[]"


def read_baseline(file: str, files: Disk = DISK) -> Baseline | None:
    """The baseline of a file, None if there is no file; raises UsageError for anything but a baseline."""
    try:
        return parse(files.read(file, BASELINE_BYTES), file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"cannot read the baseline {file}: {error.strerror}") from None


def write_baseline(baseline: Baseline, file: str, tree: str | None) -> None:
    """Write or replace the file of a baseline; a link stays a link. Raises UsageError when that fails.

    A file that a configuration names must be inside the `tree` of the configuration, links resolved, because the
    configuration may come from a pull request. `tree` is None for a file that the user names.
    """
    try:
        target = os.path.realpath(file)
        if tree is not None and not target.startswith(os.path.join(os.path.realpath(tree), "")):
            raise UsageError(
                f"cannot write the baseline {file}: it is outside {tree}; name it by --baseline to allow that"
            )
        replace_file(target, _licence(target) + render(baseline))
    except ValueError:
        raise UsageError(f"cannot write the baseline {file}: there can be no file of that name") from None
    except OSError as error:
        raise UsageError(f"cannot write the baseline {file}: {error.strerror}") from None


def _licence(file: str) -> bytes:
    """The comments at the beginning of the file, which are kept."""
    try:
        data = read_file(file, BASELINE_BYTES)
    except OSError:
        return b""
    head = data[: data.find(b"{")]
    return head if b"{" in data and not blank_comments(head).strip() else b""
