"""Where sets come from."""

from __future__ import annotations

from typing import ClassVar

from kiplint.pipeline.columns import Columns
from kiplint.pipeline.frame import Frame


class Sources(Frame):
    """`kind` is git or files (a directory or archive); `lineage` a branch, `tags`, or empty for what has no history.

    `as_of` is null where the last run has read the line, else the state that it has stayed in since.
    """

    NAME = "sources"
    ABOUT = "The lines of history of each source: where they are, and how many revisions each has."
    COLUMNS: ClassVar[Columns] = {
        "source": "string",
        "lineage": "string",
        "kind": "string",
        "location": "string",
        "sets": "bigint",
        "as_of": "timestamp",
    }
