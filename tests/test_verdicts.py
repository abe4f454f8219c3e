"""What Kafka's generator says to mutated definitions, and what kiplint says.

Each row of the verdict files is a mutation of a real definition with the generator's verdict. `oracle_suspect` marks
mistakes that the generator lets through.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest

from verdicts import Case, cases, undo_mutation

NAMES = ("single", "header", "set")
EXCEPTIONS: dict[str | tuple[str, str], str] = {
    row.get("id") or (row["family"], row["rule"]): row["why"]
    for row in json.loads(Path(__file__).with_name("verdict_exceptions.json").read_text("utf-8"))
}
"""Where kiplint is stricter than Kafka's generator on purpose: by mutation, or by family and rule, the reason."""
RECALL = 0.95
"""The least share of the generator's oversights that has to be found."""


class Outcome(NamedTuple):
    """A mutation and the rules that it breaks as errors."""

    case: Case
    errors: tuple[str, ...]

    @property
    def label(self) -> str:
        row = self.case.row
        return f"{row['id']} {row['family']} {row['sub']}"

    @property
    def excuses(self) -> dict[str, str | tuple[str, str]]:
        """The errors that are exceptions, and the entry that says so."""
        row = self.case.row
        entries = {
            rule: [name for name in (row["id"], (row["family"], rule)) if name in EXCEPTIONS] for rule in self.errors
        }
        return {rule: result[0] for rule, result in entries.items() if result}


@pytest.fixture(scope="module")
def outcomes_by_name(verdicts: Path, corpus: Path) -> dict[str, list[Outcome]]:
    return {name: [Outcome(case, tuple(case.errors)) for case in cases(verdicts, corpus, name)] for name in NAMES}


def sound(outcomes: list[Outcome], verdict: str) -> list[Outcome]:
    result = [
        outcome
        for outcome in outcomes
        if outcome.case.row["verdict"] == verdict and not outcome.case.row.get("oracle_suspect")
    ]
    assert result
    return result


@pytest.mark.parametrize("name", NAMES)
def test_what_the_generator_refuses_is_an_error(outcomes_by_name: dict[str, list[Outcome]], name: str) -> None:
    assert [outcome.label for outcome in sound(outcomes_by_name[name], "reject") if not outcome.errors] == []


@pytest.mark.parametrize("name", NAMES)
def test_definitions_that_the_generator_accepts_have_no_error(
    outcomes_by_name: dict[str, list[Outcome]], name: str
) -> None:
    outcomes = sound(outcomes_by_name[name], "accept")
    errors = {outcome.label: [rule for rule in outcome.errors if rule not in outcome.excuses] for outcome in outcomes}
    assert {label: rules for label, rules in errors.items() if rules} == {}


def test_every_exception_is_needed_and_has_a_reason(outcomes_by_name: dict[str, list[Outcome]]) -> None:
    outcomes = [outcome for name in NAMES for outcome in sound(outcomes_by_name[name], "accept")]
    entries = {entry for outcome in outcomes for entry in outcome.excuses.values()}
    assert [entry for entry in EXCEPTIONS if entry not in entries] == []
    assert all(len(reason) > 40 for reason in EXCEPTIONS.values())


def test_mistakes_that_the_generator_overlooks_are_reported(
    outcomes_by_name: dict[str, list[Outcome]], corpus: Path
) -> None:
    suspects = [
        (name, outcome)
        for name in NAMES
        for outcome in outcomes_by_name[name]
        if outcome.case.row.get("oracle_suspect")
    ]
    labels = [
        outcome.label
        for name, outcome in suspects
        if not _says_more(outcome.case, undo_mutation(outcome.case, corpus, name))
    ]
    assert len(suspects) > 100
    assert len(labels) <= (1 - RECALL) * len(suspects), labels


def _says_more(after: Case, before: Case) -> bool:
    """Whether some rule is broken more often than before the mutation."""
    counts = [Counter(finding.rule for finding in result.findings) for result in (after, before)]
    return bool(counts[0] - counts[1])
