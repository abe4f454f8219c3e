"""SARIF 2.1.0: one log with one run, its rules, and a result for each finding, with fixes."""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping
from typing import Any, TextIO
from urllib.parse import quote

from msgspec.structs import astuple

from kiplint import __version__
from kiplint.engine.finding import Finding, Severity, Span
from kiplint.render.json import as_json, write_rows
from kiplint.render.markdown import inline
from kiplint.render.report import Report, RuleInfo, fingerprints
from kiplint.text.edit import Edit
from kiplint.text.lines import character_of, lines_of
from kiplint.text.show import printable

DESCRIPTIONS = {"safe": "Write what is certainly meant", "unsafe": "Write what is most likely meant"}
"""The descriptions of fixes, by their applicability."""


LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
PROBLEMS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "recommendation"}


def descriptor(rule: str, info: RuleInfo | None, severity: Severity) -> dict[str, Any]:
    """The `reportingDescriptor` of a rule; of a rule without a description, made from its id and the severity."""
    pack, _, name = rule.partition("/")
    info = info or RuleInfo(name.replace("-", " ").capitalize(), "", "", severity, "")
    title = _lines(info.title) or rule
    why = _lines(info.why) or title
    source = [f"Source: {info.source}"] if info.source else []
    text = [why, *map(_lines, source)]
    markdown = [f"**{_markdown(title)}**", *map(_markdown, (why, *source))]
    advice = [info.help] if info.help else []
    return {
        "id": rule,
        "shortDescription": {"text": title},
        "fullDescription": {"text": why},
        **({"helpUri": info.url} if info.url else {}),
        "help": {
            "text": "\n\n".join([*text, *(part.replace("`", "") for part in advice)]),
            "markdown": "\n\n".join([*markdown, *advice]),
        },
        "defaultConfiguration": {"level": LEVELS[info.severity]},
        "properties": {
            "precision": "very-high" if info.severity == "error" else "high",
            "problem.severity": PROBLEMS[info.severity],
            "tags": [pack],
        },
    }


def _lines(text: str) -> str:
    return "\n".join(map(printable, text.splitlines())).strip()


def _markdown(text: str) -> str:
    return "\n".join(map(inline, text.splitlines())).strip()


SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write one log with one run."""
    severities = {finding.rule: finding.severity for finding in reversed(report.findings)}  # of a rule the first counts
    rules = {rule: number for number, rule in enumerate(sorted(severities))}
    head = {
        "tool": {
            "driver": {
                "name": "kiplint",
                "semanticVersion": __version__,
                "rules": [descriptor(rule, report.rules.get(rule), severities[rule]) for rule in rules],
            }
        },
        "automationDetails": {"id": f"kiplint/{report.command}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": report.status != "error"}],
    }
    opening = f'{{"$schema":"{SCHEMA}","version":"2.1.0","runs":[\n'
    write_rows(f'{opening}{as_json(head)[:-1]},"results":[', _results(report, rules), "]}\n]}\n", out)


def _results(report: Report, rules: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    for finding, mark in zip(report.findings, fingerprints(report.findings), strict=True):
        yield {
            "ruleId": finding.rule,
            "ruleIndex": rules[finding.rule],
            "level": LEVELS[finding.severity],
            "message": {"text": message_text(finding.summary)},
            **({"locations": [_location(report, finding.path, finding.span)]} if finding.path else {}),
            "partialFingerprints": {"primaryLocationLineHash": mark},
            **_fixes(report, finding),
        }


def _fixes(report: Report, finding: Finding) -> dict[str, Any]:
    """The `fixes` of a result; none in a file whose text is not known, or at an offset without a column."""
    fix = finding.fix
    if fix is None:
        return {}
    texts = [report.sources.get(edit.path, b"") for edit in fix.edits]
    starts = ((edit.start, text) for edit, text in zip(fix.edits, texts, strict=True))
    if not all(text and (start or not text.startswith(BOM_UTF8)) for start, text in starts):
        return {}
    replacements: dict[str, list[dict[str, Any]]] = {}
    for edit, text in zip(fix.edits, texts, strict=True):
        replacements.setdefault(edit.path, []).append(_replacement(edit, text))
    changes = [
        {"artifactLocation": {"uri": uri(report.in_repository(path))}, "replacements": some}
        for path, some in replacements.items()
    ]
    return {"fixes": [{"description": {"text": DESCRIPTIONS[fix.applicability]}, "artifactChanges": changes}]}


def _replacement(edit: Edit, text: bytes) -> dict[str, Any]:
    first, last = (lines_of(text).position(character_of(text, offset)) for offset in (edit.start, edit.end))
    region = _region(*first, *last)
    content = {"insertedContent": {"text": edit.text}} if edit.text else {}
    return {"deletedRegion": region, **content}


def _location(report: Report, path: str, span: Span) -> dict[str, Any]:
    artifact = {"uri": uri(report.in_repository(path))}
    return {"physicalLocation": {"artifactLocation": artifact, "region": _region(*astuple(span))}}


def _region(line: int, column: int, end_line: int, end_column: int) -> dict[str, int]:
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def uri(path: str) -> str:
    """The reference to a file: relative, or with the scheme `file` for an absolute path; percent-encoded."""
    return ("file://" if path.startswith("/") else "") + quote(printable(path), safe="/")


def message_text(text: str) -> str:
    """Text as a plain message, in which `[text](target)` would be a link."""
    return printable(text).replace("](", "\\](")
