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
from kiplint.render.table import fold, paragraph

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
        lambda: kiplint.decode("MetadataRequest@12", b"\0\1\1\0\t", sets=[SET]),
        lambda: kiplint.negotiate(SET, KIP),
        lambda: kiplint.rollout(SET, KIP),
        lambda: kiplint.check(KIP),
        lambda: kiplint.diff("compat/layout-changed/old", "compat/layout-changed/new"),
        lambda: kiplint.diff(SET, KIP),
    ],
    ids=["migrate", "decode", "negotiate", "rollout", "check", "diff", "diff-of-sets"],
)
def test_the_output_fits(make: Callable[[], RunResult]) -> None:
    out = Terminal()
    write("text", make(), out)
    lines = out.getvalue().splitlines()
    assert len(lines) > 3
    assert [line for line in lines if len(line) > 80 and len(line.split()) > 1] == []


def test_proofs_take_a_line_each() -> None:
    out = Terminal()
    write("text", kiplint.diff("compat/layout-changed/old", "compat/layout-changed/new"), out)
    cut_lines = [line for line in out.getvalue().splitlines() if line.endswith("…")]
    assert [line[:10] for line in cut_lines] == ["   proof  "] * 2


def test_folding() -> None:
    text = "  one two three"
    assert fold(text, None) == fold(text, 15) == [text]
    assert fold(text, 12) == ["  one two", "      three"]
    assert fold("longer than that", 4) == ["longer", "    than", "    that"]
    assert paragraph(["a b", "c d"], width=8) == ["  a b,", "  c d"]


def test_up_to_ten_findings_are_shown_with_their_lines() -> None:
    for number, lines in ((9, 10), (10, 1)):
        out = io.StringIO()
        write("text", report(*many(number, "warning"), finding()), out)
        assert out.getvalue().count("  --> ") + out.getvalue().count("\n --> ") == lines


def test_of_more_findings_warnings_take_a_line_each_below_the_errors() -> None:
    long = finding(severity="warning", message="a long message " * 4, instead="1", path="b.json")
    result = report(*many(10, "warning"), long, finding(), finding("tags/x", "info"), files=2)
    out = io.StringIO()
    write("text", result, out)
    assert out.getvalue().splitlines() == [
        "error[tags/gap]: tag 1 of B comes after a gap",
        " --> set/Tags.json",
        "  = source: KIP-482",
        "",
        f"b.json:9:54: warning[tags/gap]: {'a long message ' * 4}; write 1",
        *(f"set/File0.json:{at + 1}:1: warning[tags/gap]: finding {at}" for at in range(10)),
        "",
        "Found 1 error, 11 warnings and 1 info in 2 files; --all lists the infos. `kiplint explain RULE` explains a rule.",
    ]
    whole, terminal = io.StringIO(), Terminal()
    write("text", msgspec.structs.replace(result, whole=True), whole)
    assert "set/Tags.json:9:54: info[tags/x]: tag 1 of B comes after a gap\n\nFound" in whole.getvalue()
    write("text", result, terminal)
    assert terminal.getvalue().splitlines()[4:6] == [
        "b.json:9:54: warning[tags/gap]: a long message a long message a long message a",
        "    long message ; write 1",
    ]


def test_a_terminal_shows_the_lines_of_fifty_errors() -> None:
    result = report(*many(52))
    for whole, number in ((False, 50), (True, 52)):
        out = Terminal()
        write("text", msgspec.structs.replace(result, whole=whole), out)
        assert out.getvalue().count("  = source: ") == number
        assert out.getvalue().count("error[tags/gap]: ") == 52
