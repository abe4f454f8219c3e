"""What is tried of a property is the same in every run of the tests, whichever have run before."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import seed

if not settings.default.derandomize:
    pytest.skip("other examples are wanted in each run", allow_module_level=True)

WORDS = [f"word {number}" for number in range(500)]


def draw_examples() -> list[str | int]:
    """The examples of a property."""
    result: list[str | int] = []

    @settings(max_examples=300)
    @given(st.text() | st.integers())
    def law(value: str | int) -> None:
        result.append(value)

    law()
    return result


def test_other_modules_bring_no_other_examples(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hypothesis reads constants in modules; 500 new ones would be among 300 examples."""
    before = draw_examples()
    (tmp_path / "bringing_words.py").write_text(f"WORDS = {WORDS}\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setitem(sys.modules, "bringing_words", importlib.import_module("bringing_words"))
    assert draw_examples() == before


def test_what_tests_draw_by_themselves_is_the_same() -> None:
    assert seed() == seed()
    assert len({seed(other=True) for _ in range(9)}) > 1
