"""What is told about the thing under the pointer."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from kiplint.engine.finding import Finding
from kiplint.engine.rule import Rule
from kiplint.server import cursor, wording
from kiplint.server.buffer import Buffer
from kiplint.server.workspace import Neighbours
from kiplint.text.show import printable


def hover(
    buffer: Buffer, offset: int, neighbours: Neighbours, findings: Iterable[Finding], rules: Iterable[Rule]
) -> types.Hover | None:
    """The message, struct or field that a place belongs to, and why what is found there is found."""
    place = cursor.at(buffer, offset)
    if place is None:
        return None
    parts: list[str] = []
    message = neighbours.message(buffer.path)
    node = place.node
    if message and (place.tokens[place.depth :] or node.kind != "object"):
        parts.append(wording.told(cursor.element_at(message, place)))
    why = {one.id: one for one in rules}
    here = buffer.position(offset)
    for one in findings:
        span = buffer.range_of_span(one.span)
        if one.rule in why and _before(span.start, here) and _before(here, span.end):
            parts.append(f"**{one.rule}**: {printable(why[one.rule].spec.why)}")
    if not parts:
        return None
    start = node.start if node.key is None else node.key_start
    text = "\n\n---\n\n".join(dict.fromkeys(parts))
    return types.Hover(types.MarkupContent(types.MarkupKind.Markdown, text), buffer.range(start, node.end))


def _before(one: types.Position, other: types.Position) -> bool:
    return (one.line, one.character) <= (other.line, other.character)
