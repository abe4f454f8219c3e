"""The JSON Schema of JSON outputs; the document of a check, one definition for each part of it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from kiplint.engine.finding import Severity

Line = Annotated[int, Meta(ge=1, description="1-based; columns count characters.")]


class EditObject(msgspec.Struct):
    """The bytes of a file from `start` up to `end` give way to `text`, as UTF-8."""

    path: str
    start: Annotated[int, Meta(ge=0, description="In bytes of the file as it is.")]
    end: Annotated[int, Meta(ge=0, description="Exclusive; the same as `start` for an insertion.")]
    text: str


class FixObject(msgspec.Struct):
    """What puts a finding right: all edits together."""

    applicability: Annotated[
        Literal["safe", "unsafe"], Meta(description="`unsafe` is what is most likely meant: look at it first.")
    ]
    edits: list[EditObject]


class FindingObject(msgspec.Struct):
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
    fixable: Annotated[bool, Meta(description="Whether kiplint can put it right: there is a `fix`.")]
    instead: Annotated[
        str,
        Meta(
            description='What to write, as JSON: a value for the property that is pointed to; `"property": value` '
            "for the nearest object that can have it; an object for a field that is missing; left out for nothing."
        ),
    ] = ""
    url: Annotated[str, Meta(description="Where the rule is documented; left out for rules of one's own.")] = ""
    fix: Annotated[FixObject | None, Meta(description="What puts it right; left out where nothing is known to.")] = None


class Summary(msgspec.Struct):
    """The numbers of a check."""

    files: int
    messages: int
    errors: int
    warnings: int
    infos: int
    left_out: Annotated[int, Meta(description="JSON files beside definitions that are none; left out for 0.")] = 0
    older: Annotated[int, Meta(description="With --changed-since: what was there before; left out for 0.")] = 0


class StaleObject(msgspec.Struct):
    """An entry of the baseline that records more findings than there still are."""

    rule: str
    message_name: str
    place: Annotated[str, Meta(description="The JSON pointer of the place, with names for indexes.")]
    fingerprint: str
    count: Annotated[int, Meta(ge=1, description="How many findings are recorded.")]
    left: Annotated[int, Meta(ge=0, description="How many of them are still there.")]


class CheckDocument(msgspec.Struct):
    """What `kiplint check --output-format json` writes."""

    version: Literal[1]
    findings: list[FindingObject]
    summary: Summary
    stale: Annotated[list[StaleObject], Meta(description="Where a baseline is used: its entries to drop.")] = []


def document_schema(document: type, title: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a document."""
    schema = msgspec.json.schema(document)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **schema}


def output_schema() -> dict[str, Any]:
    """The JSON Schema of what `kiplint check --output-format json` writes."""
    return document_schema(CheckDocument, "kiplint JSON output")
