"""Findings as a page of HTML, by rule, each with the lines around it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple, TextIO
from urllib.parse import quote

from kiplint.engine.finding import SEVERITIES, Finding, Severity, Span
from kiplint.render.links import own_address
from kiplint.render.page import Tally, anchors, set_titles, to_pack, write_page
from kiplint.render.report import Report, rank
from kiplint.text.lines import Lines, decode_text
from kiplint.text.show import as_sign, encodable, printable

WITHOUT_SETS = {"check": "the working directory", "decode": "Bytes of Kafka's protocol"}
"""The titles of pages of runs without a set, by command."""

WIDEST, BEFORE_MARK, MOST_MARKED, MOST_LINES = 240, 60, 12, 4
"""How many characters of a line are shown, how many of them before the place, how many marked lines, and how many
numbers of lines."""


class SourceLine(NamedTuple):
    """A line of a definition: its number, and its text before, in and after the place; `hit` if it has the place."""

    number: int
    before: str
    marked: str
    after: str
    hit: bool


class Item(NamedTuple):
    """A finding, its anchor, and the lines around it."""

    finding: Finding
    anchor: str
    lines: tuple[SourceLine, ...]


class PageEntry(NamedTuple):
    """The findings of a rule in a message of a file: the name of the message, and the path from the set on.

    `address` is that of the file, or empty.
    """

    name: str
    path: str
    anchor: str
    address: str
    items: list[Item]

    @property
    def number(self) -> int:
        """How many findings there are."""
        return len(self.items)

    @property
    def lines(self) -> str:
        """The place of the only finding, else the lines of the first."""
        first = self.items[0].finding
        if self.number == 1:
            return f"{first.line}:{first.column}"
        lines = [str(line) for line in dict.fromkeys(item.finding.line for item in self.items)]
        return ", ".join(lines[:MOST_LINES]) + " ..." * (len(lines) > MOST_LINES)


Causes = dict[tuple[Severity, str], list[PageEntry]]
"""The entries by severity and rule."""


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write the page: the worst rules first, and of these those with most findings."""
    causes = causes_of(report)
    names = sorted({entry.name for entries in causes.values() for entry in entries})
    numbers = {name: str(number) for number, name in enumerate(names)}
    write_page(
        "render/pages/findings.html",
        out,
        subject=(report.command, *(report.sets or (".",))),
        command=report.command,
        title=", ".join(set_titles(*report.sets)) or WITHOUT_SETS.get(report.command, report.command),
        verdict=report.verdict,
        severities=[Tally(name, name, report.counts[name], name) for name in SEVERITIES],
        causes=causes,
        numbers=numbers,
        choices=[(number, name) for name, number in numbers.items()],
        count=len(report.findings),
        packed=to_pack(len(report.findings)),
        rules=[(rule, rule) for rule in sorted({rule for _, rule in causes})],
        about=report.rules,
        broken=report.broken,
        configuration=report.configuration,
    )


def causes_of(report: Report) -> Causes:
    """The findings by rule, message and file; a finding without a message is below the name of its file."""
    excerpts = lru_cache(maxsize=2)(lambda path: Lines(decode_text(report.sources.get(path, b""))))
    address, commit = own_address(), os.environ.get("GITHUB_SHA", "")
    base = f"{address}/blob/{commit}/" if address and commit else ""
    findings = rank(report.findings)
    counts = Counter((finding.severity, finding.rule) for finding in findings)
    order = sorted(counts, key=lambda cause: (SEVERITIES.index(cause[0]), -counts[cause], cause[1]))
    causes: dict[tuple[Severity, str], dict[tuple[str, str], PageEntry]] = {cause: {} for cause in order}
    places = anchors([f"f-{finding.fingerprint[:12]}" for finding in findings])
    names = anchors([f"{finding.message_name}.{finding.rule.rpartition('/')[2]}" for finding in findings])
    for finding, anchor, name in zip(findings, places, names, strict=True):
        lines = tuple(_excerpt(excerpts(finding.path), finding.span)) if finding.path in report.sources else ()
        entries = causes[finding.severity, finding.rule]
        place = finding.message_name, finding.path
        if place not in entries:
            entries[place] = _entry(report, finding, name, base)
        entries[place].items.append(Item(finding, anchor, lines))
    return {cause: list(entries.values()) for cause, entries in causes.items()}


def _entry(report: Report, finding: Finding, anchor: str, base: str) -> PageEntry:
    path, name = encodable(finding.path), encodable(finding.message_name)
    home = _set_of(path, report.sets)
    inside = report.in_repository(path)
    return PageEntry(
        name or path.rpartition("/")[2],
        (path.removeprefix(home).lstrip("/") or path.rpartition("/")[2]) if len(report.sets) == 1 else path,
        anchor,
        f"{base}{quote(inside)}" if base and not os.path.isabs(inside) else "",
        [],
    )


def _set_of(path: str, sets: tuple[str, ...]) -> str:
    """The set that a file is of. Paths are relative to the working directory, names of sets as the caller has them."""
    ways = path, os.path.abspath(path)
    holders = (name for name in sets if any(way.startswith((name, os.path.abspath(name))) for way in ways))
    return next(holders, sets[0] if sets else ".")


def _excerpt(lines: Lines, span: Span) -> Iterator[SourceLine]:
    """The lines of a place, with one before and one after."""
    last = min(len(lines), span.end_line, span.line + MOST_MARKED - 1)
    for number in range(max(1, span.line - 1), min(len(lines), last + 1) + 1):
        text = lines.line(number)
        if not span.line <= number <= last:
            yield SourceLine(number, _visible(text[:WIDEST]), "", "", False)
            continue
        start = span.column - 1 if number == span.line else len(text) - len(text.lstrip())
        stop = max(start + 1, span.end_column - 1 if number == span.end_line else len(text))
        first = max(0, min(start - BEFORE_MARK, len(text) - WIDEST)) if len(text) > WIDEST else 0
        end = first + WIDEST
        head = ("..." if first else "") + _visible(text[first:start])
        yield SourceLine(number, head, _visible(text[start : min(stop, end)]), _visible(text[stop:end]), True)


def _visible(text: str) -> str:
    return printable(text, as_sign)
