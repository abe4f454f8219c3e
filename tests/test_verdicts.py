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
from verdicts import Case, cases, undo_mutation

NAMES = ("single", "header", "set")
RECALL = 0.95
"""The least share of the generator's oversights that has to be found."""


class Judgement(NamedTuple):
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
def judgements_by_name(verdicts: Path, corpus: Path) -> dict[str, list[Judgement]]:
    return {name: [Judgement(case, tuple(case.errors)) for case in cases(verdicts, corpus, name)] for name in NAMES}


def sound(judgements: list[Judgement], verdict: str) -> list[Judgement]:
    result = [
        judgement
        for judgement in judgements
        if judgement.case.row["verdict"] == verdict and not judgement.case.row.get("oracle_suspect")
    ]
    assert result
    return result


@pytest.mark.parametrize("name", NAMES)
def test_what_the_generator_refuses_is_an_error(judgements_by_name: dict[str, list[Judgement]], name: str) -> None:
    assert [judgement.label for judgement in sound(judgements_by_name[name], "reject") if not judgement.errors] == []


@pytest.mark.parametrize("name", NAMES)
def test_definitions_that_the_generator_accepts_have_no_error(
    judgements_by_name: dict[str, list[Judgement]], name: str
) -> None:
    judgements = sound(judgements_by_name[name], "accept")
    errors = {
        judgement.label: [rule for rule in judgement.errors if rule not in judgement.excuses]
        for judgement in judgements
    }
    assert {label: rules for label, rules in errors.items() if rules} == {}


def test_every_exception_is_needed_and_has_a_reason(judgements_by_name: dict[str, list[Judgement]]) -> None:
    judgements = [judgement for name in NAMES for judgement in sound(judgements_by_name[name], "accept")]
    entries = {entry for judgement in judgements for entry in judgement.excuses.values()}
    assert [entry for entry in EXCEPTIONS if entry not in entries] == []
    assert all(len(reason) > 40 for reason in EXCEPTIONS.values())


def test_mistakes_that_the_generator_overlooks_are_reported(
    judgements_by_name: dict[str, list[Judgement]], corpus: Path
) -> None:
    suspects = [
        (name, judgement)
        for name in NAMES
        for judgement in judgements_by_name[name]
        if judgement.case.row.get("oracle_suspect")
    ]
    labels = [
        judgement.label
        for name, judgement in suspects
        if not _says_more(judgement.case, undo_mutation(judgement.case, corpus, name))
    ]
    assert len(suspects) > 100
    assert len(labels) <= (1 - RECALL) * len(suspects), labels


def _says_more(after: Case, before: Case) -> bool:
    """Whether some rule is broken more often than before the mutation."""
    counts = [Counter(finding.rule for finding in result.findings) for result in (after, before)]
    return bool(counts[0] - counts[1])
