"""The layout of a message as its reader would draw it."""

from __future__ import annotations

from typing import TextIO

from kiplint.model.header_map import header_of
from kiplint.model.layout import layout, lines
from kiplint.model.message import Message
from kiplint.report.kit.colors import BOLD, DIM, paint
from kiplint.report.kit.table import table, width_of
from kiplint.runs.show import LayoutResult
from kiplint.text.show import printable
from kiplint.versions import VersionRange


def write(result: LayoutResult, out: TextIO, *, color: bool) -> None:
    """Write one drawing for each range: names, encodings, and the bytes that each takes."""
    message = result.message
    if not result.ranges:
        out.write(f"{message.name} has no valid version\n")
        return
    drawings = [draw(message, versions, color, width_of(out)) for versions in result.ranges]
    out.write("\n\n".join(drawings) + "\n")


def draw(message: Message, versions: VersionRange, color: bool, width: int | None) -> str:
    """The drawing of a range of versions on which the layout is the same."""
    body = layout(message, versions.lowest)
    rows = [(f"{'  ' * row[0]}{printable(row[1])}", printable(row[2]), row[3]) for row in lines(body)]
    head = f"{printable(message.name)} {versions}{_header(message, versions.lowest)}"
    flexible = ", flexible" if message.flexible.covers(versions.lowest) else ""
    drawn = table((), ([(name, ""), (encoding, ""), (size, DIM)] for name, encoding, size in rows), color, width)
    return "\n".join([paint(head + flexible, BOLD, color), *(drawn or ["  nothing"])])


def _header(message: Message, version: int) -> str:
    return f", after {message.type} header {header_of(message, version)}" if message.is_rpc else ""
