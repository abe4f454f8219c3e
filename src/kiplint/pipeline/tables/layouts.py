"""What each version of each message puts on the wire."""

from __future__ import annotations

from typing import ClassVar

from kiplint.pipeline.columns import Columns, array
from kiplint.pipeline.frame import Frame

TAGS: Columns = {"path": "string", "tag": "int", "layout": "string"}


class Layouts(Frame):
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
