"""SARIF 2.1.0: one log with one run, its rules, and a result for each finding, with fixes."""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Iterator, Sequence
from typing import Any, TextIO
from urllib.parse import quote

from msgspec.structs import astuple

from kiplint import __version__
from kiplint.compat.change import ChangeFinding
from kiplint.engine.finding import Finding, Severity, Span
from kiplint.engine.rule import Rule
from kiplint.render.json import as_json, write_rows
from kiplint.render.markdown import inline
from kiplint.render.report import Report, fingerprints
from kiplint.text.edit import Edit
from kiplint.text.lines import character_offset, lines_of
from kiplint.text.show import printable

DESCRIPTIONS = {"safe": "Apply the safe fix", "unsafe": "Apply the likely fix"}
"""The descriptions of fixes, by their applicability."""


LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
PROBLEMS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "recommendation"}


def descriptor(rule: Rule) -> dict[str, Any]:
    """The `reportingDescriptor` of a rule, which code scanning shows next to its findings."""
    severity = rule.active_severity
    paragraphs = [rule.spec.why, *([f"Source: {rule.source}"] if rule.source else [])]
    explain = f"kiplint explain {rule.id}"
    explanation = "shows a wrong and a right example, and how to ignore it."
    return {
        "id": rule.id,
        "shortDescription": {"text": printable(rule.title)},
        "fullDescription": {"text": printable(rule.spec.why)},
        **({"helpUri": rule.url} if rule.url else {}),
        "help": {
            "text": "\n\n".join([*map(printable, paragraphs), f"{explain} {explanation}"]),
            "markdown": "\n\n".join(
                [f"**{inline(rule.title)}**", *map(inline, paragraphs), f"`{explain}` {explanation}"]
            ),
        },
        "defaultConfiguration": {"level": LEVELS[severity]},
        "properties": {
            "precision": "very-high" if severity == "error" else "high",
            "problem.severity": PROBLEMS[severity],
            "tags": [rule.pack],
        },
    }


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def write(report: Report, out: TextIO) -> None:
    """Write one log with one run, and each of its results on a line."""
    rule_ids = sorted({finding.rule for finding in (*report.findings, *report.accepted)})
    head = {
        "tool": {
            "driver": {
                "name": "kiplint",
                "semanticVersion": __version__,
                "rules": [descriptor(report.rules[rule_id]) for rule_id in rule_ids],
            }
        },
        "automationDetails": {"id": f"kiplint/{report.command}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": report.status != "error"}],
    }
    head_without_brace = as_json(head)[:-1]  # the results go into the same object
    opening = f'{{"$schema":"{SCHEMA}","version":"2.1.0","runs":[\n{head_without_brace},"results":['
    write_rows(opening, _results(report, rule_ids), "]}\n]}\n", out)


def _results(report: Report, rule_ids: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The `result` of each finding, and of each accepted change with its suppression.

    `rule_ids` are those of the rules that the log lists, in its order.
    """
    index_of_rule = {rule_id: index for index, rule_id in enumerate(rule_ids)}
    findings = (*report.findings, *report.accepted)
    for finding, unique_fingerprint in zip(findings, fingerprints(findings), strict=True):
        yield {
            "ruleId": finding.rule,
            "ruleIndex": index_of_rule[finding.rule],
            "level": LEVELS[finding.severity],
            "message": {"text": message_text(finding.summary)},
            **({"locations": [_location(report, finding.path, finding.span)]} if finding.path else {}),
            "partialFingerprints": {"primaryLocationLineHash": unique_fingerprint},
            **_fixes(report, finding),
            **_suppressions(finding),
        }


def _suppressions(finding: Finding) -> dict[str, Any]:
    """The property `suppressions` of the result of an accepted change; empty for others."""
    reason = finding.accepted if isinstance(finding, ChangeFinding) else ""
    return {"suppressions": [{"kind": "external", "justification": reason}]} if reason else {}


def _fixes(report: Report, finding: Finding) -> dict[str, Any]:
    """The property `fixes` of a result; empty without a fix, or if SARIF cannot say where in the `sources` it edits."""
    fix = finding.fix
    if fix is None or not all(edit.path in report.sources for edit in fix.edits):
        return {}
    if any(edit.start == 0 and report.sources[edit.path].startswith(BOM_UTF8) for edit in fix.edits):
        return {}  # a byte order mark has no column
    replacements_by_path: dict[str, list[dict[str, Any]]] = {}
    for edit in fix.edits:
        replacement = _replacement(edit, report.sources[edit.path])
        replacements_by_path.setdefault(edit.path, []).append(replacement)
    changes = [
        {"artifactLocation": {"uri": uri(report.path_in_repository(path))}, "replacements": replacements}
        for path, replacements in replacements_by_path.items()
    ]
    return {"fixes": [{"description": {"text": DESCRIPTIONS[fix.applicability]}, "artifactChanges": changes}]}


def _replacement(edit: Edit, data: bytes) -> dict[str, Any]:
    """The `replacement` for an edit of a file with those bytes."""
    lines = lines_of(data)
    start = lines.position(character_offset(data, edit.start))
    end = lines.position(character_offset(data, edit.end))
    content = {"insertedContent": {"text": edit.text}} if edit.text else {}
    return {"deletedRegion": _region(*start, *end), **content}


def _location(report: Report, path: str, span: Span) -> dict[str, Any]:
    artifact = {"uri": uri(report.path_in_repository(path))}
    return {"physicalLocation": {"artifactLocation": artifact, "region": _region(*astuple(span))}}


def _region(line: int, column: int, end_line: int, end_column: int) -> dict[str, int]:
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def uri(path: str) -> str:
    """The URI of a file: relative, or with the scheme `file` for an absolute path; percent-encoded."""
    if os.path.isabs(path):
        return "file:///" + quote(printable(path.lstrip("/")), safe="/:")  # the colon of `C:/sets` stays
    return quote(printable(path), safe="/")


def message_text(text: str) -> str:
    """Text as a plain message: `](` is escaped, because a message may have links such as `[text](target)`."""
    return printable(text).replace("](", "\\](")
