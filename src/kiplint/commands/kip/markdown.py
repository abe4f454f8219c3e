"""KIPs as Markdown, for pull requests and job summaries."""

from __future__ import annotations

from typing import TextIO

from kiplint.commands.diff.text import write_changes
from kiplint.commands.kip.result import KipReport, KipResult
from kiplint.commands.kip.text import STATES
from kiplint.engine.finding import SEVERITIES
from kiplint.render.markdown import inline, write_row


def write(result: KipResult, out: TextIO, *, color: bool) -> None:
    """Write a result, KIP by KIP."""
    for one in result.kips:
        out.write(f"## {inline(one.path)}\n\n")
        write_row(("line", "message", "type", "versions", "state"), out)
        write_row(["---"] * 5, out)
        for row in one.drafts:
            write_row(map(inline, (str(row.span.line), row.name, row.type, row.versions, STATES[row.state])), out)
        out.write("\n")
        _write_findings(one, out)
        if one.changes:
            out.write(f"What it changes in {inline(result.base)}:\n\n")
            write_changes(one.changes, one.current, out)
            out.write("\n")
        if one.differences:
            out.write(f"What {inline(result.against)} has otherwise:\n\n")
            write_changes(one.differences, one.current, out)
            out.write("\n")


def _write_findings(one: KipReport, out: TextIO) -> None:
    if not one.findings:
        return
    write_row(("severity", "rule", "place", "what"), out)
    write_row(["---"] * 4, out)
    for found in sorted(one.findings, key=lambda found: SEVERITIES.index(found.severity)):
        write_row(map(inline, (found.severity, found.rule, f"{found.path}:{found.span.line}", found.summary)), out)
    out.write("\n")
