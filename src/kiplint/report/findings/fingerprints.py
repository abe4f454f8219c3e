"""Fingerprints of findings: the same from run to run, and each only once in a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from kiplint.engine.finding import Finding


def fingerprints(findings: Iterable[Finding]) -> Iterator[str]:
    """The fingerprint of each finding; the second that has one in common with an earlier gets `:2` after it."""
    seen: Counter[str] = Counter()
    for one in findings:
        found = one.fingerprint
        seen[found] += 1
        yield found if seen[found] == 1 else f"{found}:{seen[found]}"
