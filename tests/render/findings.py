"""Reports made by hand, and what a format makes of them."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from kiplint.commands.check import CheckResult
from kiplint.engine.finding import Finding, Fix, Severity, fingerprint
from kiplint.engine.rule import Rule, RuleSpec
from kiplint.render.formats import write
from kiplint.render.report import Report

HOSTILE = (
    "A\n::error file=x::boo\r##[error]%0A|]]><script>&\x1b[31m\x00\x85\u202e\ud800\uffff`@all`[x](https://e.example)"
)
"""A name that tries to be a command, markup, an escape sequence and a link."""


def finding(
    rule: str = "tags/gap",
    severity: Severity = "error",
    message: str = "tag 1 of B comes after a gap",
    path: str = "set/Tags.json",
    span: tuple[int, int, int, int] = (9, 54, 9, 62),
    fix: Fix | None = None,
    **others: Any,
) -> Finding:
    """A finding that no rule reports; without a `fingerprint` its rule and message tell it from others."""
    place: dict[str, Any] = dict(zip(("line", "column", "end_line", "end_column"), span, strict=True))
    plain: dict[str, Any] = {"pointer": "/fields/1/tag", "message_name": "Tags", "source": "KIP-482", "fixable": False}
    plain |= {"fingerprint": fingerprint(rule, message), **others}
    finding = Finding(rule=rule, severity=severity, message=message, path=path, **place, **plain)
    return finding.with_fix(fix)


def report(*findings: Finding, files: int = 1, messages: int = 1, **others: Any) -> CheckResult:
    """A report of those findings."""
    rules = {item.rule: rule(item.rule, item.severity) for item in findings}
    return CheckResult(findings, files, messages, rules=rules, **others)


def rule(rule_id: str, severity: Severity) -> Rule:
    """A user's rule of that id."""
    pack, _, name = rule_id.partition("/")
    spec = RuleSpec(id=name, why="Tags <count> up.", severity=severity)
    return Rule(pack=pack, spec=spec, severity=severity, source="KIP-482", params={}, origin="")


def format_report(name: str, report: Report) -> str:
    """What a format writes."""
    out = io.StringIO()
    write(name, report, out)
    return out.getvalue()


SARIF = Draft202012Validator(json.loads(Path(__file__).with_name("sarif.schema.json").read_text("utf-8")))


def valid_run(document: Any) -> Any:
    """The run of a SARIF log that holds to its schema, and to what no schema can say: indices lead to the rules named."""
    SARIF.validate(document)
    (run,) = document["runs"]
    ids = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(ids) == len({*ids})
    assert [ids[result["ruleIndex"]] for result in run["results"]] == [result["ruleId"] for result in run["results"]]
    return run


def many(number: int, severity: Severity = "error") -> list[Finding]:
    """So many findings, in files of a hundred each."""
    return [
        finding(
            message=f"finding {at}",
            path=f"set/File{at // 100}.json",
            severity=severity,
            span=(at % 100 + 1, 1, at % 100 + 1, 2),
        )
        for at in range(number)
    ]
