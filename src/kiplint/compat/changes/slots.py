"""How one field's encoding differs from another's, and how a layout is written in one line."""

from __future__ import annotations

from collections.abc import Iterator

from kiplint.model.layout import Body, Slot, describe
from kiplint.text.show import printable


def difference(old: Slot, new: Slot, *, compare_compact: bool) -> Iterator[tuple[str, str]]:
    """The differences of two encodings, apart from what is inside structs, as a change's name and a description."""
    if (old.array, old.kind) != (new.array, new.kind):
        was, now = describe(old), describe(new)
        if old.compact == new.compact:  # both follow from the version being flexible, which is no part of the change
            was, now = was.removeprefix("compact "), now.removeprefix("compact ")
        yield "layout-changed", f"was {was} and is {now}"
        return
    if old.nullable != new.nullable:
        if new.nullable:
            yield "nullability-widened", "may be null now, which released peers do not expect"
        else:
            yield "nullability-narrowed", "can be null no more, which released peers still send"
    if compare_compact and old.compact != new.compact and (old.array or old.kind in ("string", "bytes", "records")):
        yield "flexible-changed", f"was {describe(old)} and is {describe(new)}"


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
