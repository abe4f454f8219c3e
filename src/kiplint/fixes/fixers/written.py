"""What a rule says to write instead, written."""

from __future__ import annotations

import re
from typing import Final

import msgspec

from kiplint.engine.finding import Fix
from kiplint.fixes.mend import Case
from kiplint.fixes.order import FIELD, MESSAGE
from kiplint.text.edit import Edit
from kiplint.text.edit_document import child_of
from kiplint.text.edit_insert import insert_property, rename_key, replace_value
from kiplint.text.nodes import Node

_PROPERTY: Final = re.compile(r'"([A-Za-z0-9+-]+)": ?(.+)', re.DOTALL)
_HEADER_ENTRY: Final = "/headerVersions/"


def instead(case: Case) -> Fix | None:
    """Do what the rule says, which is certain."""
    return case.safe(instead_edits(case))


def suggestion(case: Case) -> Fix | None:
    """Do what the rule says, which is likely."""
    return case.unsafe(instead_edits(case))


def instead_edits(case: Case) -> tuple[Edit, ...]:
    """The edits that write a rule's `instead`; none when it is no text for the place, or is there already."""
    text = case.breach.instead
    node = case.node
    if node is None or not text:
        return ()
    found = _PROPERTY.fullmatch(text)
    if found is None:
        plain = node.kind in ("string", "word") and _is_json(text)
        return (replace_value(case.document, node, text),) if plain else ()
    key, value = found.groups()
    if not _is_json(value):
        return ()
    if case.pointer.startswith(_HEADER_ENTRY) and key[0].isdigit():
        return rename_key(case.document, node, key), replace_value(case.document, node, value)
    container = _owner(case, key)
    if container is None:
        return ()
    there = child_of(container, key)
    if there is not None:
        return (replace_value(case.document, there, value),)
    order = MESSAGE if container is case.document.root else FIELD
    return insert_property(case.document, container, key, value, order)


def _owner(case: Case, key: str) -> Node | None:
    """The nearest object that can have the property: the message or a field."""
    way = case.document.way(case.pointer)
    objects = [(node, MESSAGE if node is case.document.root else FIELD) for node in way if node.kind == "object"]
    return next((node for node, order in reversed(objects) if key in order), None)


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except ValueError:
        return False
    return True
