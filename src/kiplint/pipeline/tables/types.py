"""How many messages there are of each type."""

from __future__ import annotations

from typing import ClassVar

from kiplint.pipeline.columns import Columns
from kiplint.pipeline.frame import Frame


class Types(Frame):
    """`messages` counts distinct definitions."""

    NAME = "types"
    ABOUT = "How many distinct definitions define a message of each type."
    COLUMNS: ClassVar[Columns] = {"type": "string", "messages": "long"}
