"""The JSON of a result, as a document or in lines, and a finding in it. Fields are stable, and only ever added to."""

from __future__ import annotations

from typing import Annotated, Literal, TextIO

import msgspec
from msgspec import Meta

from kiplint.engine.finding import Finding, Fix, Severity
from kiplint.render.report import RuleInfo, RunResult
from kiplint.text.show import as_json_text, encodable, printable

Line = Annotated[int, Meta(ge=1, description="1-based; columns count characters.")]


class EditObject(msgspec.Struct, frozen=True):
    """The bytes of a file from `start` up to `end` give way to `text`, as UTF-8."""

    path: str
    start: Annotated[int, Meta(ge=0, description="In bytes of the file as it is.")]
    end: Annotated[int, Meta(ge=0, description="Exclusive; the same as `start` for an insertion.")]
    text: str


class FixObject(msgspec.Struct, frozen=True):
    """The edits that resolve a finding, all together."""

    applicability: Annotated[
        Literal["safe", "unsafe"], Meta(description="`unsafe` fixes are most likely right: review them.")
    ]
    edits: tuple[EditObject, ...]


class FindingObject(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One finding, also one line of the jsonl output."""

    rule: Annotated[str, Meta(description="The rule's id, pack/rule.")]
    severity: Severity
    message: Annotated[str, Meta(description="What is wrong, and what to write instead.")]
    path: Annotated[str, Meta(description="The file, relative to the working directory when below it.")]
    line: Line
    column: Line
    end_line: Line
    end_column: Annotated[int, Meta(ge=1, description="Exclusive: the first column after the place.")]
    pointer: Annotated[str, Meta(description="The JSON pointer (RFC 6901) of the place.")]
    message_name: Annotated[str, Meta(description="The message, empty when its name could not be read.")]
    source: Annotated[str, Meta(description="Where the rule comes from, such as a KIP.")]
    fingerprint: Annotated[str, Meta(description="The same while rule, message and field are the same.")]
    fixable: Annotated[bool, Meta(description="Whether kiplint can fix it: there is a `fix`.")]
    url: Annotated[str, Meta(description="Where the rule is documented; left out for a user's own rules.")] = ""
    fix: Annotated[FixObject | None, Meta(description="The fix; left out where there is none.")] = None
    fixes: Annotated[
        tuple[FixObject, ...],
        Meta(description="All fixes, the likeliest first, where several compete; `--choose RULE=N` applies the Nth."),
    ] = ()
    instead: Annotated[
        str,
        Meta(
            description='What to write, as JSON: a value for the property that is pointed to; `"property": value` '
            "for the nearest object that can have it; an object for a field that is missing; left out for nothing."
        ),
    ] = ""


class FindingsSummary(msgspec.Struct, frozen=True):
    """The numbers of a report."""

    files: int
    messages: int
    errors: int
    warnings: int
    infos: int


def finding_object(finding: Finding, rule: RuleInfo | None = None) -> FindingObject:
    """A finding for JSON, with the address of its rule's documentation."""
    return FindingObject(
        rule=finding.rule,
        severity=finding.severity,
        message=finding.message,
        path=encodable(finding.path),
        line=finding.span.line,
        column=finding.span.column,
        end_line=finding.span.end_line,
        end_column=finding.span.end_column,
        pointer=finding.pointer,
        message_name=finding.message_name,
        source=finding.source,
        fingerprint=finding.fingerprint,
        fixable=finding.fixable,
        url=rule.url if rule else "",
        fix=_fix(finding.fix) if finding.fix else None,
        fixes=tuple(map(_fix, finding.fixes)) if finding.fix and finding.fix.others else (),
        instead=finding.instead,
    )


def _fix(fix: Fix) -> FixObject:
    edits = (EditObject(encodable(edit.path), edit.start, edit.end, edit.text) for edit in fix.edits)
    return FixObject(fix.applicability, tuple(edits))


def write(result: RunResult, out: TextIO, *, color: bool) -> None:
    """Write the document of a result."""
    out.write(pretty(result.document) + "\n")


def write_lines(result: RunResult, out: TextIO, *, color: bool) -> None:
    """Write a line for each item of the document's listing, and nothing else."""
    for item in result.items:
        out.write(encoded(item) + "\n")


def encoded(value: object) -> str:
    """JSON on one line; characters that could act on a terminal are escaped as JSON escapes them."""
    return printable(msgspec.json.encode(value).decode(), as_json_text)


def pretty(value: object) -> str:
    """The same, indented by two blanks."""
    return msgspec.json.format(encoded(value), indent=2)
