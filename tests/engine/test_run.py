"""Checking sets: which findings, in which order, where they point, and how they are recognised again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from kiplint.engine.config import Config, load_rules, make_ruleset
from kiplint.engine.finding import Finding, Span
from kiplint.engine.rule import ConditionalSeverity, Rule, RuleSpec
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import check_set
from kiplint.sources.schema_files import SchemaFile
from tools import QUIET, check, definition, field, ids

CONFIG = Config(ignore=QUIET)


def half(kind: str, valid: str = "0", name: str = "X", **others: Any) -> bytes:
    return definition(name=name + kind.capitalize(), type=kind, validVersions=valid, **others)


def findings(data: bytes, **config: Any) -> list[Finding]:
    return check(data, Config(**{"ignore": QUIET, **config}))


def test_findings_come_in_the_order_of_files_and_lines() -> None:
    wrong = [field("B", "int3"), field("A", tag=1, taggedVersions="3+"), field("C", "Int32", "x")]
    files = {"b/XRequest.json": definition(*wrong), "a/XRequest.json": definition(*wrong)}
    findings = [
        (finding.path, finding.span.line, finding.rule)
        for finding in check(files, Config(select=["tags", "fields", "versions"]))
    ]
    assert [row[0] for row in findings] == ["b/XRequest.json"] * 4 + ["a/XRequest.json"] * 4
    assert findings[:4] == sorted(findings[:4])
    assert [row[2] for row in findings[:4]] == [
        "fields/unknown-type", "tags/gap", "fields/unknown-type", "versions/invalid-range",
    ]  # fmt: skip


def test_only_requested_files_are_reported() -> None:
    rules = make_ruleset(CONFIG, load_rules(CONFIG, ""))
    files = [SchemaFile("XRequest.json", half("request"), False), SchemaFile("XResponse.json", half("response", "0-1"))]
    result = check_set(files, rules)
    assert [(finding.rule, finding.path) for finding in result.findings] == [("rpc/versions-differ", "XResponse.json")]
    assert (result.files, result.messages, [*result.sources]) == (1, 1, ["XResponse.json"])
    other = check_set([replace(file, is_reported=not file.is_reported) for file in files], rules)
    assert [(finding.rule, finding.path) for finding in other.findings] == [("rpc/versions-differ", "XRequest.json")]
    assert other.sources == {"XRequest.json": half("request")}


@pytest.mark.parametrize(
    ("at", "pointer", "line"),
    [
        ("type", "/fields/0/type", 10),
        ("tag", "/fields/0", 9),
        ("", "/fields/0", 9),
        ("message.name", "/name", 2),
        ("message.", "", 2),
        ("message.apiKey", "/apiKey", 4),
        ("{'versions' if tag is None else 'tag'}", "/fields/0/versions", 11),
        ("definition.name", "/fields/0/name", 9),
    ],
)
def test_a_finding_points_to_the_property_or_else_to_the_element(at: str, pointer: str, line: int) -> None:
    spec = RuleSpec(id="r", each="field", message="said", why="", when="name == 'Field'", at=at)
    rule = Rule(pack="p", spec=spec, severity="error", source="", params={}, origin="")
    (finding,) = check_set([SchemaFile("X.json", definition(field()))], RuleSet([rule], [rule])).findings
    assert (finding.pointer, finding.span.line, finding.message) == (pointer, line, "said")


def test_spans_are_exact() -> None:
    text = b'{ "type": "data", "name": "X", "validVersions": "0", "flexibleVersions": "0+",\n  "fields": [{\n    "name": "A", "versions": "0+",\n    "type": "int3" }] }'
    (finding,) = check({"X.json": text}, Config(select=["fields"]))
    assert finding.span == Span(4, 5, 4, 19)
    assert text.decode().splitlines()[3][4:18] == '"type": "int3"'


def fingerprints(data: bytes) -> set[str]:
    return {finding.fingerprint for finding in check(data, Config(select=["tags/gap", "fields/unknown-type"]))}


def broken_request(*before: dict[str, Any], name: str = "XRequest", **others: Any) -> bytes:
    inner = [field("Deep", "int3")]
    return definition(
        *before, field("A", "[]S", fields=inner), field("T", tag=4, taggedVersions="3+"), name=name, **others
    )


def test_fingerprints_stay_when_lines_and_fields_come_in_above() -> None:
    first = fingerprints(broken_request())
    assert len(first) == 2
    assert all(len(fingerprint) == 32 and int(fingerprint, 16) >= 0 for fingerprint in first)
    assert fingerprints(b"// A licence.\n\n" + broken_request()) == first
    assert fingerprints(broken_request(field("New"), field("Newer"))) == first
    assert fingerprints(json.dumps(json.loads(broken_request())).encode()) == first
    assert fingerprints(broken_request(commonStructs=[{"name": "C", "versions": "0+"}])) == first


@pytest.mark.parametrize(
    "other",
    [broken_request(name="YRequest"), broken_request().replace(b"Deep", b"Other").replace(b'"T"', b'"U"')],
    ids=["message", "fields"],
)
def test_fingerprints_differ_by_message_and_field(other: bytes) -> None:
    assert not fingerprints(other) & fingerprints(broken_request())
    assert len(fingerprints(other)) == 2


@pytest.mark.parametrize("severity", ["error", "warning", "info"])
def test_a_requested_severity(severity: str) -> None:
    """It replaces the rule's own and that of special cases, even if it is the rule's own."""
    data = definition(field("A", "string", versions="1+", nullableVersions="0+"))
    disjoint = definition(field("A", "string", versions="1+", nullableVersions="0"))
    result = [
        findings(content, select=["versions/nullable-outside-versions"], severity={"versions": severity})[0].severity
        for content in (data, disjoint)
    ]
    assert result == [severity, severity]


@pytest.mark.parametrize(
    ("later", "says"),
    [
        (field("Reason", "string", "1+"), "informative-not-ignorable"),
        (field("Reason", "string", "1+", nullableVersions="1+"), "informative-not-ignorable"),
        (field("Reason", "string", "1+", taggedVersions="1+", tag=0), "informative-not-ignorable"),
        (field("Author", "string", "1+", nullableVersions="1+"), "later-without-default"),
        (
            field("Author", "string", "1+", nullableVersions="1+", taggedVersions="1+", tag=0),
            "tagged-later-not-ignorable",
        ),
        (field("Author", "string", "1+", nullableVersions="1+", default="null"), "response-null-not-ignorable"),
    ],
)
def test_only_the_most_specific_rule_reports(later: Any, says: str) -> None:
    fields = [field("Pages"), later]
    data = definition(*fields, name="XResponse", type="response", validVersions="0-1", flexibleVersions="0+")
    assert ids(findings(data, select=["conventions"])) == [f"conventions/{says}"]


def test_a_finding_about_a_set_is_at_its_directory() -> None:
    """Not at the file that happens to come first in the alphabet, and whichever of its files is given."""
    spec = RuleSpec(id="small", each="set", expect="len(rpcs) > 5", message="{len(rpcs)} RPCs are too few", why="w")
    rule = Rule(pack="mine", spec=spec, severity="error", source="", params={}, origin="mine.json")
    rules = RuleSet([rule], [rule])
    files = [
        SchemaFile("a/set/ARequest.json", half("request"), False),
        SchemaFile("a/set/BData.json", half("data"), True),
    ]
    (finding,) = check_set(files, rules, directory="a/set").findings
    assert (finding.path, finding.span, finding.message) == ("a/set", Span(1, 1, 1, 1), "1 RPCs are too few")
    assert check_set([files[0]], rules, directory="a/set").findings == []
    (here,) = check_set(files[1:], rules).findings
    assert (here.path, here.fingerprint != finding.fingerprint) == (".", True)


def test_what_to_write_in_a_file_that_is_not_reported_is_not_advice_for_the_other() -> None:
    spec = RuleSpec(id="odd", each="rpc", message="odd versions", at="validVersions", instead='"0-1"', why="w")
    rule = Rule(pack="mine", spec=spec, severity="error", source="", params={}, origin="mine.json")
    files = [SchemaFile(f"X{kind.title()}.json", half(kind), kind == "response") for kind in ("request", "response")]
    (finding,) = check_set(files, RuleSet([rule], [rule])).findings
    assert (finding.path, finding.pointer, finding.instead) == ("XResponse.json", "/validVersions", "")


def test_a_rule_that_reports_nothing_in_a_case_supersedes_nothing_there() -> None:
    off = ConditionalSeverity(when="name == 'Field'", severity="off")
    specs = [
        RuleSpec(id="a", each="field", message="a", why="w", supersedes="mine/b", levels=[off]),
        RuleSpec(id="b", each="field", message="b", why="w"),
    ]
    rules = [Rule(pack="mine", spec=spec, severity="error", source="", params={}, origin="") for spec in specs]
    files = [SchemaFile("XRequest.json", definition(field(), field("Other")))]
    found = [(finding.message, finding.pointer) for finding in check_set(files, RuleSet(rules, rules)).findings]
    assert found == [("b", "/fields/0"), ("a", "/fields/1")]


def test_the_severity_of_a_pack_switches_no_rule_on() -> None:
    config = Config(severity={"kip-1313": "warning"})
    rules = make_ruleset(config, load_rules(config, ""))
    severities = [rules.by_id[f"kip-1313/{name}"].severity for name in ("v3-missing", "header-gap")]
    assert severities == ["off", "warning"]
