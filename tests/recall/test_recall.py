"""At least three in four historical mistakes are found before their correction."""

from __future__ import annotations

import pytest

from kiplint.engine.config import Config
from kiplint.engine.ruleset import RuleSet, load_rules, make_ruleset
from kiplint.engine.run import Input, check_set
from recall.table import MISTAKES, Mistake
from tools import definition


@pytest.fixture(scope="module")
def rules() -> RuleSet:
    return make_ruleset(Config(), load_rules(Config(), ""))


def files(mistake: Mistake) -> list[Input]:
    """The definition as it was."""
    kind = "request" if mistake.message.endswith("Request") else "response"
    first = {"name": "Other", "type": "int32", "versions": "0+", "about": "What else there is."}
    text = definition(
        first,
        mistake.field,
        name=mistake.message,
        type=kind,
        validVersions=mistake.valid,
        flexibleVersions="0+",
    ).decode()
    comments = "".join(f"  // {note}\n" for note in mistake.notes)
    whole = text.replace('  "fields"', f'{comments}  "fields"', 1).encode()
    return [Input(f"{mistake.message}.json", whole)]


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: f"{mistake.message}.{mistake.field['name']}")
def test_what_finds_a_mistake(mistake: Mistake, rules: RuleSet) -> None:
    before = {
        finding.rule for finding in check_set(files(mistake), rules).findings if finding.message_name == mistake.message
    }
    if mistake.rule is None:
        assert not {rule for rule in before if rule.startswith(("conventions", "notes"))}
    else:
        assert mistake.rule in before


def test_three_in_four_are_found() -> None:
    result = sum(mistake.rule is not None for mistake in MISTAKES)
    assert 4 * result >= 3 * len(MISTAKES)
