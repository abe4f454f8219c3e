"""Findings as a page of HTML, by file, each with the lines around it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby
from typing import NamedTuple, TextIO

from kiplint.engine.finding import SEVERITIES, Span
from kiplint.render.findings.json import FindingObject, finding_object
from kiplint.render.page import Tally, anchors, set_title, write_page
from kiplint.render.report import Report
from kiplint.text.lines import Lines, decode_text
from kiplint.text.show import as_sign, printable

ABOUT = "A page to look at and search, in one file that needs no network."

WITHOUT_SETS = {"check": "the working directory", "decode": "Bytes of Kafka's protocol"}
"""The titles of pages of runs without a set, by command."""

WIDEST, BEFORE_MARK, MOST_MARKED = 240, 60, 12
"""How many characters of a line are shown, how many of them before the place, and how many marked lines."""


class SourceLine(NamedTuple):
    """A line of a definition: its number, and its text before, in and after the place; `hit` if it has the place."""

    number: int
    before: str
    marked: str
    after: str
    hit: bool


class Item(NamedTuple):
    """A finding, the anchor that links to it, and the lines around it."""

    finding: FindingObject
    anchor: str
    lines: tuple[SourceLine, ...]


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write the page."""
    items = list(items_of(report))
    groups = groups_of(items)
    rules = sorted({item.finding.rule for item in items})
    write_page(
        "render/pages/findings.html",
        out,
        command=report.command,
        title=", ".join(map(set_title, report.sets)) or WITHOUT_SETS.get(report.command, report.command),
        headline=report.headline,
        summary=tallies(report),
        severities=[Tally(name, name, report.counts[name], name) for name in SEVERITIES],
        groups=groups,
        numbers={path: str(at) for at, (_, path, _) in enumerate(groups)},
        choices=[(str(at), name) for at, (name, _, _) in enumerate(groups)],
        count=len(items),
        rules=[(rule, rule) for rule in rules],
        about=report.rules,
        broken=report.broken,
    )


def tallies(report: Report) -> list[Tally]:
    """The numbers of a report."""
    counts = report.counts
    severities = [Tally(name, f"{name}s", counts[name], name) for name in SEVERITIES]
    rest = {name: number for name, number in report.summary.items() if name not in ("errors", "warnings", "infos")}
    return [*severities, *(Tally(name, name.replace("_", " "), number) for name, number in rest.items())]


def groups_of(items: list[Item]) -> list[tuple[str, str, list[Item]]]:
    """The findings by file: the name of its message, its path, and its findings."""
    groups = []
    for path, some in groupby(items, key=lambda item: item.finding.path):
        group = list(some)
        name = next((item.finding.message_name for item in group if item.finding.message_name), "")
        groups.append((name or path.rpartition("/")[2], path, group))
    return groups


def items_of(report: Report) -> Iterator[Item]:
    """The findings in the order of files."""
    lines = lru_cache(maxsize=2)(lambda path: Lines(decode_text(report.sources.get(path, b""))))
    findings = sorted(report.findings, key=lambda finding: finding.path)
    names = anchors([f"f-{finding.fingerprint[:12]}" for finding in findings])
    for finding, anchor in zip(findings, names, strict=True):
        known = finding.path in report.sources
        yield Item(finding_object(finding), anchor, tuple(_excerpt(lines(finding.path), finding.span)) if known else ())


def _excerpt(lines: Lines, span: Span) -> Iterator[SourceLine]:
    """The lines of a place, with one before and one after."""
    last = min(len(lines), span.end_line, span.line + MOST_MARKED - 1)
    for number in range(max(1, span.line - 1), min(len(lines), last + 1) + 1):
        text = lines.line(number)
        if not span.line <= number <= last:
            yield SourceLine(number, _shown(text[:WIDEST]), "", "", False)
            continue
        start = span.column - 1 if number == span.line else len(text) - len(text.lstrip())
        stop = max(start + 1, span.end_column - 1 if number == span.end_line else len(text))
        first = max(0, min(start - BEFORE_MARK, len(text) - WIDEST)) if len(text) > WIDEST else 0
        end = first + WIDEST
        head = ("..." if first else "") + _shown(text[first:start])
        yield SourceLine(number, head, _shown(text[start : min(stop, end)]), _shown(text[stop:end]), True)


def _shown(text: str) -> str:
    return printable(text, as_sign)
