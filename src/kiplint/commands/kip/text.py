"""KIPs for people: their definitions, what is wrong with them, what they change, and where the code differs."""

from __future__ import annotations

from functools import lru_cache
from typing import TextIO

from kiplint.commands.diff.text import write_diff
from kiplint.commands.kip.result import KipReport, KipResult
from kiplint.commands.show.text import draw
from kiplint.render.findings.text import excerpt
from kiplint.render.table import DIM, SEVERITY, table, title, width_of
from kiplint.text.lines import Lines, decode_text
from kiplint.text.words import plural, tally

STATES = {
    "new": "new",
    "changed": "changed",
    "same": "as in the base",
    "read": "",
    "older": "a later one of the name counts",
    "unread": "cannot be read",
}


def write(result: KipResult, out: TextIO, *, color: bool) -> None:
    """Write a result, KIP by KIP, and a line that counts the findings."""
    for one in result.kips:
        _write_kip(one, result, out, color)
    out.write(f"{summary(result)}\n")


def summary(result: KipResult) -> str:
    """`2 errors and 1 note in 9 definitions of 1 KIP`."""
    found = tally(result.counts) or "nothing found"
    return f"{found} in {plural(result.messages, 'definition')} of {plural(len(result.kips), 'KIP')}"


def _write_kip(one: KipReport, result: KipResult, out: TextIO, color: bool) -> None:
    width = width_of(out)
    out.write(f"{title(one.path, color)}\n")
    rows = [
        [
            (f"line {row.span.line}", DIM),
            (row.name or "?", ""),
            (row.type, ""),
            (row.versions, ""),
            (STATES[row.state], DIM),
        ]
        for row in one.drafts
    ]
    out.write("".join(f"{line}\n" for line in table((), rows, color, width)))
    if one.loose:
        out.write(f"  {plural(len(one.loose), 'field')} outside of any definition, from line {one.loose[0]} on\n")
    out.write("\n")
    text = lru_cache(maxsize=2)(lambda path: Lines(decode_text(result.sources.get(path, b""))))
    for finding in one.findings:
        out.write(excerpt(finding, text(finding.path), color, width) + "\n")
    if one.changes:
        out.write(f"{title(f'What it changes in {result.base}', color)}\n\n")
        write_diff(one.changes, one.current, result.sources, out, color=color)
        out.write("\n")
    if result.against:
        out.write(f"{title(f'What {result.against} has otherwise', color)}\n")
        out.write("".join(f"{line}\n" for line in _differences(one, color, width) or ["  nothing"]) + "\n")
    if one.layouts:
        out.write(f"{title('The layouts of its versions', color)}\n\n")
        drawings = ((found.message, versions) for found in one.layouts for versions in found.ranges)
        out.write("".join(f"{draw(*drawing, color, width)}\n\n" for drawing in drawings))


def _differences(one: KipReport, color: bool, width: int | None) -> list[str]:
    rows = [
        [
            (found.severity, SEVERITY[found.severity]),
            (f"line {found.span.line}", DIM),
            (found.rule, ""),
            (found.message if found.kind != "message-removed" else f"{found.message_name} is not there", ""),
        ]
        for found in one.differences
    ]
    return table((), rows, color, width)
