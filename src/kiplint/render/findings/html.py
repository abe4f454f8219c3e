"""Findings as a page of HTML, by file, each with the lines around it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple, TextIO
from urllib.parse import quote

from kiplint.engine.finding import SEVERITIES, Finding, Span
from kiplint.render.links import PagesBeside, own_address
from kiplint.render.page import Tally, anchors, set_titles, to_pack, write_page
from kiplint.render.report import Report, ranked
from kiplint.text.lines import Lines, decode_text
from kiplint.text.show import as_sign, encodable, printable

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
    """A finding, its anchor, the lines around it, and the address of its message's layouts in a page of `show`."""

    finding: Finding
    anchor: str
    lines: tuple[SourceLine, ...]
    layouts: str


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write the page."""
    items = list(items_of(report, PagesBeside(out)))
    groups = groups_of(items, report)
    names = sorted({group.name for group in groups})
    numbers = {name: str(number) for number, name in enumerate(names)}
    rules = Counter((item.finding.severity, item.finding.rule) for item in items)
    write_page(
        "render/pages/findings.html",
        out,
        command=report.command,
        title=", ".join(set_titles(*report.sets)) or WITHOUT_SETS.get(report.command, report.command),
        headline=report.headline,
        summary=tallies(report),
        severities=[Tally(name, name, report.counts[name], name) for name in SEVERITIES],
        groups=groups,
        numbers=numbers,
        choices=[(number, name) for name, number in numbers.items()],
        count=len(items),
        packed=to_pack(len(items)),
        rules=[(rule, rule) for rule in sorted({rule for _, rule in rules})],
        overview=sorted(rules.items(), key=lambda row: (SEVERITIES.index(row[0][0]), -row[1], row[0][1])),
        about=report.rules,
        broken=report.broken,
        configuration=report.configuration,
    )


def tallies(report: Report) -> list[Tally]:
    """The numbers of a report."""
    counts = report.counts
    severities = [Tally(name, f"{name}s", counts[name], name) for name in SEVERITIES]
    rest = {name: number for name, number in report.summary.items() if name not in ("errors", "warnings", "infos")}
    return [*severities, *(Tally(name, name.replace("_", " "), number) for name, number in rest.items())]


class ItemGroup(NamedTuple):
    """The findings of one severity in a message of a file: the message's name, the path, and its address or nothing."""

    name: str
    path: str
    address: str
    items: list[Item]


def groups_of(items: Iterable[Item], report: Report) -> list[ItemGroup]:
    """The findings by severity, file and message; a finding without a message stands below the name of its file."""
    address, commit = own_address(), os.environ.get("GITHUB_SHA", "")
    base = f"{address}/blob/{commit}/" if address and commit else ""
    groups: dict[tuple[str, str, str], ItemGroup] = {}
    for item in items:
        path, name = encodable(item.finding.path), encodable(item.finding.message_name)
        inside = report.in_repository(path)
        address = f"{base}{quote(inside)}" if base and not os.path.isabs(inside) else ""
        group = ItemGroup(name or path.rpartition("/")[2], path, address, [])
        groups.setdefault((item.finding.severity, path, name), group).items.append(item)
    return list(groups.values())


def items_of(report: Report, beside: PagesBeside) -> Iterator[Item]:
    """The findings, the worst first, then by file and line."""
    lines = lru_cache(maxsize=2)(lambda path: Lines(decode_text(report.sources.get(path, b""))))
    set_of = lru_cache(maxsize=2)(lambda path: _set_of(path, report.sets))
    findings = ranked(report.findings)
    names = anchors([f"f-{finding.fingerprint[:12]}" for finding in findings])
    for finding, anchor in zip(findings, names, strict=True):
        excerpt = tuple(_excerpt(lines(finding.path), finding.span)) if finding.path in report.sources else ()
        layouts = beside.link("show", (set_of(finding.path),), *anchors([finding.message_name]))
        yield Item(finding, anchor, excerpt, layouts)


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
