"""KIPs for people: their definitions, findings, and changes; text and Markdown."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, TextIO

from kiplint.commands.diff.text import write_changes, write_diff
from kiplint.commands.kip.result import KipResult, State
from kiplint.render.findings.text import excerpt
from kiplint.render.markdown import inline, write_findings, write_table, write_verdict
from kiplint.render.table import DIM, Cell, table, title, width_of
from kiplint.text.lines import Lines, decode_text

STATES: Final[dict[State, str]] = {
    "new": "new",
    "changed": "changed",
    "same": "as in the base",
    "read": "",
    "older": "a later one of the name counts",
    "unread": "cannot be read",
}


def write(result: KipResult, out: TextIO, *, color: bool) -> None:
    """Write each KIP, and a line with the counts of findings."""
    width = width_of(out)
    lines_of = lru_cache(maxsize=2)(lambda path: Lines(decode_text(result.sources.get(path, b""))))
    for kip in result.kips:
        out.write(f"{title(kip.path, color)}\n")
        rows: list[list[Cell]] = [
            [
                (f"line {row.line}", DIM),
                *((text, "") for text in (row.name or "?", row.type, row.valid_versions)),
                (STATES[row.state], DIM),
            ]
            for row in kip.definitions
        ]
        out.writelines(f"{line}\n" for line in [*table((), rows, color, width), ""])
        for finding in filter(result.is_listed, kip.findings):
            out.write(excerpt(finding, lines_of(finding.path), color, width) + "\n")
        if kip.unexplained:
            out.write(f"{title(f'What it changes in {result.against}', color)}\n\n")
            write_diff(kip.unexplained, kip.current, result.sources, out, color=color)
            out.write("\n")
    out.write(f"{result.headline}{result.unlisted}\n")


def write_markdown(result: KipResult, out: TextIO, *, color: bool) -> None:
    """Write the verdict and each KIP as Markdown, for pull requests and job summaries."""
    write_verdict(result.verdict, out)
    for kip in result.kips:
        out.write(f"## {inline(kip.path)}\n\n")
        rows = ((str(row.line), row.name, row.type, row.valid_versions, STATES[row.state]) for row in kip.definitions)
        write_table(("line", "message", "type", "versions", "state"), rows, out)
        out.write("\n")
        if kip.findings:
            write_findings(kip.findings, out)
            out.write("\n")
        if kip.unexplained:
            out.write(f"What it changes in {inline(result.against)}:\n\n")
            write_changes(kip.unexplained, kip.current, out)
            out.write("\n")
