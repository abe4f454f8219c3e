"""What definitions define: one message for each blob."""

from __future__ import annotations

from typing import ClassVar

from kiplint.pipeline.columns import Columns, array
from kiplint.pipeline.frame import Frame

RANGES: Columns = {"lowest": "int", "highest": "int"}
HEADERS: Columns = {**RANGES, "header": "int"}


class Messages(Frame):
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
