"""A field that comes in with a new version: its properties, and its place in the file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from kiplint.fixes.draft import Draft
from kiplint.fixes.order import FIELD
from kiplint.model.container import Container
from kiplint.model.message import Message
from kiplint.model.types import PRIMITIVES, respelt
from kiplint.text.edit_document import Document, start_of
from kiplint.text.nodes import Node
from kiplint.text.suggest import did_you_mean, nearest

_NAME: Final = re.compile(r"[A-Z][A-Za-z0-9]*")


class BadField(ValueError):  # noqa: N818
    """A new field that cannot be; the message says why."""


class NewField(msgspec.Struct, frozen=True):
    """A field to add. `path` leads to it from the top, by the names of fields: `Topics`, `Partitions`.

    `message` is the name of the request or response, empty for the request.
    """

    name: str
    type: str
    about: str
    path: tuple[str, ...] = ()
    message: str = ""

    @classmethod
    def parse(cls, text: str) -> NewField:
        """Read `Name:type:about`; in front of the name the fields that lead to it, and a message, with dots.

        Raises BadField when it is not of that form.
        """
        parts = [one.strip() for one in text.split(":", 2)]
        if len(parts) < 3 or not all(parts):
            raise BadField(f"{text!r} is not Name:type:about, such as 'ErrorMessage:string:Why it failed, or empty.'")
        names = parts[0].split(".")
        if wrong := next((one for one in names if not _NAME.fullmatch(one)), None):
            hint = did_you_mean(wrong, [wrong[:1].upper() + wrong[1:]]) if wrong.isalnum() else ""
            raise BadField(f"{wrong!r} cannot be the name of a field: letters and digits, the first a capital{hint}")
        first = names[0] if len(names) > 1 and names[0].endswith(("Request", "Response")) else ""
        return cls(names[-1], parts[1], parts[2], tuple(names[bool(first) : -1]), first)


def add_field(draft: Draft, new: NewField, version: int, entities: Mapping[str, str]) -> None:
    """Put the field last into its struct, in `version` and all later ones; writers may leave it out before.

    `entities` are entity types by names of fields. Raises BadField when the message has no place for it.
    """
    owner, pointer = _place(draft.message, new)
    if any(one.name.lower() == new.name.lower() for one in owner.fields):
        raise BadField(f"{owner.name} has a field {new.name} already")
    known = PRIMITIVES | {one.name for one in draft.message.common_structs}
    element = new.type.removeprefix("[]")
    if element in draft.message.structs_by_name and element not in known:
        raise BadField(f"{element} belongs to one field of {draft.message.name}; move it to commonStructs to share it")
    if element not in known:
        meant = respelt(new.type) or ("[]" if element != new.type else "") + nearest(element.strip("[]"), known)
        hint = (
            f"; did you mean {meant}?" if meant.strip("[]") else "; it is a primitive, or a common struct of the file"
        )
        raise BadField(f"{new.type} is no type of {draft.message.name}{hint}")
    properties: dict[str, Any] = {
        "name": new.name,
        "type": new.type,
        "versions": f"{version}+",
        "ignorable": True,
        "about": new.about,
    }
    if new.name in entities and element == new.type and element in PRIMITIVES:
        properties["entityType"] = entities[new.name]
    array = draft.document.find(f"{pointer}/fields")
    if array is None:
        draft.put("fields", "[\n" + draft.document.indent_unit + field_text(properties) + "\n]")
    else:
        draft.append(f"{pointer}/fields", field_like(draft.document, array, properties))


def field_like(document: Document, array: Node, properties: Mapping[str, Any]) -> str:
    """The text of a field, on one line, on two, or on one line a bracket, as the last of the array is written."""
    last = array.children[-1] if array.children else None
    if last is None or not last.children:
        return field_text(properties)
    if document.same_line(start_of(last), last.end):
        return field_text(properties, about="")
    if document.same_line(last.start, start_of(last.children[0])):
        return field_text(properties)
    unit = document.indent_unit
    inner = field_text(properties, about=f"\n{unit}").removeprefix("{ ").removesuffix(" }")
    return f"{{\n{unit}{inner}\n}}"


def field_text(properties: Mapping[str, Any], about: str = "\n  ") -> str:
    """The text of a field in the order of Kafka's; `about` is what stands before the description."""
    ordered = sorted(properties, key=FIELD.index)
    written = [f'"{key}": {json.dumps(properties[key], ensure_ascii=False)}' for key in ordered]
    first = ", ".join(one for one in written if not one.startswith('"about"'))
    return "{ " + first + "".join(f",{about or ' '}{one}" for one in written if one.startswith('"about"')) + " }"


def _place(message: Message, new: NewField) -> tuple[Container, str]:
    """The message or struct that the field goes into, and the pointer of its definition."""
    owner: Container = message
    pointer = ""
    for name in new.path:
        field = owner.by_name.get(name)
        if field is None:
            hint = did_you_mean(name, owner.by_name)
            raise BadField(f"{owner.name} has no field {name}{hint}")
        if field.struct is None:
            raise BadField(f"{name} of {owner.name} is {field.type}, and has no fields")
        owner = field.struct
        pointer = owner.pointer
    return owner, pointer
