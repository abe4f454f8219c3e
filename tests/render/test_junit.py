"""JUnit XML: a suite a file, a failure a finding, and XML whatever the names are."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from kiplint.render.findings.ci import escape
from kiplint.render.report import Report

from .findings import finding, format_report, report


def suites(result: Report) -> list[tuple[str | None, int, int]]:
    """The name of each suite, how many cases it has, and how many failures, once all numbers are found to be right."""
    root = ElementTree.fromstring(format_report("junit", result))
    for element in (root, *root):
        cases = element.findall(".//testcase")
        numbers = str(len(cases)), str(len(element.findall(".//failure"))), "0"
        assert tuple(element.get(name) for name in ("tests", "failures", "errors")) == numbers
    return [(suite.get("name"), len(suite), len(suite.findall("testcase/failure"))) for suite in root]


def test_a_clean_run_passes() -> None:
    assert suites(report()) == [("kiplint check", 1, 0)]


def test_findings_of_a_file_come_together_and_harmless_ones_pass() -> None:
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
