"""What mending leaves alone: findings that were there before a change, and those that a baseline records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kiplint.engine.finding import Finding
from kiplint.runs.since import Base, brought_about


class Sparing:
    """Tells the findings to mend from those to leave alone, set by set: what one set uses up, the next has no more."""

    def __init__(self, base: Base | None, recorded: Mapping[str, int]) -> None:
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
