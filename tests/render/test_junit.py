"""JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

import pytest
from junitparser import JUnitXml

from kiplint.commands.diff.run import DiffResult
from kiplint.commands.rollout.run import RolloutResult
from kiplint.render.findings.ci import escape
from kiplint.render.report import Report

from .findings import HOSTILE, finding, format_report, many, report

HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'


def suites(report_made: Report) -> list[tuple[str, Sequence[ElementTree.Element]]]:
    """The suites with their cases, once all numbers have been found to be right, by junitparser too."""
    text = format_report("junit", report_made)
    root = ElementTree.fromstring(text)
    junit = JUnitXml.fromstring(text.encode())
    assert [(suite.name, suite.tests, suite.failures) for suite in junit] == [
        (suite.get("name"), int(suite.get("tests", "")), int(suite.get("failures", ""))) for suite in root
    ]
    before = (junit.tests, junit.failures, junit.errors)
    junit.update_statistics()
    assert (junit.tests, junit.failures, junit.errors) == before
    assert root.tag == "testsuites"
    result = [(suite, suite.findall("testcase")) for suite in root]
    for suite, cases in result:
        assert (suite.tag, len(suite)) == ("testsuite", len(cases))
        numbers = [suite.get(name) for name in ("tests", "failures", "errors", "skipped")]
        assert numbers == [str(len(cases)), str(len(suite.findall("testcase/failure"))), "0", "0"]
    assert root.get("tests") == str(sum(len(cases) for _, cases in result))
    assert root.get("failures") == str(
        len([each for each in report_made.findings if each.severity not in report_made.harmless])
    )
    return [(suite.get("name", ""), cases) for suite, cases in result]


def test_one_suite_for_each_file() -> None:
    findings = [finding(), finding("style/x", "info", path="set/B.json", source=""), finding(message='<"&')]
    result = report(*findings, paths=("set/A.json", "set/B.json"))
    assert format_report("junit", result) == HEAD + (
        '<testsuites name="kiplint check" tests="4" failures="3" errors="0">\n'
        '  <testsuite name="set/A.json" tests="1" failures="0" errors="0" skipped="0">\n'
        '    <testcase name="kiplint check" classname="set/A.json"/>\n'
        "  </testsuite>\n"
        '  <testsuite name="set/B.json" tests="1" failures="1" errors="0" skipped="0">\n'
        '    <testcase name="style/x: tag 1 of B comes after a gap" classname="set/B.json">\n'
        '      <failure type="info" message="tag 1 of B comes after a gap">'
        "set/B.json:9:54: info style/x tag 1 of B comes after a gap</failure>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        '  <testsuite name="set/Tags.json" tests="2" failures="2" errors="0" skipped="0">\n'
        '    <testcase name="tags/gap: tag 1 of B comes after a gap" classname="set/Tags.json">\n'
        '      <failure type="error" message="tag 1 of B comes after a gap">'
        "set/Tags.json:9:54: error tags/gap tag 1 of B comes after a gap (KIP-482)</failure>\n"
        "    </testcase>\n"
        '    <testcase name="tags/gap: &lt;&quot;&amp;" classname="set/Tags.json">\n'
        '      <failure type="error" message="&lt;&quot;&amp;">'
        "set/Tags.json:9:54: error tags/gap &lt;&quot;&amp; (KIP-482)</failure>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n"
    )
    assert [name for name, _ in suites(result)] == ["set/A.json", "set/B.json", "set/Tags.json"]


def test_a_clean_run_passes() -> None:
    ((name, (case,)),) = suites(RolloutResult(()))
    assert (name, case.get("name"), len(case)) == ("kiplint rollout", "kiplint rollout", 0)


def test_infos_alone_pass() -> None:
    findings = [finding("compat/new-version", "info", "X has version 2"), finding()]
    result = DiffResult(tuple(findings), 1, harmless=("info",))  # type: ignore[arg-type]
    assert format_report("junit", result) == HEAD + (
        '<testsuites name="kiplint diff" tests="2" failures="1" errors="0">\n'
        '  <testsuite name="set/Tags.json" tests="2" failures="1" errors="0" skipped="0">\n'
        '    <testcase name="compat/new-version: X has version 2" classname="set/Tags.json">\n'
        "      <system-out>set/Tags.json:9:54: info compat/new-version X has version 2 (KIP-482)</system-out>\n"
        "    </testcase>\n"
        '    <testcase name="tags/gap: tag 1 of B comes after a gap" classname="set/Tags.json">\n'
        '      <failure type="error" message="tag 1 of B comes after a gap">'
        "set/Tags.json:9:54: error tags/gap tag 1 of B comes after a gap (KIP-482)</failure>\n"
        "    </testcase>\n"
        "  </testsuite>\n"
        "</testsuites>\n"
    )
    assert len(suites(result)) == 1


def test_findings_of_a_file_come_together() -> None:
    findings = [finding(path="a"), finding(path="b"), finding(path="a", message="more"), finding(path="")]
    assert [(name, len(cases)) for name, cases in suites(report(*findings))] == [
        ("a", 2),
        ("b", 1),
        ("kiplint check", 1),
    ]


@pytest.mark.parametrize("sign", [chr(code) for code in (*range(32), *range(127, 160), 0xFFFE, 0xFFFF, 0xD800, 0xDFFF)])
def test_what_xml_cannot_hold_is_escaped(sign: str) -> None:
    code = f"\\u{ord(sign):04x}"
    assert escape(f"a{sign}b") == f"a{code}b"
    ((_, (case,)),) = suites(report(finding(message=sign, path=sign)))
    assert case.get("name") == f"tags/gap: {code}"


def test_a_hostile_name_is_text() -> None:
    ((name, (case,)),) = suites(report(finding(message=HOSTILE, path=HOSTILE)))
    failure = case[0]
    assert name.startswith("A\\u000a::error file=x::boo\\u000d##[error]%0A|]]><script>&\\u001b[31m\\u0000")
    assert failure.get("message") == name
    assert (failure.text or "").startswith(f"{name}:9:54: error tags/gap A")
    assert list(case.iter()) == [case, failure]


def test_many_files() -> None:
    result = suites(report(*many(1000)))
    assert [(name, len(cases)) for name, cases in result] == [(f"set/File{at}.json", 100) for at in range(10)]
