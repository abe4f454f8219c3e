"""SARIF 2.1.0: what the standard asks, and what code scanning asks beyond it."""

from __future__ import annotations

import json
import ntpath
import os
from typing import Any

import pytest

from kiplint.engine.finding import Finding, Fix
from kiplint.render.report import Report
from kiplint.render.sarif import message_text, uri
from kiplint.text.edit import Edit

from .findings import finding, format_report, report, valid_run


def run(result: Report) -> Any:
    return valid_run(json.loads(format_report("sarif", result)))


def marks(*finding: Finding) -> list[str]:
    return [result["partialFingerprints"]["primaryLocationLineHash"] for result in run(report(*finding))["results"]]


def test_a_rule_without_a_title_is_described_by_its_id() -> None:
    (rule,) = run(report(finding("my-pack/odd-name", "warning")))["tool"]["driver"]["rules"]
    assert rule["shortDescription"] == {"text": "Odd name"}
    assert rule["properties"] == {"precision": "high", "problem.severity": "warning", "tags": ["my-pack"]}


def test_equal_fingerprints_are_counted() -> None:
    first, other = finding(), finding(message="other")
    assert marks(first, other, first, first) == [
        first.fingerprint, other.fingerprint, f"{first.fingerprint}:2", f"{first.fingerprint}:3",
    ]  # fmt: skip


@pytest.mark.parametrize(("start", "count"), [(0, 0), (3, 1)])
def test_a_fix_of_a_byte_order_mark_is_left_out(start: int, count: int) -> None:
    fix = Fix("unsafe", (Edit("X.json", start, 3, "" if start == 0 else " "),))
    (result,) = run(report(finding(path="X.json", fix=fix), sources={"X.json": b"\xef\xbb\xbf{}"}))["results"]
    assert len(result.get("fixes", ())) == count


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("clients/X.json", "clients/X.json"),
        ("a b/#1?.json", "a%20b/%231%3F.json"),
        ("100%.json", "100%25.json"),
        ("HEAD:X.json", "HEAD%3AX.json"),
        ("a.jar!/X.json", "a.jar%21/X.json"),
        ("/abs/X.json", "file:///abs/X.json"),
        ("C:\\set\\X.json", "C%3A%5Cset%5CX.json"),
        ("../X.json", "../X.json"),
        ("世界.json", "%E4%B8%96%E7%95%8C.json"),
        ("\udcff\n.json", "%5Cudcff%5Cu000a.json"),
    ],
)
def test_uris(path: str, expected: str) -> None:
    assert uri(path) == expected


def test_the_uri_of_another_drive_of_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as windows:
        windows.setattr(os, "path", ntpath)
        result = uri("D:/my sets/X.json")
    assert result == "file:///D:/my%20sets/X.json"


def test_a_name_cannot_make_a_link() -> None:
    assert message_text("[]int32 (a)") == "[]int32 (a)"
    assert message_text("[x](https://e.example)") == "[x\\](https://e.example)"
