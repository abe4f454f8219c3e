"""What the commands that ask a lake share: opening it, and writing an answer as text or JSON."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kiplint.cli.process import CLEAN, use_color
from kiplint.engine.errors import UsageError
from kiplint.render.table import BOLD, paint, table, width_of
from kiplint.text.show import printable

if TYPE_CHECKING:
    from kiplint.pipeline.answers import Answers, Rows

MOST_ROWS = 1000
"""How many rows of a table are written as text; JSON has all."""


def need(*packages: str) -> None:
    """Raise UsageError, saying what to install, where a package of the extra is missing."""
    if any(importlib.util.find_spec(name) is None for name in packages):
        raise UsageError("kiplint pipeline needs Spark, Delta and DuckDB: pip install 'kiplint[pipeline]'")


def open_lake(path: str) -> Answers:
    """A lake, to be asked without Spark. Raises UsageError where there is none."""
    need("duckdb", "deltalake", "pyarrow")
    from kiplint.pipeline.answers import Answers

    return Answers(Path(path))


def present(form: str, answers: Mapping[str, Rows], titles: Mapping[str, str], nothing: str = "none") -> int:
    """Write answers to standard output: all as JSON by their names, or as tables those that have a title."""
    if form == "json":
        write_json({name: rows.records for name, rows in answers.items()})
    for name, title in titles.items() if form == "text" else ():
        columns = [column.replace("_", " ") for column in answers[name].columns]
        write_table(title, columns, answers[name].values, nothing)
    return CLEAN


def write_json(document: Mapping[str, Any]) -> None:
    """Write a document to standard output."""
    json.dump({"version": 1, **document}, sys.stdout, default=_plain, indent=2)
    sys.stdout.write("\n")


def _plain(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def write_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], nothing: str = "none") -> None:
    """Write a table below its title to standard output, fitted to the terminal."""
    color = use_color(sys.stdout)
    cells = [[(cell(value), "") for value in row] for row in rows]
    if title:
        sys.stdout.write(f"{paint(printable(title), BOLD, color)}\n")
    lines = table(columns, cells[:MOST_ROWS], color, width_of(sys.stdout)) or [f"  {nothing}"]
    if len(cells) > MOST_ROWS:
        lines.append(f"  and {len(cells) - MOST_ROWS:,} more rows, which JSON has")
    sys.stdout.writelines(f"{line}\n" for line in (*lines, ""))


def cell(value: object) -> str:
    """A value as text: a time is its day, a commit has ten digits."""
    match value:
        case None:
            return ""
        case date():
            return f"{value:%Y-%m-%d}"
        case int() if not isinstance(value, bool):
            return f"{value:,}"
        case list() | dict():
            return json.dumps(value, default=_plain)
        case str() if len(value) == 40 and set(value) <= set("0123456789abcdef"):
            return value[:10]
        case _:
            return str(value)
