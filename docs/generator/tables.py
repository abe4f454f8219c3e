"""The tables of the pipeline's lakes, out of the classes that hold them."""

from __future__ import annotations

import inspect
from collections.abc import Mapping

from generator.markdown import code, page, prose, table
from kiplint.pipeline.answers.views import QUESTIONS, VIEWS
from kiplint.pipeline.lake.schema import TableFrame
from kiplint.pipeline.tables import TABLES, Runs

INTRODUCTION = """\
What `kiplint pipeline run` writes: Delta tables, a directory each, which any reader of Delta opens, and for
`kiplint pipeline query` a view of the same name. `revisions`, `spans` and `drift` are partitioned by `source`. The log
of each table has its description, a comment for each column, and the statistics of each file.

Contents have ids made of their bytes: a `blob` is a file's content, a `tree` the files of one schema set, a `root` all
sets of a revision; what several revisions share is there once. A type with `?` can be null.

More views put them together:

"""
ANSWERS = """

These answer a question each:

"""


def make() -> str:
    """The page `reference/tables.md`."""
    introduction = INTRODUCTION + _views(VIEWS) + ANSWERS + _views(QUESTIONS)
    return page("Tables of the pipeline", introduction, *map(_section, (*TABLES.values(), Runs)))


def _views(views: Mapping[str, tuple[str, str]]) -> str:
    return table(["view", ""], ([code(name), prose(about)] for name, (about, _) in views.items()))


def _section(kind: type[TableFrame]) -> str:
    rows = (
        [code(name), code(column + ("" if name in kind.REQUIRED else "?")), prose(kind.COMMENTS[name])]
        for name, column in kind.COLUMNS.items()
    )
    about = " ".join((inspect.getdoc(kind) or "").split())
    return f"## {kind.NAME}\n\n{prose(kind.ABOUT)} {prose(about)}\n\n{table(['column', 'type', ''], rows)}"
