"""What definitions define: one message for each blob."""

from __future__ import annotations

from typing import ClassVar

from kiplint.pipeline.lake.schema import Columns, TableFrame, array

RANGES: Columns = {"lowest": "int", "highest": "int"}
HEADERS: Columns = {**RANGES, "header": "int"}


class Messages(TableFrame):
    """Version ranges are text in Kafka's notation, and numbers where they are joined on.

    `headers` are the header versions of the valid versions, declared (KIP-1313) or derived. `listeners` is null where
    the definition says nothing of them.
    """

    NAME = "messages"
    ABOUT = "The message that each distinct definition defines."
    COLUMNS: ClassVar[Columns] = {
        "blob": "string",
        "message_name": "string",
        "type": "string",
        "api_key": "int",
        "valid": "string",
        "lowest": "int",
        "highest": "int",
        "flexible": "string",
        "deprecated": array(RANGES),
        "unstable": "boolean",
        "listeners": "array<string>",
        "headers": array(HEADERS),
        "declares_headers": "boolean",
        "fields": "int",
    }


class Fields(TableFrame):
    """`path` is the names from the message down, joined by dots; `lowest` and `highest` are those it is present in."""

    NAME = "fields"
    ABOUT = "The fields of each distinct definition."
    COLUMNS: ClassVar[Columns] = {
        "blob": "string",
        "message_name": "string",
        "path": "string",
        "type": "string",
        "versions": "string",
        "lowest": "int",
        "highest": "int",
        "nullable": "string",
        "tagged": "string",
        "tag": "int",
        "ignorable": "boolean",
        "map_key": "boolean",
        "default": "string",
        "entity_type": "string",
    }


TAGS: Columns = {"path": "string", "tag": "int", "layout": "string"}


class Layouts(TableFrame):
    """One row for each largest range of versions with one layout.

    `layout` is equal where the bytes are, tagged fields aside; `names` where the fields are called the same as well;
    `tags` has the tagged fields, the path being that of the struct. `shape` is for people: each field's
    path, and how it travels.
    """

    NAME = "layouts"
    ABOUT = "The wire layouts of each distinct definition, by range of versions."
    COLUMNS: ClassVar[Columns] = {
        "blob": "string",
        "message_name": "string",
        "type": "string",
        "lowest": "int",
        "highest": "int",
        "layout": "string",
        "names": "string",
        "tags": array(TAGS),
        "shape": "array<string>",
    }
