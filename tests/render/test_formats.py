"""Every format to the letter, for one report: `pytest tests/render/test_formats.py --accept` accepts changes."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from conftest import ROOT
from kiplint import __version__, check, diff
from kiplint.compat import classify
from kiplint.engine.finding import Fix
from kiplint.engine.packs import shipped_rules
from kiplint.engine.rule import RULES_PAGES
from kiplint.render.ci import escape
from kiplint.render.formats import FORMATS
from kiplint.render.report import Report
from kiplint.text.edit import Edit
from tools import definition, field

from .findings import HOSTILE, finding, format_report, many, report

DEFINITION = '{\n  "name": "Tags", "é": "ü", "tag": 1,\n  "validVersions": "0"\n}\n'.encode()
TAG = DEFINITION.index(b"1,")
NAME = HOSTILE.replace("\ud800", "")  # which JSON cannot have
SAFE = Fix("safe", (Edit("set/Tags.json", TAG, TAG + 1, "0"),))
UNSAFE = Fix("unsafe", (*SAFE.edits, Edit("set/Other.json", 0, 0, "x")))
REPORT = report(
    finding(span=(2, 29, 2, 37), fix=SAFE, instead="0"),
    finding("fields/type", "warning", NAME, NAME, (1, 1, 3, 2), source=""),
    finding("style/about-missing", "info", "A has no about text", span=(2, 3, 2, 9), fix=UNSAFE),
    finding("notes/version", "info", "A finding without a file", "", (1, 1, 1, 1)),
    sources={"set/Tags.json": DEFINITION, "set/Other.json": b"y"},
    paths=("set/Clean.json", "set/Tags.json"),
    files=2,
    status="findings",
)


@pytest.mark.parametrize("name", FORMATS)
def test_a_report(name: str, assert_text: Callable[[Path, str], None]) -> None:
    text = format_report(name, REPORT)
    assert all(line.isprintable() for line in text.split("\n"))
    file = Path(__file__).with_name("reports") / f"{name}.txt"
    assert_text(file, text.replace(f'"{__version__}"', '"VERSION"'))


@pytest.mark.parametrize("name", ["text", "concise", "github", "jsonl", "markdown"])
def test_a_report_without_findings_is_empty(name: str) -> None:
    assert format_report(name, report()) == ""


def gitlab_rows(*result: Any, **others: Any) -> Any:
    return json.loads(format_report("gitlab", report(*result, **others)))


def test_fingerprints_of_gitlab_are_unique_and_stay_as_lines_move() -> None:
    def marks(*lines: int) -> list[str]:
        return [row["fingerprint"] for row in gitlab_rows(*(finding(span=(line, 1, line, 2)) for line in lines))]

    assert marks(1, 2, 3) == marks(11, 12, 13)
    assert len({*marks(1, 2, 3)}) == 3
    assert len({row["fingerprint"] for row in gitlab_rows(*many(500), *many(500))}) == 1000


def test_paths_of_gitlab_are_those_of_the_repository() -> None:
    (row,) = gitlab_rows(finding(path="4.1.0:clients/set/Tags.json"), sets=("4.1.0:",))
    assert row["location"]["path"] == "clients/set/Tags.json"


def suites(result: Report) -> list[tuple[str | None, int, int]]:
    """The name of each suite, how many cases it has, and how many failures, once all numbers are found to be right."""
    root = ElementTree.fromstring(format_report("junit", result))
    for element in (root, *root):
        cases = element.findall(".//testcase")
        numbers = str(len(cases)), str(len(element.findall(".//failure"))), "0"
        assert tuple(element.get(name) for name in ("tests", "failures", "errors")) == numbers
    return [(suite.get("name"), len(suite), len(suite.findall("testcase/failure"))) for suite in root]


def test_a_clean_run_of_junit_passes() -> None:
    assert suites(report()) == [("kiplint check", 1, 0)]


def test_findings_of_a_file_come_together_in_junit_and_harmless_ones_pass() -> None:
    findings = [
        finding(path="a"),
        finding(path="b", severity="info"),
        finding(path="a", message="more"),
        finding(path=""),
    ]
    assert suites(report(*findings, paths=("c",), harmless=("info",))) == [
        ("c", 1, 0),
        ("a", 2, 2),
        ("b", 1, 0),
        ("kiplint check", 1, 1),
    ]


@pytest.mark.parametrize("sign", [*map(chr, (0, 8, 11, 31, 127, 133, 0xFFFE, 0xFFFF, 0xD800, 0xDFFF)), "\n", "\r"])
def test_what_xml_cannot_hold_is_escaped(sign: str) -> None:
    assert escape(f"a{sign}b") == f"a\\u{ord(sign):04x}b"


def test_the_address_of_every_rule_is_a_heading_of_the_reference() -> None:
    assert next(rule for rule in shipped_rules() if rule.id == "kip-1313/header-gap").url == (
        "https://github.com/kiplint/kiplint/blob/main/docs/reference/rules/kip-1313.md#kip-1313header-gap"
    )
    headings = {
        f"{RULES_PAGES}/{page.name}#{heading.replace('/', '')}"
        for page in (ROOT / "docs/reference/rules").glob("*.md")
        for heading in re.findall(r"(?m)^## (\S+)$", page.read_text("utf-8"))
    }
    assert headings == {rule.url for rule in shipped_rules()}


def test_where_the_address_of_a_rule_is(tmp_path: Path) -> None:
    for side, default in (("old", "1"), ("new", "2")):
        (tmp_path / side).mkdir()
        (tmp_path / side / "XRequest.json").write_bytes(definition(field("A", default=default)))
    result = check(tmp_path / "new", select=["style/about-missing"])
    url = f"{RULES_PAGES}/style.md#styleabout-missing"
    assert [finding["url"] for finding in json.loads(format_report("json", result))["findings"]] == [url]
    (rule,) = json.loads(format_report("sarif", result))["runs"][0]["tool"]["driver"]["rules"]
    assert rule["helpUri"] == url
    (change,) = json.loads(format_report("json", diff(tmp_path / "old", tmp_path / "new")))["changes"]
    assert change["url"] == f"{RULES_PAGES}/compat.md#compatdefault-changed"


def test_a_message_with_too_many_fields_has_no_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    others = [field(f"F{at}") for at in range(9)]
    for side, nullable in (("old", "none"), ("new", "0+")):
        (tmp_path / side).mkdir()
        last = field("Last", "string", nullableVersions=nullable)
        (tmp_path / side / "XRequest.json").write_bytes(definition(*others, last))
    for most, has_proof in ((10, True), (5, False)):
        monkeypatch.setattr(classify, "MOST_PROVEN", most)
        (change,) = diff(tmp_path / "old", tmp_path / "new").changes
        assert bool(change.proof) is has_proof
