"""All kinds of changes, by the names that rules know them by. Each has a rule in the compat pack."""

from __future__ import annotations

from collections.abc import Iterator

from kiplint.compat.changes import attribute_kinds, field_kinds, message_kinds, tag_kinds  # noqa: F401 (the classes)
from kiplint.compat.changes.change import Change, name_of
from kiplint.engine.language import register


def _kinds(kind: type[Change]) -> Iterator[type[Change]]:
    below = kind.__subclasses__()
    for one in below:
        yield from _kinds(one)
    if not below:
        yield kind


KINDS: dict[str, type[Change]] = {name_of(kind): kind for kind in _kinds(Change)}

register("change", Change, KINDS)
