"""Findings as a page of HTML, by file or by rule, each with the lines that it is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from typing import Any, NamedTuple, TextIO

from kiplint.engine.finding import SEVERITIES
from kiplint.render.findings.json import as_json
from kiplint.render.page import Tally, anchors, set_title, write_page
from kiplint.render.report import Report
from kiplint.text.lines import Lines, decode_text
from kiplint.text.show import as_sign, printable

ABOUT = "A page to look at and search, in one file that needs no network."

WITHOUT_SETS = {"check": "the working directory", "decode": "Bytes of Kafka's protocol"}
"""The titles of pages of runs that were given no set."""

WIDEST, BEFORE_MARK, MOST_MARKED = 240, 60, 12
"""How many characters of a line are shown, how many of them before the place, and how many marked lines."""


class Line(NamedTuple):
    """A line of a definition: its number, and its text before, in and after the place; `hit` says that it has some."""

    number: int
    before: str
    marked: str
    after: str
    hit: bool


class Item(NamedTuple):
    """A finding as the JSON has it, the name by which it can be linked, and the lines around it."""

    finding: Mapping[str, Any]
    anchor: str
    lines: tuple[Line, ...]


def write(report: Report, out: TextIO, *, color: bool) -> None:
    """Write the page; of nothing but a few words when there are no findings."""
    items = list(items_of(report))
    groups = groups_of(items)
    rules = sorted({one.finding["rule"] for one in items})
    write_page(
        "render/pages/findings.html",
        out,
        command=report.command,
        title=", ".join(map(set_title, report.sets)) or WITHOUT_SETS.get(report.command, report.command),
        told=report.told,
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
    found = [Tally(name, f"{name}s", counts[name], name) for name in SEVERITIES]
    rest = {name: number for name, number in report.summary.items() if name not in ("errors", "warnings", "infos")}
    return [*found, *(Tally(name, name.replace("_", " "), number) for name, number in rest.items())]


def groups_of(items: list[Item]) -> list[tuple[str, str, list[Item]]]:
    """The findings by file: its message, its path, and what was found."""
    found = []
    for path, some in groupby(items, key=lambda one: str(one.finding["path"])):
        group = list(some)
        name = next((one.finding["message_name"] for one in group if one.finding["message_name"]), "")
        found.append((name or path.rpartition("/")[2], path, group))
    return found


def items_of(report: Report) -> Iterator[Item]:
    """The findings in the order of files."""
    lines = lru_cache(maxsize=2)(lambda path: Lines(decode_text(report.sources.get(path, b""))))
    found = sorted(report.findings, key=lambda one: one.path)
    names = anchors([f"f-{one.fingerprint[:12]}" for one in found])
    for one, anchor in zip(found, names, strict=True):
        known = one.path in report.sources
        yield Item(as_json(one), anchor, tuple(_excerpt(lines(one.path), one.span)) if known else ())


def _excerpt(lines: Lines, span: Any) -> Iterator[Line]:
    """The lines of a place, with one before and one after."""
    last = min(len(lines), span.end_line, span.line + MOST_MARKED - 1)
    for number in range(max(1, span.line - 1), min(len(lines), last + 1) + 1):
        text = lines.line(number)
        if not span.line <= number <= last:
            yield Line(number, _shown(text[:WIDEST]), "", "", False)
            continue
        start = span.column - 1 if number == span.line else len(text) - len(text.lstrip())
        stop = max(start + 1, span.end_column - 1 if number == span.end_line else len(text))
        first = max(0, min(start - BEFORE_MARK, len(text) - WIDEST)) if len(text) > WIDEST else 0
        end = first + WIDEST
        head = ("..." if first else "") + _shown(text[first:start])
        yield Line(number, head, _shown(text[start : min(stop, end)]), _shown(text[stop:end]), True)


def _shown(text: str) -> str:
    return printable(text, as_sign)
