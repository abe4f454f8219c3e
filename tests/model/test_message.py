"""Facts about a message by itself."""

from __future__ import annotations

import pytest

from kiplint.engine.language import facts_of
from kiplint.model.load import range_problems
from kiplint.model.message import Message
from tools import message


@pytest.mark.parametrize(
    ("valid", "value", "dead", "problem"),
    [
        ("0-5", "0-5", False, False),
        ("none", "none", True, False),
        ("x", "none", False, True),
        ("", "none", False, True),
    ],
)
def test_valid_versions(valid: str, value: str, dead: bool, problem: bool) -> None:
    request = message(validVersions=valid)
    assert (str(request.valid), request.is_dead, bool(request.valid_problem)) == (value, dead, problem)


def test_every_fact_can_be_computed() -> None:
    request = message(headerVersions={"0+": "1"})
    assert len(facts_of(Message)) > 40
    for name in facts_of(Message):
        getattr(request, name)


def test_ranges_that_cannot_be_read() -> None:
    struct = {"name": "S", "versions": "s", "fields": [{"name": "B", "type": "int8", "versions": "b"}]}
    wrong = {"name": "A", "type": "bytes", "versions": "a", "taggedVersions": "t", "nullableVersions": "n\x1b"}
    request = message(
        {**wrong, "flexibleVersions": "f"}, validVersions="+1", flexibleVersions="x" * 50, commonStructs=[struct]
    )
    assert [(problem.kind, problem.pointer, problem.detail) for problem in range_problems(request)] == [
        ("invalid-range", "/validVersions", '"+1" has a sign in front; write "1+" for that version and all later ones'),
        ("invalid-range", "/flexibleVersions", f'"{"x" * 40}" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/commonStructs/0/versions", '"s" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/fields/0/versions", '"a" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/fields/0/taggedVersions", '"t" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/fields/0/nullableVersions", '"n\\u001b" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/fields/0/flexibleVersions", '"f" is not "N", "N-M", "N+" or "none"'),
        ("invalid-range", "/commonStructs/0/fields/0/versions", '"b" is not "N", "N-M", "N+" or "none"'),
    ]
