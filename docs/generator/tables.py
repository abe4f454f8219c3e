"""The tables and views of the pipeline's lakes, from the DDL and the file of views."""

from __future__ import annotations

import re

from generator.markdown import code, page, prose, table
from kiplint.pipeline.answers import VIEWS
from kiplint.pipeline.tables import PARTITION_COLUMNS, TABLES

INTRODUCTION = """\
`kiplint pipeline run` writes Delta tables, one directory each, which any Delta reader can open and
`kiplint pipeline query` can query by the same names. The log of each table has a comment for each column and the
statistics of each file.

Contents have ids derived from their bytes: a `blob` is the content of a file, a `tree` the files of one schema set, a
`root` all sets of a revision. Content that several revisions share is stored once.

Views answer questions:

"""
VIEW = re.compile(r"^((?:-- .*\n)+)CREATE VIEW (\w+) AS", re.MULTILINE)
COLUMN = re.compile(r"^ {8}(\w+) ([^']*?)( NOT NULL)? COMMENT '([^']*)'", re.MULTILINE)


def make() -> str:
    """The page `reference/tables.md`."""
    views = table(["view", "question"], ([code(name), prose(text)] for name, text in questions().items()))
    return page("Tables of the pipeline", INTRODUCTION + views, *map(_section, TABLES))


def questions() -> dict[str, str]:
    """The question that each view answers, by the name of the view."""
    return {
        name: " ".join(line.removeprefix("-- ") for line in comment.splitlines())
        for comment, name in VIEW.findall(VIEWS.read_text("utf-8"))
    }


def _section(name: str) -> str:
    columns = ((column, " ".join(kind.split()), about) for column, kind, _, about in COLUMN.findall(TABLES[name]))
    rows = ([code(column), code(kind.lower()), prose(about)] for column, kind, about in columns)
    partitions = "It is partitioned by `source`.\n\n" if name in PARTITION_COLUMNS else ""
    return f"## {name}\n\n{partitions}{table(['column', 'type', ''], rows)}"
