"""The tables of the pipeline's lakes, out of the classes that hold them."""

from __future__ import annotations

import inspect

from generator.markdown import code, page, prose, table
from kiplint.pipeline.catalog import TABLES
from kiplint.pipeline.frame import Frame

INTRODUCTION = """\
What `kiplint pipeline run` writes: directories of Parquet files below `LAKE/data`, and for `kiplint pipeline query` a
view for each table. Contents have ids made of their bytes: a `blob` is a file's content, a `tree` the files of one
schema set, a `root` all sets of a revision; what several revisions share is there once.

Two more views put them together: `set_findings` has the findings of every revision, as `check` tells them, and
`set_changes` the changes of every step, as `diff` tells them.
"""


def make() -> str:
    """The page `reference/tables.md`."""
    return page("Tables of the pipeline", INTRODUCTION, *map(_section, TABLES))


def _section(kind: type[Frame]) -> str:
    rows = ([code(name), code(column)] for name, column in kind.COLUMNS.items())
    about = " ".join((inspect.getdoc(kind) or "").split())
    return f"## {kind.NAME}\n\n{prose(kind.ABOUT)} {prose(about)}\n\n{table(['column', 'type'], rows)}"
