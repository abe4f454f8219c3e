"""The fields of all messages."""

from __future__ import annotations

from typing import ClassVar

from kiplint.pipeline.columns import Columns
from kiplint.pipeline.frame import Frame


class Fields(Frame):
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
