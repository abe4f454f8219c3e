"""On a terminal of 80 columns no output goes beyond, but for words that are longer by themselves."""

from __future__ import annotations

import io
from collections.abc import Callable

import msgspec
import pytest

import kiplint
from conftest import ROOT
from kiplint import migrate_kip_1313
from kiplint.render.formats import write
from kiplint.render.report import RunResult
from kiplint.render.table import fold, paragraph, wrap_labelled

from .findings import finding, many, report

SET, KIP = "sets/broker/clients", "kip-1313"


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(ROOT / "fixtures")


@pytest.mark.parametrize(
    "make",
    [
        lambda: migrate_kip_1313(SET, dry_run=True),
        lambda: kiplint.negotiate(SET, KIP),
        lambda: kiplint.rollout(SET, KIP),
        lambda: kiplint.check(KIP),
        lambda: kiplint.diff("compat/layout-changed/old", "compat/layout-changed/new"),
        lambda: kiplint.diff(SET, KIP),
    ],
    ids=["migrate", "negotiate", "rollout", "check", "diff", "diff-of-sets"],
)
def test_the_output_fits(make: Callable[[], RunResult]) -> None:
    out = Terminal()
    write("text", make(), out)
    lines = out.getvalue().splitlines()
    assert len(lines) > 3
    assert [line for line in lines if len(line) > 80 and len(line.split()) > 1] == []


def test_proofs_take_a_line_each_unless_they_are_asked_for() -> None:
    result = kiplint.diff(SET, KIP)
    heads = ("  before  ", "   after  ", "   proof  ")
    short, whole = Terminal(), Terminal()
    write("text", result, short)
    write("text", msgspec.structs.replace(result, proofs=True), whole)
    rows = [line for line in short.getvalue().splitlines() if line.startswith(heads)]
    cut = [line for line in rows if line.endswith("…")]
    assert cut == ["   proof  old writes version 0 as 01010000; new refuses at byte 0, the new set …"]
    text = " ".join(whole.getvalue().split())
    assert all(" ".join(line.removesuffix("…").split()) in text for line in rows)
    assert [line for line in whole.getvalue().splitlines() if line.endswith("…")] == []
    assert len(whole.getvalue().splitlines()) > len(short.getvalue().splitlines())


def test_folding() -> None:
    text = "  one two three"
    assert fold(text, None) == fold(text, 15) == [text]
    assert fold(text, 12) == ["  one two", "      three"]
    assert fold("longer than that", 4) == ["longer", "    than", "    that"]
    assert paragraph(["a b", "c d"], width=8) == ["  a b,", "  c d"]
    assert wrap_labelled("label", "one two three", 6, False, 20) == ["  label   one two", "          three"]


def test_a_terminal_shows_the_worst_findings_and_counts_the_others() -> None:
    infos = many(51, "info")
    result = report(*infos, finding(), files=2)
    out = Terminal()
    write("text", result, out)
    lines = out.getvalue().splitlines()
    assert [line.partition("[")[0] for line in lines if "]: " in line] == ["error", *["info"] * 49]
    assert lines[-4:] == [
        "2 more, shown by --all:",
        "  2  info  tags/gap",
        "",
        "Found 1 error and 51 infos in 2 files. `kiplint explain RULE` explains a rule.",
    ]
    for whole, stream in ((False, io.StringIO()), (True, Terminal())):
        write("text", msgspec.structs.replace(result, whole=whole), stream)
        assert sum("]: " in line for line in stream.getvalue().splitlines()) == 52
