"""KIPs for people: their definitions, findings, changes, differences from the code, and layouts; text and Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final, TextIO

from kiplint.commands.diff.text import write_changes, write_diff
from kiplint.commands.kip.result import KipReport, KipResult, State, describe
from kiplint.compat.judge import ChangeFinding
from kiplint.render.findings.text import excerpt
from kiplint.render.layouts import draw
from kiplint.render.markdown import inline, write_findings, write_table, write_verdict
from kiplint.render.table import DIM, SEVERITY, Cell, table, title, width_of
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
    for kip in result.kips:
        _write_kip(kip, result, out, color)
    out.write(f"{result.headline}{result.unlisted}\n")


def _write_kip(kip: KipReport, result: KipResult, out: TextIO, color: bool) -> None:
    width = width_of(out)
    out.write(f"{title(kip.path, color)}\n")
    rows: list[list[Cell]] = [
        [
            (f"line {row.line}", DIM),
            (row.name or "?", ""),
            (row.type, ""),
            (row.valid_versions, ""),
            (STATES[row.state], DIM),
        ]
        for row in kip.definitions
    ]
    _write_lines(table((), rows, color, width), out)
    if kip.unread:
        lines: list[list[Cell]] = [[(f"line {unread.line}", DIM), (describe(unread), "")] for unread in kip.unread]
        _write_lines(["", "Not read:", *table((), lines, color, width)], out)
    out.write("\n")
    lines_of = lru_cache(maxsize=2)(lambda path: Lines(decode_text(result.sources.get(path, b""))))
    for finding in filter(result.is_listed, kip.findings):
        out.write(excerpt(finding, lines_of(finding.path), color, width) + "\n")
    if kip.unexplained:
        out.write(f"{title(f'What it changes in {result.base}', color)}\n\n")
        write_diff(kip.unexplained, kip.current, result.sources, out, color=color)
        out.write("\n")
    if result.against:
        out.write(f"{title(f'How {result.against} differs', color)}\n")
        differences = [_difference_cells(difference) for difference in kip.differences]
        _write_lines([*(table((), differences, color, width) or ["  nothing"]), ""], out)
    if kip.layouts:
        out.write(f"{title('The layouts of its versions', color)}\n\n")
        for new in kip.layouts:
            _write_lines((f"{draw(new.message, versions, color, width)}\n" for versions in new.ranges), out)


def _difference_cells(difference: ChangeFinding) -> list[Cell]:
    is_gone = difference.kind == "message-removed"
    return [
        (difference.severity, SEVERITY[difference.severity]),
        (f"line {difference.line}", DIM),
        (difference.rule, ""),
        (f"{difference.message_name} is not there" if is_gone else difference.message, ""),
    ]


def _write_lines(lines: Iterable[str], out: TextIO) -> None:
    out.writelines(f"{line}\n" for line in lines)


def write_markdown(result: KipResult, out: TextIO, *, color: bool) -> None:
    """Write the verdict and each KIP as Markdown, for pull requests and job summaries."""
    write_verdict(result.verdict, out)
    for kip in result.kips:
        out.write(f"## {inline(kip.path)}\n\n")
        rows = ((str(row.line), row.name, row.type, row.valid_versions, STATES[row.state]) for row in kip.definitions)
        write_table(("line", "message", "type", "versions", "state"), rows, out)
        out.write("\n")
        if kip.unread:
            out.write("Not read:\n\n")
            out.writelines(f"- line {unread.line}: {inline(describe(unread))}\n" for unread in kip.unread)
            out.write("\n")
        if kip.findings:
            write_findings(kip.findings, out)
            out.write("\n")
        if kip.unexplained:
            out.write(f"What it changes in {inline(result.base)}:\n\n")
            write_changes(kip.unexplained, kip.current, out)
            out.write("\n")
        if kip.differences:
            out.write(f"How {inline(result.against)} differs:\n\n")
            write_changes(kip.differences, kip.current, out)
            out.write("\n")
