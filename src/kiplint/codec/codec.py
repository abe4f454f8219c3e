"""Reading and writing one version of one message."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiplint.codec.build import build
from kiplint.codec.explain import explain
from kiplint.codec.problems import ByteProblem
from kiplint.codec.wire import DecodedBody
from kiplint.limits import UNFOLDED_FIELDS, UNFOLDED_LEVELS
from kiplint.model.element import fact
from kiplint.model.layout import Layout, layout, unfolded_size
from kiplint.model.message import Message
from kiplint.model.types import PRIMITIVES


class UnusableLayout(Exception):  # noqa: N818
    """The definition has no usable layout; `Codec.unusable` says why."""


class Codec:
    """The bytes of one (message, version)."""

    def __init__(self, message: Message, version: int) -> None:
        self.message = message
        self.version = version

    @fact
    def unusable(self) -> str:
        """Why the definition has no layout that bytes could have, or empty."""
        fields, depth = unfolded_size(self.message, UNFOLDED_FIELDS)
        if fields > UNFOLDED_FIELDS or depth > UNFOLDED_LEVELS:
            limit = UNFOLDED_FIELDS if fields > UNFOLDED_FIELDS else UNFOLDED_LEVELS
            return limit.exceeded(self.message.name)
        if self.message.cycles:
            return f"{self.message.name} has a struct that contains itself: {min(self.message.cycles.values())}"
        reason = next(_unusable(self._layout), "")
        return f"{self.message.name} has the field {reason}" if reason else ""

    @fact
    def body(self) -> Layout:
        """The layout. Raises UnusableLayout."""
        if self.unusable:
            raise UnusableLayout(self.unusable)
        return self._layout

    @fact
    def _layout(self) -> Layout:
        return layout(self.message, self.version)

    def decode(self, data: bytes, pos: int = 0, *, whole: bool = True, spans: bool = False) -> DecodedBody:
        """The values from a position on, and the problems; `whole` means that the body must end with the bytes.

        With `spans` the place of each value comes too. Raises UnusableLayout.
        """
        return explain(self.body, data, pos, whole=whole, spans=spans)

    def encode(self, value: Any) -> tuple[bytes, tuple[ByteProblem, ...]]:
        """The bytes of values that may leave out fields, and what is wrong with them. Raises UnusableLayout."""
        return build(self.body, self.message, value)


def _unusable(body: Layout) -> Iterator[str]:
    """For each field that cannot be encoded, its path and the reason."""
    for slot in body.all_slots:
        if slot.body:
            yield from _unusable(slot.body)
        elif slot.kind not in PRIMITIVES:
            yield f"{slot.field.path}, whose type {slot.field.type} is unknown"
    for slot in body.tags or ():
        if (slot.field.tag or 0) < 0:
            yield f"{slot.field.path}, whose tag {slot.field.tag} is negative"
