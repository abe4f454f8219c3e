"""How fixes are told: edits in bytes, regions of SARIF."""

from __future__ import annotations

import json

import msgspec

from kiplint.engine.finding import FileEdit, Finding, Fix

from .findings import finding, format_report, report
from .test_github import summary

TEXT = '\ufeff{\r\n  "é": "ü", "tag": 1,\r\n  "x": 2\r\n}'.encode()
TAG = TEXT.index(b"1,")
FIX = Fix("safe", (FileEdit("set/Tags.json", TAG, TAG + 1, "0"), FileEdit("set/Tags.json", TAG + 2, TAG + 2, " // é")))
FINDING = finding(span=(2, 13, 2, 21), fix=FIX, instead="0")
SOURCES = {"set/Tags.json": TEXT}


def test_json_has_the_edits_in_bytes() -> None:
    (finding_seen,) = json.loads(format_report("json", report(FINDING, sources=SOURCES)))["findings"]
    assert finding_seen["fixable"] is True
    assert finding_seen["fix"] == {
        "applicability": "safe",
        "edits": [
            {"path": "set/Tags.json", "start": TAG, "end": TAG + 1, "text": "0"},
            {"path": "set/Tags.json", "start": TAG + 2, "end": TAG + 2, "text": " // é"},
        ],
    }
    assert msgspec.convert(finding_seen, Finding).fix is not None
    (other,) = json.loads(format_report("json", report(finding())))["findings"]
    assert (other["fixable"], "fix" in other) == (False, False)
    assert json.loads(format_report("jsonl", report(FINDING, sources=SOURCES))) == finding_seen


def test_sarif_replaces_regions() -> None:
    log = json.loads(format_report("sarif", report(FINDING, sources=SOURCES)))
    (fix,) = log["runs"][0]["results"][0]["fixes"]
    assert fix["description"]["text"]
    (change,) = fix["artifactChanges"]
    assert change["artifactLocation"] == {"uri": "set/Tags.json"}
    region = {"startLine": 2, "startColumn": 20, "endLine": 2, "endColumn": 21}
    empty = {"startLine": 2, "startColumn": 22, "endLine": 2, "endColumn": 22}
    assert change["replacements"] == [
        {"deletedRegion": region, "insertedContent": {"text": "0"}},
        {"deletedRegion": empty, "insertedContent": {"text": " // é"}},
    ]
    log = json.loads(format_report("sarif", report(FINDING)))
    assert "fixes" not in log["runs"][0]["results"][0]


def test_sarif_has_the_edits_of_all_files() -> None:
    fix = Fix("unsafe", (*FIX.edits, FileEdit("set/Other.json", 0, 0, "x")))
    sources = {**SOURCES, "set/Other.json": b"y"}
    (result,) = json.loads(format_report("sarif", report(finding(fix=fix), sources=sources)))["runs"][0]["results"]
    assert [change["artifactLocation"]["uri"] for change in result["fixes"][0]["artifactChanges"]] == [
        "set/Tags.json",
        "set/Other.json",
    ]


def test_the_job_summary_counts_fixable_findings() -> None:
    unsafe = Fix("unsafe", FIX.edits)
    page = summary(report(FINDING, finding(fix=unsafe), finding(), sources=SOURCES))
    assert "1 fixable with --fix, 1 more with --unsafe-fixes.\n\n| severity" in page
    assert "--fix" not in summary(report(finding()))


def test_text_marks_what_can_be_fixed() -> None:
    unsafe = Fix("unsafe", FIX.edits)
    text = format_report("text", report(FINDING, finding(fix=unsafe), finding()))
    assert [line for line in text.splitlines() if line.startswith("error")] == [
        "error[tags/gap]: [*] tag 1 of B comes after a gap",
        "error[tags/gap]: [?] tag 1 of B comes after a gap",
        "error[tags/gap]: tag 1 of B comes after a gap",
    ]
    assert text.endswith("\n[*] 1 fixable with --fix, 1 more with --unsafe-fixes.\n")
    assert format_report("text", report(finding(fix=unsafe))).endswith("\n[*] 1 fixable with --fix --unsafe-fixes.\n")
