"""Every format to the letter, for one report: `pytest tests/render/test_formats.py --accept` accepts changes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kiplint import __version__
from kiplint.engine.finding import Fix
from kiplint.render.formats import format_names
from kiplint.render.report import RuleInfo
from kiplint.text.edit import Edit

from .findings import HOSTILE, finding, format_report, report

DEFINITION = '{\n  "name": "Tags", "é": "ü", "tag": 1,\n  "validVersions": "0"\n}\n'.encode()
TAG = DEFINITION.index(b"1,")
NAME = HOSTILE.replace("\ud800", "")  # which JSON cannot have
SAFE = Fix("safe", (Edit("set/Tags.json", TAG, TAG + 1, "0"),))
UNSAFE = Fix("unsafe", (*SAFE.edits, Edit("set/Other.json", 0, 0, "x")))
GAP = RuleInfo("A gap in the tags", "Tags <count> up.", "KIP-482", "error", "See `kiplint explain tags/gap`.")
REPORT = report(
    finding(span=(2, 29, 2, 37), fix=SAFE, instead="0"),
    finding("fields/type", "warning", NAME, NAME, (1, 1, 3, 2), source=""),
    finding("style/about-missing", "info", "A has no about text", span=(2, 3, 2, 9), fix=UNSAFE),
    finding("notes/version", "info", "A finding without a file", "", (1, 1, 1, 1)),
    rules={"tags/gap": GAP},
    sources={"set/Tags.json": DEFINITION, "set/Other.json": b"y"},
    paths=("set/Clean.json", "set/Tags.json"),
    files=2,
    status="findings",
)


@pytest.mark.parametrize("name", format_names())
def test_a_report(name: str, assert_text: Callable[[Path, str], None]) -> None:
    text = format_report(name, REPORT)
    assert all(line.isprintable() for line in text.split("\n"))
    file = Path(__file__).with_name("reports") / f"{name}.txt"
    assert_text(file, text.replace(f'"{__version__}"', '"VERSION"'))


@pytest.mark.parametrize("name", ["text", "concise", "github", "jsonl", "markdown"])
def test_a_report_without_findings_is_empty(name: str) -> None:
    assert format_report(name, report()) == ""
