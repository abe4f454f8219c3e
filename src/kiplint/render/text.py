"""Findings for people: an error with its line, the location underlined, the remedy and the source; others in a line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import filterfalse
from typing import Final, TextIO
from unicodedata import east_asian_width

from kiplint.engine.finding import Finding
from kiplint.render.report import AnyFinding, Report, rank
from kiplint.render.table import BLUE, BOLD, DIM, SEVERITY, fold, paint, width_of
from kiplint.text.lines import lines_of
from kiplint.text.show import as_sign, printable
from kiplint.text.words import plural, tally

FIX_MARKS: Final = {"safe": "[*] ", "unsafe": "[?] "}
"""The marks of findings that `--fix` fixes, and of those that `--fix --unsafe-fixes` fixes."""
MOST_EXCERPTS: Final = 10
"""Up to so many findings in all, each is shown with its line, whatever its severity."""
MOST_ON_TERMINAL: Final = 50
"""How many findings a terminal shows with their lines, unless it is to show all."""

WIDEST: Final = 140
"""The longest excerpt of a line, in characters."""
MIN_WIDTH: Final = 20
"""The shortest one, however narrow the terminal."""


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write the findings, errors first, and, when there are any, lines that count them."""
    width = width_of(out)
    findings = rank(filter(report.is_listed, report.findings))
    excerpts, rows = split(findings, lambda finding: finding.severity == "error")
    if out.isatty() and not report.whole:
        excerpts, rows = excerpts[:MOST_ON_TERMINAL], excerpts[MOST_ON_TERMINAL:] + rows
    for finding in excerpts:
        out.write(excerpt(finding, report.sources.get(finding.path), color, width) + "\n")
    write_rows(rows, out, color=color)
    if report.findings:
        where = f"{plural(report.files, 'file')}{report.others}"
        hint = " `kiplint explain RULE` explains a rule." if findings else ""
        out.write("\n".join(fold(f"Found {tally(report.counts)} in {where}{report.unlisted}.{hint}", width)) + "\n")
    write_fixable(report, out)


def write_fixable(report: Report, out: TextIO) -> None:
    """Write the line that says what fixes the marked findings, each of the marks before its own number."""
    kinds = [kind for kind in FIX_MARKS if any(item.fix and item.fix.applicability == kind for item in report.findings)]
    if kinds:
        text = report.fixable.replace(", ", f", {FIX_MARKS['unsafe']}", len(kinds) - 1)
        out.write(f"{FIX_MARKS[kinds[0]]}{text}\n")


def split(
    findings: Sequence[AnyFinding], is_serious: Callable[[AnyFinding], bool]
) -> tuple[list[AnyFinding], list[AnyFinding]]:
    """The findings to show with their lines, which are the serious ones unless there are few, and the others."""
    if len(findings) <= MOST_EXCERPTS:
        return [*findings], []
    return [*filter(is_serious, findings)], [*filterfalse(is_serious, findings)]


def write_rows(findings: Sequence[Finding], out: TextIO, *, color: bool) -> None:
    """Write `path:line:column: severity[rule]: message` for each finding, and an empty line below them."""
    width = width_of(out)
    for finding in findings:
        label = _label(finding)
        location = f"{finding.path}:{finding.line}:{finding.column}"
        text = "\n".join(fold(f"{location}: {label}: {_mark(finding)}{finding.summary}", width))
        out.write(text.replace(label, paint(label, SEVERITY[finding.severity], color), 1) + "\n")
    if findings:
        out.write("\n")


def write_concise(report: Report, out: TextIO, *, color: bool) -> None:
    """Write `path:line:column: severity rule message` for each finding, as compilers do; editors understand it."""
    for finding in report.findings:
        location = f"{printable(finding.path)}:{finding.line}:{finding.column}"
        severity = paint(finding.severity, SEVERITY[finding.severity], color)
        out.write(f"{location}: {severity} {finding.rule} {printable(finding.summary)}\n")


def excerpt(finding: Finding, source: bytes | None, color: bool, width: int | None = None) -> str:
    """A finding with the line that it is on, cut at the location to what fits into `width` columns.

    `source` is the file; None for a finding about a directory.
    """
    margin = " " * len(str(finding.line))
    arrow, bar = paint("-->", BLUE, color), paint("|", BLUE, color)
    where = f"{margin}{arrow} {printable(finding.path)}"
    rows = _headline(finding, width, color)
    if source is None:
        rows.append(where)
    else:
        end = finding.end_column if finding.end_line == finding.line else None
        widest = WIDEST if width is None else max(MIN_WIDTH, min(WIDEST, width - len(margin) - 3))
        text, marks = _excerpt(lines_of(source).line(finding.line), finding.column, end, widest)
        rows += [
            f"{where}:{finding.line}:{finding.column}",
            f"{margin} {bar}",
            f"{paint(str(finding.line), BLUE, color)} {bar} {text}",
            f"{margin} {bar} {paint(marks, SEVERITY[finding.severity], color)}",
        ]
    if finding.help:
        rows += _labelled(f"{margin} = help: ", finding.help, BOLD, width, color)
    elif finding.instead:
        rows += _labelled(f"{margin} = help: write ", finding.instead, BOLD, width, color)
    if finding.remark:
        rows += _labelled(f"{margin} ", f"= {finding.remark}", DIM, width, color)
    return "\n".join(row.rstrip() for row in rows) + "\n"


def _headline(finding: Finding, width: int | None, color: bool) -> list[str]:
    label = _label(finding)
    first, *others = _labelled(f"{label}: {_mark(finding)}", finding.message, BOLD, width, color)
    return [first.replace(label, paint(label, SEVERITY[finding.severity], color), 1), *others]


def _labelled(label: str, text: str, code: str, width: int | None, color: bool) -> list[str]:
    """A label and the text behind it in its colour, in lines that fit."""
    first, *others = fold(f"{label}{text}", width)
    start = len(label) if first.startswith(label) else 0
    rest = [line.replace(line.lstrip(), paint(line.lstrip(), code, color)) for line in others]
    return [first[:start] + paint(first[start:], code, color), *rest]


def _label(finding: Finding) -> str:
    return f"{finding.severity}[{finding.rule}]"


def _mark(finding: Finding) -> str:
    return FIX_MARKS[finding.fix.applicability] if finding.fix else ""


def _excerpt(line: str, column: int, end: int | None, widest: int) -> tuple[str, str]:
    """The part of a line that fits, and the marks below it; columns are 1-based, the end exclusive."""
    start = column - 1
    stop = min(len(line), max(start + 1, (end or len(line) + 1) - 1))
    size = widest if len(line) <= widest or widest == WIDEST else widest - 8  # for the dots on both sides
    first = max(0, min(start - min(20, size // 4), len(line) - size)) if len(line) > size else 0
    part = line[first : first + size]
    before = "... " if first else ""
    after = " ..." if first + size < len(line) else ""
    width = max(1, min(stop, first + size) - start)
    blanks = _blanks(part[: start - first])
    return before + printable(part, as_sign) + after, " " * len(before) + blanks + "^" * width


def _blanks(text: str) -> str:
    """As many blanks as the text has columns."""
    return "".join("  " if east_asian_width(char) in "WF" else " " for char in text)
