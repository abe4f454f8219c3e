"""What is said of a map of header versions: each mistake once, where it is, and nothing that follows from it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kiplint.engine.config import Config, RuleTable
from kiplint.engine.finding import Finding
from tools import check, definition, field, ids

CONFIG = Config(select=["kip-1313", "syntax", "shape"])
ID = field("ClientInstanceId", "uuid", "3+")
FIRST = [
    field("RequestApiKey", "int16"),
    field("RequestApiVersion", "int16"),
    field("CorrelationId"),
    field("ClientId", "string", "1+", nullableVersions="1+", flexibleVersions="none"),
]


def header(name: str, valid: str, flexible: str, *fields: dict[str, Any]) -> bytes:
    own: dict[str, Any] = {"type": "header", "apiKey": None, "validVersions": valid, "flexibleVersions": flexible}
    return definition(*fields, name=name, **own)


HEADERS = {
    "RequestHeader.json": header("RequestHeader", "1-3", "2+", *FIRST, ID),
    "ResponseHeader.json": header("ResponseHeader", "0-1", "1+", FIRST[2]),
}


def findings_in(headers: str, *, beside: bool = True, **others: Any) -> list[Finding]:
    """What is found in XRequest (0-5, flexible from 3 on) with a map as written, beside the files of the headers."""
    text = definition(field(), headerVersions="@", **others).replace(b'"@"', headers.encode())
    return check({"XRequest.json": text, **(HEADERS if beside else {})}, CONFIG)


def rules_of(findings: list[Finding]) -> list[str]:
    """Rule, the key it is at, and what to write instead."""
    return [
        f"{finding.rule.split('/')[1]} {finding.pointer.rpartition('/')[2]} {finding.instead}".strip()
        for finding in findings
    ]


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ('{"0-2": "1", "3+": "2"}', []),
        # a gap is where no range is, however the ranges lie
        ('{"0-2": "1", "1": "1", "3+": "2"}', ["header-overlap 1"]),
        ('{"0-1": "1", "3+": "2"}', ["header-gap 3+"]),
        # the last range is open, and only the last
        ('{"0-2": "1", "3-5": "2"}', ['header-not-open 3-5 "3+": "2"']),
        ('{"0+": "1", "3+": "2"}', ['header-not-open 0+ "0-2": "1"']),
        ('{"0-1": "1", "2": "2", "3+": "1"}', ["body-not-flexible 2", "header-decreasing 3+"]),
        # what cannot be read might be the last
        ('{"0-2": "1", "3x": "2"}', ["header-key 3x"]),
        ('{"0-2": "1", "3+": "two"}', ["header-value 3+"]),
        ('{"0-2": "1", "3-4": "2", "3-4": "3"}', ["duplicate-key 3-4"]),
        ('{"0-2": "1", "3+": null}', ["wrong-type 3+"]),
        # no map at all
        ("{}", ['header-missing headerVersions "headerVersions": {"0-2": "1", "3+": "2"}']),
        ("[]", ["wrong-type headerVersions"]),
        # no such header
        ('{"0-2": "1", "3+": "4"}', ["header-unknown 3+"]),
        # a flexible body behind an old header
        ('{"0-3": "1", "4+": "2"}', ["header-not-flexible 0-3"]),
        ('{"0-3": "1", "3+": "2"}', ["header-overlap 3+"]),
    ],
)
def test_a_map_says_each_mistake_once_with_and_without_the_files_of_the_headers(
    headers: str, expected: list[str]
) -> None:
    for beside in (True, False):
        findings = findings_in(headers, beside=beside)
        assert sorted(rules_of(findings)) == sorted(expected)


@pytest.mark.parametrize(("names", "others"), [("AB", "1 other message"), ("ABC", "2 other messages")])
def test_one_finding_for_all_that_declare_no_header(names: str, others: str) -> None:
    files = {
        f"{name}Request.json": definition(field(), name=f"{name}Request", apiKey=n) for n, name in enumerate(names)
    }
    data = definition(field(), headerVersions={"0-2": "1", "3+": "2"}, apiKey=9)
    (finding,) = check({**files, "XRequest.json": data, **HEADERS}, CONFIG)
    assert (finding.rule, finding.message, finding.instead) == (
        "kip-1313/header-missing",
        f"ARequest and {others} of this set do not declare headerVersions, but the rest do",
        '"headerVersions": {"0-2": "1", "3+": "2"}',
    )
    spoilt = json.loads(data) | {"headerVersions": []}
    assert ids(check({**files, "XRequest.json": json.dumps(spoilt).encode(), **HEADERS}, CONFIG)) == [
        "shape/wrong-type"
    ]


@pytest.mark.parametrize(
    ("identity", "tagged", "expected"),
    [
        ({"taggedVersions": "3+", "tag": 0}, "yes", []),
        ({}, "no", []),
        ({}, "yes", ["ClientInstanceId must be a tagged field of the request header"]),
        (
            {"taggedVersions": "3+", "tag": 0},
            "no",
            ["ClientInstanceId must not be a tagged field of the request header"],
        ),
    ],
)
def test_a_parameter_says_whether_the_identity_is_tagged(
    identity: dict[str, Any], tagged: str, expected: list[str]
) -> None:
    data = header("RequestHeader", "1-3", "2+", *FIRST, {**ID, **identity})
    rule = "kip-1313/request-header-v3"
    config = Config(select=[rule], rules={rule: RuleTable({"tagged": tagged})})
    assert [finding.message for finding in check({"RequestHeader.json": data}, config)] == expected
