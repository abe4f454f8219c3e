"""How a layout is written in one line."""

from __future__ import annotations

from kiplint.model.layout import Body, Slot, describe
from kiplint.text.show import printable


def shown_layout(body: Body, *, empty_tags: bool = False) -> str:
    """A layout in one line: `ErrorCode int16, Topics array of (Name compact string), tags {0: Rack string}`.

    A tag section without tags is left out unless `empty_tags` are wanted, of the outermost struct only.
    """
    parts = [_shown(one) for one in body.slots]
    if body.tags or (empty_tags and body.tags is not None):
        parts.append("tags {" + ", ".join(f"{one.field.tag}: {_shown(one)}" for one in body.tags) + "}")
    return printable(", ".join(parts))


def _shown(one: Slot) -> str:
    if one.body is None:
        return f"{one.field.name} {describe(one)}"
    words = describe(one).removesuffix(one.field.element_type)
    return f"{one.field.name} {words}({shown_layout(one.body)})"
