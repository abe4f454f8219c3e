"""What the commands that query a lake share: opening it, and writing an answer as text or JSON."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING

from kiplint.cli.process import CLEAN, how_to_install, use_color
from kiplint.engine.errors import UsageError
from kiplint.render.table import BOLD, paint, table, width_of
from kiplint.text.show import printable

if TYPE_CHECKING:
    from kiplint.pipeline.answers import Answers, Rows

COMMIT_ID = re.compile("[0-9a-f]{40}")


def need(*packages: str) -> None:
    """Raise UsageError, which says what to install, if a package of the extra is missing."""
    if any(importlib.util.find_spec(name) is None for name in packages):
        raise UsageError(f"kiplint pipeline needs Spark, Delta and DuckDB: {how_to_install('pipeline')}")


def open_lake(path: str) -> Answers:
    """A lake for queries without Spark. Raises UsageError if there is none."""
    need("duckdb", "deltalake", "pyarrow")
    from kiplint.pipeline.answers import Answers
    from kiplint.pipeline.directory import lake_path

    return Answers(lake_path(path))


def present(output_format: str, answers: Mapping[str, Rows], titles: Mapping[str, str]) -> int:
    """Write answers: as JSON all by their names, as text those that have a title. Returns the exit code."""
    if output_format == "json":
        document = {"version": 1, **{name: rows.records for name, rows in answers.items()}}
        sys.stdout.write(json.dumps(document, default=_json_value, indent=2) + "\n")
    else:
        for name, title in titles.items():
            _write_table(title, answers[name])
    return CLEAN


def _json_value(value: object) -> object:
    """The JSON value for a value that JSON does not have, such as a time or bytes: the `default` of `json.dumps`."""
    if isinstance(value, date):
        return value.isoformat()
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def _write_table(title: str, rows: Rows) -> None:
    """Write a table below its title, fitted to the terminal."""
    color = use_color(sys.stdout)
    cells = [[(cell(value), "") for value in row] for row in rows.values]  # "" is no style
    lines = [paint(printable(title), BOLD, color)] if title else []
    lines += table(rows.columns, cells, color, width_of(sys.stdout)) or ["  none"]
    sys.stdout.writelines(f"{line}\n" for line in (*lines, ""))


def cell(value: object) -> str:
    """A value as text: of a time its day, of a commit id ten digits, and nothing for null."""
    if value is None:
        return ""
    if isinstance(value, date):
        return f"{value:%Y-%m-%d}"
    if isinstance(value, list | dict):
        return json.dumps(value, default=_json_value)
    text = f"{value:,}" if type(value) is int else str(value)
    return text[:10] if COMMIT_ID.fullmatch(text) else text
