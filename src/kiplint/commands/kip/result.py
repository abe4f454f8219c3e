"""What `kiplint kip` comes to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import msgspec

from kiplint.commands.diff.result import change_object
from kiplint.commands.show.result import layout_object
from kiplint.compat.judge import Judged
from kiplint.engine.finding import Finding, Span
from kiplint.model.message import Message
from kiplint.render.findings.json import as_json
from kiplint.render.report import Report
from kiplint.text.show import encodable
from kiplint.versions import VersionRange


class DraftRow(msgspec.Struct, frozen=True):
    """A definition in a KIP, and what became of it.

    `state` is `new` (the base has no such message), `changed`, `same` (as in the base), `read` (there is no base),
    `older` (a later definition of the name counts), or `unread` (no message could be made of it).
    """

    name: str
    type: str
    versions: str
    state: str
    span: Span


class Layouts(msgspec.Struct, frozen=True):
    """What a message puts on the wire in the versions that a KIP brings."""

    message: Message
    ranges: tuple[VersionRange, ...]


class KipReport(msgspec.Struct, frozen=True):
    """One KIP: its definitions, what they change in the base, and where the code differs from them by now.

    Places are in the KIP. `findings` are what the check found; `loose` and `grammar` are as in
    `kiplint.commands.kip.reading.Kip`.
    """

    path: str
    drafts: tuple[DraftRow, ...]
    findings: tuple[Finding, ...] = ()
    changes: tuple[Judged, ...] = ()
    differences: tuple[Judged, ...] = ()
    layouts: tuple[Layouts, ...] = ()
    loose: tuple[int, ...] = ()
    grammar: tuple[int, ...] = ()

    @property
    def current(self) -> int:
        """How many definitions count."""
        return sum(one.state != "older" for one in self.drafts)


class KipResult(Report, frozen=True):
    """What `kip` found, KIP by KIP. The findings are those of all parts.

    `base` and `against` are the sets that were named, or empty.
    """

    kips: tuple[KipReport, ...] = ()
    base: str = ""
    against: str = ""

    command = "kip"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.kip.text",
        "json": "kiplint.commands.kip.result",
        "markdown": "kiplint.commands.kip.markdown",
    }


VERSION = 1


def rows(result: KipResult) -> Iterator[dict[str, Any]]:
    """The findings, an object each."""
    return map(as_json, result.findings)


def document(result: KipResult) -> dict[str, Any]:
    """What `kiplint kip --output-format json` writes; all places are in the KIPs."""
    return {
        "version": VERSION,
        "kips": [_kip(one) for one in result.kips],
        "findings": list(rows(result)),
        "summary": {
            **result.summary,
            "changes": sum(len(one.changes) for one in result.kips),
            "differences": sum(len(one.differences) for one in result.kips),
        },
    }


def _kip(one: KipReport) -> dict[str, Any]:
    return {
        "path": encodable(one.path),
        "definitions": [_draft(row) for row in one.drafts],
        "changes": [change_object(change) for change in one.changes],
        "differences": [change_object(change) for change in one.differences],
        "layouts": [
            {
                "message_name": found.message.name,
                "message_type": found.message.type,
                "layouts": [layout_object(found.message, versions) for versions in found.ranges],
            }
            for found in one.layouts
        ],
        "loose": list(one.loose),
        "grammar": list(one.grammar),
    }


def _draft(row: DraftRow) -> dict[str, Any]:
    return {
        "name": row.name,
        "type": row.type,
        "valid_versions": row.versions,
        "state": row.state,
        "line": row.span.line,
        "column": row.span.column,
        "end_line": row.span.end_line,
        "end_column": row.span.end_column,
    }
