"""How fixes are told: edits in bytes, regions of SARIF, suggestions of rdjson."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from kiplint import check
from kiplint.engine.finding import FileEdit, Finding, Fix
from kiplint.text.edit import Edit, apply_edits

from .findings import finding, format_report, report
from .rdjson_schema import assert_rdjson
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


def test_rdjson_counts_bytes_and_suggests_one_change() -> None:
    document = json.loads(format_report("rdjson", report(FINDING, finding(severity="info"), sources=SOURCES)))
    assert_rdjson(document)
    assert document["source"] == {"name": "kiplint"}
    first, other = document["diagnostics"]
    assert first == {
        "message": "tag 1 of B comes after a gap; write 0",
        "location": {
            "path": "set/Tags.json",
            "range": {"start": {"line": 2, "column": 15}, "end": {"line": 2, "column": 23}},
        },
        "severity": "ERROR",
        "code": {"value": "tags/gap"},
        "suggestions": [
            {
                "range": {"start": {"line": 2, "column": 22}, "end": {"line": 2, "column": 24}},
                "text": "0, // é",
            }
        ],
    }
    assert (other["severity"], "suggestions" in other) == ("INFO", False)


def test_rdjson_of_real_findings_is_what_reviewdog_takes(repo: Path) -> None:
    """Over all bad examples; each suggestion, as bytes of the file, is what the fix does."""
    result = check(*sorted((repo / "fixtures").glob("*/*/bad")), fail_on="never", config={})
    document = json.loads(format_report("rdjson", result))
    assert_rdjson(document)
    count = 0
    for item, diagnostic in zip(result.findings, document["diagnostics"], strict=True):
        for suggestion in diagnostic.get("suggestions", ()):
            before = result.sources[item.path]
            edits = [[Edit(edit.start, edit.end, edit.text) for edit in fix.edits] for fix in item.choices]
            assert _apply_suggestion(before, suggestion) in [apply_edits(before, each) for each in edits]
            count += 1
    assert count > 30


def _apply_suggestion(data: bytes, suggestion: dict[str, Any]) -> bytes:
    lines = data.splitlines(keepends=True)
    ends = (suggestion["range"][name] for name in ("start", "end"))
    start, end = (sum(map(len, lines[: place["line"] - 1])) + place["column"] - 1 for place in ends)
    return data[:start] + suggestion["text"].encode() + data[end:]


def test_rdjson_suggests_nothing_across_files() -> None:
    fix = Fix("unsafe", (*FIX.edits, FileEdit("set/Other.json", 0, 0, "x")))
    sources = {**SOURCES, "set/Other.json": b"y"}
    (diagnostic,) = json.loads(format_report("rdjson", report(finding(fix=fix), sources=sources)))["diagnostics"]
    assert "suggestions" not in diagnostic
    (result,) = json.loads(format_report("sarif", report(finding(fix=fix), sources=sources)))["runs"][0]["results"]
    assert [change["artifactLocation"]["uri"] for change in result["fixes"][0]["artifactChanges"]] == [
        "set/Tags.json",
        "set/Other.json",
    ]


def test_rdjson_without_findings_is_one_document() -> None:
    assert json.loads(format_report("rdjson", report())) == {"source": {"name": "kiplint"}, "diagnostics": []}


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
