"""Findings for people: errors with the underlined line, the remedy and the source; others on one line."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
"""Up to this number of findings in total, each is shown with its line, whatever its severity."""
MOST_ON_TERMINAL: Final = 50
"""The number of findings that a terminal shows with their lines, unless all are requested."""

WIDEST: Final = 140
"""The longest excerpt of a line, in characters, without the dots around it."""
MIN_WIDTH: Final = 20
"""The shortest one with its dots, however narrow the terminal."""
DOTS: Final = len("... " + " ...")


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write the findings, errors first, and, when there are any, lines that count them."""
    width = width_of(out)
    findings = rank(filter(report.is_listed, report.findings))
    with_excerpt, others = split_for_excerpts(findings, lambda finding: finding.severity == "error")
    if out.isatty() and not report.whole:
        with_excerpt, others = with_excerpt[:MOST_ON_TERMINAL], with_excerpt[MOST_ON_TERMINAL:] + others
    for finding in with_excerpt:
        out.write(excerpt(finding, report.sources.get(finding.path), color, width) + "\n")
    write_finding_rows(others, out, color=color)
    if report.findings:
        files = f"{plural(report.files, 'file')}{report.omissions}"
        hint = " `kiplint explain RULE` explains a rule." if findings else ""
        total = fold(f"Found {tally(report.counts)} in {files}{report.unlisted_hint}.{hint}", width)
        out.write("\n".join(total) + "\n")
    write_fix_hints(report, out)


def write_fix_hints(report: Report, out: TextIO) -> None:
    """Write `[*] 2 fixable with ..., [?] 1 more fixable with ...`; `[*]` and `[?]` also mark the findings."""
    parts = [FIX_MARKS[applicability] + text for applicability, text in report.fix_hints.items()]
    if parts:
        out.write(f"{', '.join(parts)}.\n")


def split_for_excerpts(
    findings: Sequence[AnyFinding], is_serious: Callable[[AnyFinding], bool]
) -> tuple[list[AnyFinding], list[AnyFinding]]:
    """The findings to show with an excerpt, which are the serious ones, or all if they are few; and the others."""
    if len(findings) <= MOST_EXCERPTS:
        return list(findings), []
    serious_findings = [finding for finding in findings if is_serious(finding)]
    return serious_findings, [finding for finding in findings if not is_serious(finding)]


def write_finding_rows(findings: Sequence[Finding], out: TextIO, *, color: bool) -> None:
    """Write `path:line:column: severity[rule]: message` for each finding, and an empty line below them."""
    width = width_of(out)
    for finding in findings:
        label = _label(finding)
        location = f"{finding.path}:{finding.line}:{finding.column}"
        lines = fold(f"{location}: {label}: {_fix_mark(finding)}{finding.summary}", width)
        out.write("\n".join(lines).replace(label, paint(label, SEVERITY[finding.severity], color), 1) + "\n")
    if findings:
        out.write("\n")


def write_accepted(report: Report, out: TextIO, *, color: bool) -> None:
    """Write `path:line:column: accepted[rule]: message; accepted: reason` for each accepted change."""
    width = width_of(out)
    for change in report.accepted:
        label = f"accepted[{change.rule}]"
        location = f"{change.path}:{change.line}:{change.column}"
        lines = fold(f"{location}: {label}: {change.message}; accepted: {change.accepted}", width)
        out.write("\n".join(lines).replace(label, paint(label, DIM, color), 1) + "\n")
    if report.accepted:
        out.write("\n")


def write_concise(report: Report, out: TextIO, *, color: bool) -> None:
    """Write `path:line:column: severity rule message` for each finding, as compilers do; editors understand it."""
    for finding in report.findings:
        location = f"{printable(finding.path)}:{finding.line}:{finding.column}"
        severity = paint(finding.severity, SEVERITY[finding.severity], color)
        out.write(f"{location}: {severity} {finding.rule} {printable(finding.summary)}\n")
    for change in report.accepted:
        location = f"{printable(change.path)}:{change.line}:{change.column}"
        text = printable(f"{change.message}; accepted: {change.accepted}")
        out.write(f"{location}: {paint('accepted', DIM, color)} {change.rule} {text}\n")


def excerpt(finding: Finding, source: bytes | None, color: bool, width: int | None = None) -> str:
    """A finding with the line that it is on, cut around the finding to what fits into `width` columns.

    `source` is the content of the file; None for a finding about a directory.
    """
    margin = " " * len(str(finding.line))
    arrow, bar = paint("-->", BLUE, color), paint("|", BLUE, color)
    path = f"{margin}{arrow} {printable(finding.path)}"
    rows = _headline(finding, width, color)
    if source is None:
        rows.append(path)
    else:
        end_column = finding.end_column if finding.end_line == finding.line else None
        room = WIDEST + DOTS if width is None else max(MIN_WIDTH, width - len(margin) - 3)
        text, marks = _cut_line(lines_of(source).line(finding.line), finding.column, end_column, room)
        rows += [
            f"{path}:{finding.line}:{finding.column}",
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
    """The lines `error[tags/gap]: tag 1 of B comes after a gap`, in colors."""
    label = _label(finding)
    first, *others = _labelled(f"{label}: {_fix_mark(finding)}", finding.message, BOLD, width, color)
    return [first.replace(label, paint(label, SEVERITY[finding.severity], color), 1), *others]


def _labelled(label: str, text: str, code: str, width: int | None, color: bool) -> list[str]:
    """A label without color, followed by a text in the color `code`, wrapped to the width."""
    lines: list[str] = []
    for line in fold(f"{label}{text}", width):
        indent = line[: len(line) - len(line.lstrip())]
        plain = label if not lines and line.startswith(label) else indent
        lines.append(plain + paint(line.removeprefix(plain), code, color))
    return lines


def _label(finding: Finding) -> str:
    return f"{finding.severity}[{finding.rule}]"


def _fix_mark(finding: Finding) -> str:
    return FIX_MARKS[finding.fix.applicability] if finding.fix else ""


def _cut_line(line: str, column: int, end_column: int | None, room: int) -> tuple[str, str]:
    """A line, or as much of it around a finding as fits into `room` characters, and the `^` to write below the finding.

    Columns are 1-based, the end exclusive; `end_column` is None for a finding that goes on in the next line.
    """
    finding_start = column - 1
    finding_end = len(line) if end_column is None else min(len(line), max(column, end_column - 1))
    part_length = len(line) if len(line) <= min(WIDEST, room) else min(WIDEST, room - DOTS)
    characters_before = min(20, part_length // 4)
    part_start = max(0, min(finding_start - characters_before, len(line) - part_length))
    part_end = part_start + part_length

    part = printable(line[part_start:part_end], as_sign)
    dots_before = "... " if part_start else ""
    dots_after = " ..." if part_end < len(line) else ""
    blanks = " " * len(dots_before) + _blanks(line[part_start:finding_start])
    marks = "^" * max(1, min(finding_end, part_end) - finding_start)
    return f"{dots_before}{part}{dots_after}", f"{blanks}{marks}"


def _blanks(text: str) -> str:
    """As many spaces as the text has columns on a terminal, where East Asian characters take two."""
    return "".join("  " if east_asian_width(char) in "WF" else " " for char in text)
