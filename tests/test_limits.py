"""The limits on untrusted input: their figures, their lines, and that each is used."""

from __future__ import annotations

import pytest

from conftest import ROOT
from kiplint import limits
from kiplint.limits import LIMITS, Counter, Limit


@pytest.mark.parametrize(
    ("limit", "figure"),
    [
        (Limit(1 << 20, "bytes", "x"), "1 MiB"),
        (Limit(4 << 30, "bytes of memory", "x"), "4 GiB of memory"),
        (Limit((1 << 20) + 1, "bytes", "x"), "1,048,577 bytes"),
        (Limit(1 << 20, "entries", "x"), "1,048,576 entries"),
        (Limit(64, "levels", "x"), "64 levels"),
    ],
)
def test_figures(limit: Limit, figure: str) -> None:
    assert limit.figure == figure


def test_the_line_of_an_exceeded_limit() -> None:
    assert Limit(2, "files", "x", "join them").exceeded("a.toml") == "a.toml has more than 2 files; join them"
    assert Limit(2, "files", "x").exceeded("a.toml") == "a.toml has more than 2 files"


def test_a_counter_is_exceeded_by_what_goes_beyond() -> None:
    counter = Counter(3)
    assert [counter.take(2), counter.take(1), counter.take(1), counter.left] == [True, True, False, -1]


def test_every_limit_is_used() -> None:
    names = [name for name, value in vars(limits).items() if isinstance(value, Limit)]
    texts = [file.read_text("utf-8") for file in (ROOT / "src" / "kiplint").rglob("*.py") if file.stem != "limits"]
    assert [name for name in names if not any(name in text for text in texts)] == []
    assert len(names) == len(LIMITS) > 30
