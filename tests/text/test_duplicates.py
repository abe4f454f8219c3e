"""Properties given twice: with one value, and with two."""

from __future__ import annotations

import pytest

from kiplint.text.diagnose import diagnose


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ('{"a": "0+", "a": "0+"}', [True]),
        ('{"a": "0+", "a": "1+"}', [False]),
        ('{"a": 1, "a": 1, "a": 2}', [False, False]),
        ('{"a": {"b": 1, "b": 1}, "a": {"b": 1, "b": 1}}', [True, True, True]),
        ('{"x": [{"a": 1}, {"a": 1}], "a": 1, "b": 2, "b": 3}', [False]),
    ],
)
def test_whether_a_reader_could_be_misled(text: str, harmless: list[bool]) -> None:
    problems = diagnose(text.encode()).problems
    assert [problem.harmless for problem in problems] == harmless
    assert [problem.detail.endswith(", with the same value") for problem in problems] == harmless
    assert {problem.kind for problem in problems} == {"duplicate-key"}
