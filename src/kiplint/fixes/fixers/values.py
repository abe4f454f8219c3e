"""Values and names of properties: coerced ones, null as a default, types in another language, misspelt keys."""

from __future__ import annotations

import json
import re
from typing import Final

from kiplint.engine.finding import Fix
from kiplint.fixes.mend import Case, as_json
from kiplint.model.coerce import REFUSED, coerced
from kiplint.model.field import Field
from kiplint.model.spec import FieldSpec, MessageSpec, StructSpec
from kiplint.model.types import PRIMITIVES
from kiplint.text.edit_delete import delete_item
from kiplint.text.edit_insert import rename_key, replace_value
from kiplint.text.suggest import nearest

_WORD: Final = re.compile(r"[A-Za-z0-9_]+")
_CONTAINERS: Final = frozenset({"array", "list", "seq", "vector"})


def coerced_value(case: Case) -> Fix | None:
    """Write the value that Kafka's reader makes of the one that is there."""
    way = case.document.way(case.pointer)
    if len(way) < 2:
        return None
    *_, container, node = way
    try:
        value = json.loads(case.document.text[node.start : node.end])
    except (ValueError, RecursionError):
        return None
    path = [int(token) if token.isdigit() else token for token in case.pointer.split("/")[1:]]
    meant = coerced(path, value)
    if meant is REFUSED:
        return None
    if meant is None:
        return case.safe(delete_item(case.document, container, node))
    if isinstance(value, (dict, list)):
        inner = case.document.text[node.start : node.end]
        return case.safe([replace_value(case.document, node, f"[{inner}]")])
    return case.safe([replace_value(case.document, node, as_json(meant))])


def default_null(case: Case) -> Fix | None:
    """Null in quotes where the field is nullable; else no default, which is what Kafka makes of it."""
    field = case.breach.element
    way = case.document.way(case.pointer)
    if not isinstance(field, Field) or len(way) < 2 or way[-1].key != "default":
        return None
    *_, container, node = way
    if field.nullable and field.versions <= field.nullable:
        return case.safe([replace_value(case.document, node, '"null"')])
    return case.safe(delete_item(case.document, container, node))


def default_octal(case: Case) -> Fix | None:
    """The number without its leading zeros; if asked for, where Java takes it for another one."""
    node = case.node
    field = case.breach.element
    if not isinstance(field, Field) or field.default_mistake != "octal" or node is None or node.key != "default":
        return None
    meant = str(int(field.default))
    edits = [replace_value(case.document, node, as_json(meant))]
    digits = field.default.lstrip("+-")
    other = set(digits) <= set("01234567") and int(digits, 8) != abs(int(meant))
    return case.unsafe(edits) if other else case.safe(edits)


def written_type(case: Case) -> Fix | None:
    """An array as Kafka writes it, for one written as in other languages; a misspelt primitive only if asked to."""
    node = case.node
    field = case.breach.element
    if not isinstance(field, Field) or node is None or node.key != "type":
        return None
    words = _WORD.findall(field.type)
    primitives = [word for word in words if word in PRIMITIVES]
    around = {word.lower() for word in words if word not in PRIMITIVES}
    if len(primitives) == 1 and around <= _CONTAINERS and not _WORD.fullmatch(field.type):
        return case.safe([replace_value(case.document, node, as_json(f"[]{primitives[0]}"))])
    meant = ("[]" if field.is_array else "") + field.type_hint
    if not field.type_hint or meant == field.type:
        return None
    return case.unsafe([replace_value(case.document, node, as_json(meant))])


def misspelt_property(case: Case) -> Fix | None:
    """The property whose name is nearest, where there is none of that name yet."""
    way = case.document.way(case.pointer)
    if len(way) < 2 or way[-1].key is None:
        return None
    *_, container, node = way
    spec: type[MessageSpec | FieldSpec | StructSpec] = MessageSpec if container is case.document.root else FieldSpec
    if case.pointer.startswith("/commonStructs/") and case.pointer.count("/") == 3:
        spec = StructSpec
    known = [name for name in spec.__struct_encode_fields__ if name not in {one.key for one in container.children}]
    meant = nearest(node.key or "", known)
    return case.unsafe([rename_key(case.document, node, meant)]) if meant else None
