"""At least three in four historical mistakes are found before their correction.

`mistakes.json` has mistakes that Kafka's schemas had and that a later commit put right, facts only: by the rule that
finds them, or by nothing, the field as it was before, in a message of the valid versions of then.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kiplint.engine.config import Config
from kiplint.engine.run import check_set
from kiplint.sources.schema_files import SchemaFile
from tools import definition, field, rules_of

MISTAKES: list[tuple[str, dict[str, Any]]] = [
    (rule, mistake)
    for rule, mistakes in json.loads(Path(__file__).with_name("mistakes.json").read_text("utf-8")).items()
    for mistake in mistakes
]


def rules_that_find(mistake: dict[str, Any]) -> set[str]:
    """The rules that the message breaks in which the mistake was made."""
    name, field_name = mistake["message"], mistake["field"]["name"]
    text = definition(
        field("Other", about="What else there is."),
        {**mistake["field"], "about": f"What {field_name} holds."},
        name=name,
        type="request" if name.endswith("Request") else "response",
        validVersions=mistake["valid"],
        flexibleVersions="0+",
    )
    note = f"  // {mistake['note']}\n" if "note" in mistake else ""
    text = text.replace(b'  "fields"', f'{note}  "fields"'.encode(), 1)
    findings = check_set([SchemaFile(f"{name}.json", text)], rules_of(Config())).findings
    return {finding.rule for finding in findings if finding.message_name == name}


@pytest.mark.parametrize(("rule", "mistake"), MISTAKES, ids=str)
def test_what_finds_a_mistake(rule: str, mistake: dict[str, Any]) -> None:
    rules = rules_that_find(mistake)
    assert rule in rules if rule else not {name for name in rules if name.startswith(("conventions", "notes"))}


def test_three_in_four_are_found() -> None:
    assert 4 * sum(bool(rule) for rule, _ in MISTAKES) >= 3 * len(MISTAKES)
