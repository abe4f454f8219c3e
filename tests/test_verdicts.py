"""What Kafka's generator says to mutated definitions, and what kiplint says.

Each row of the verdict files is a mutation of a real definition with the generator's verdict. `oracle_suspect` marks
mistakes that the generator lets through.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from verdict_exceptions import EXCEPTIONS
from verdicts import Case, cases, unmutated

NAMES = ("single", "header", "set")
FOUND = 0.95
"""The least share of the generator's oversights that has to be found."""


class Judged(NamedTuple):
    """A mutation and the rules that it breaks as errors."""

    case: Case
    errors: tuple[str, ...]

    @property
    def label(self) -> str:
        row = self.case.row
        return f"{row['id']} {row['family']} {row['sub']}"

    @property
    def excused(self) -> dict[str, str | tuple[str, str]]:
        """The errors that are exceptions, and the entry that says so."""
        row = self.case.row
        entries = {
            rule: [one for one in (row["id"], (row["family"], rule)) if one in EXCEPTIONS] for rule in self.errors
        }
        return {rule: found[0] for rule, found in entries.items() if found}


@pytest.fixture(scope="module")
def judged(verdicts: Path, corpus: Path) -> dict[str, list[Judged]]:
    return {name: [Judged(case, tuple(case.errors)) for case in cases(verdicts, corpus, name)] for name in NAMES}


def sound(judged: list[Judged], verdict: str) -> list[Judged]:
    found = [one for one in judged if one.case.row["verdict"] == verdict and not one.case.row.get("oracle_suspect")]
    assert found
    return found


@pytest.mark.parametrize("name", NAMES)
def test_what_the_generator_refuses_is_an_error(judged: dict[str, list[Judged]], name: str) -> None:
    assert [one.label for one in sound(judged[name], "reject") if not one.errors] == []


@pytest.mark.parametrize("name", NAMES)
def test_what_the_generator_accepts_is_no_error(judged: dict[str, list[Judged]], name: str) -> None:
    accepted = sound(judged[name], "accept")
    unexcused = {one.label: [rule for rule in one.errors if rule not in one.excused] for one in accepted}
    assert {label: rules for label, rules in unexcused.items() if rules} == {}


def test_every_exception_is_needed_and_has_a_reason(judged: dict[str, list[Judged]]) -> None:
    accepted = [one for name in NAMES for one in sound(judged[name], "accept")]
    used = {entry for one in accepted for entry in one.excused.values()}
    assert [entry for entry in EXCEPTIONS if entry not in used] == []
    assert all(len(reason) > 40 for reason in EXCEPTIONS.values())


def test_what_the_generator_overlooks_is_found(judged: dict[str, list[Judged]], corpus: Path) -> None:
    suspects = [(name, one) for name in NAMES for one in judged[name] if one.case.row.get("oracle_suspect")]
    missed = [one.label for name, one in suspects if not _says_more(one.case, unmutated(one.case, corpus, name))]
    assert len(suspects) > 100
    assert len(missed) <= (1 - FOUND) * len(suspects), missed


def _says_more(mutated: Case, before: Case) -> bool:
    """Whether some rule is broken more often than before the mutation."""
    counts = [Counter(finding.rule for finding in one.findings) for one in (mutated, before)]
    return bool(counts[0] - counts[1])
