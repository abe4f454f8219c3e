"""The layouts of messages as drawings: the fields in their order, with encodings and sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TextIO

from kiplint.commands.show.result import LayoutResult, LayoutsResult
from kiplint.model.headers import header_of
from kiplint.model.layout import layout, lines
from kiplint.model.message import Message
from kiplint.render.table import BOLD, DIM, paint, table, width_of
from kiplint.text.show import printable
from kiplint.versions import VersionRange


def write(result: LayoutResult | LayoutsResult, out: TextIO, *, color: bool) -> None:
    """Write a drawing for each range of versions: names, encodings, and sizes in bytes."""
    messages = result.messages if isinstance(result, LayoutsResult) else (result,)
    drawings = (drawing for message in messages for drawing in _drawings(message, width_of(out), color))
    for number, drawing in enumerate(drawings):
        out.write(f"\n{drawing}\n" if number else f"{drawing}\n")


def _drawings(result: LayoutResult, width: int | None, color: bool) -> Iterator[str]:
    message = result.message
    if not result.ranges:
        yield f"{printable(message.name)} has no valid version"
    for versions in result.ranges:
        yield draw(message, versions, color, width)


def draw(message: Message, versions: VersionRange, color: bool, width: int | None) -> str:
    """The drawing of a range of versions on which the layout is the same."""
    body = layout(message, versions.lowest)
    rows = [(f"{'  ' * row[0]}{printable(row[1])}", printable(row[2]), row[3]) for row in lines(body)]
    header = f", after {message.type} header {header_of(message, versions.lowest)}" if message.is_rpc else ""
    head = f"{printable(message.name)} {versions}{header}"
    flexible = ", flexible" if versions.lowest in message.flexible else ""
    drawn = table((), ([(name, ""), (encoding, ""), (size, DIM)] for name, encoding, size in rows), color, width)
    return "\n".join([paint(head + flexible, BOLD, color), *(drawn or ["  nothing"])])
