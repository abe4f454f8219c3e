"""What a reader would have to work out: the versions in which a field is really there."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from kiplint.model.element import given
from kiplint.server.buffer import Buffer
from kiplint.server.cursor import child
from kiplint.server.workspace import Neighbours
from kiplint.text.locate import Locator


def hints(buffer: Buffer, within: types.Range, neighbours: Neighbours) -> Iterator[types.InlayHint]:
    """Behind each `versions` in a range of the text that says more, or other, than what comes of it."""
    message = neighbours.message(buffer.path)
    if message is None:
        return
    locator = Locator(buffer.text)
    start, end = buffer.offset(within.start), buffer.offset(within.end)
    for field in message.all_fields:
        written = given(field.spec.versions, "").strip()
        node = locator.node(field.pointer)
        versions = child(node, "versions") if node else None
        if versions is None or not start <= versions.end <= end or str(field.present) == written:
            continue
        said = str(field.present) if field.present else "never"
        why = f"{field.path} is in versions {said} of {message.name} ({message.valid})"
        yield types.InlayHint(buffer.position(versions.end), said, tooltip=why, padding_left=True)
