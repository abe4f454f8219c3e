"""What could not be read or worked on, instead of a dead job."""

from __future__ import annotations

from typing import ClassVar

from kiplint.pipeline.columns import Columns
from kiplint.pipeline.frame import Frame


class Problems(Frame):
    """`subject` is what the stage was at: a source, a commit, a file."""

    NAME = "problems"
    ABOUT = "What could not be read or worked on, and why."
    COLUMNS: ClassVar[Columns] = {"stage": "string", "subject": "string", "problem": "string"}
