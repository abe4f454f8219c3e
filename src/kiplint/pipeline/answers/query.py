"""A query over the tables of a lake: one SELECT in DuckDB's SQL, which reaches nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from threading import Timer
from typing import TYPE_CHECKING, Any, Final

import duckdb
import pyarrow as pa

from kiplint.engine.errors import UsageError
from kiplint.limits import QUERY_CHARACTERS
from kiplint.pipeline.answers.documents import QueryDocument
from kiplint.text.show import printable
from kiplint.text.words import did_you_mean

if TYPE_CHECKING:
    from kiplint.pipeline.answers.reader import Reader

AROUND: Final = 50
"""How much of a query is shown on either side of what is wrong in it."""
_SHOW: Final = re.compile(r"\s*show\s+(?:views|tables)\s*;?\s*", re.IGNORECASE)
_KIND: Final = re.compile(r"^[A-Z][A-Za-z ]* Error: ")
_TABLE: Final = re.compile(r'Table with name "?([^"\s]+)"? does not exist')
_PLACE: Final = re.compile(r"\n\nLINE ([0-9]+): (.*)\n( *)\^")


@contextmanager
def stream(reader: Reader, sql: str, seconds: float) -> Iterator[pa.RecordBatchReader]:
    """The rows of a query, batch by batch; raises UsageError if the query is refused, fails or takes too long."""
    text = sql
    if _SHOW.fullmatch(sql):
        text = f"SELECT unnest({reader.duck.names!r}) AS viewName ORDER BY 1"
    else:
        _require_select(sql)
    timer = Timer(seconds, reader.duck.interrupt)
    timer.start()
    try:
        with reader.duck.reader(text) as batches:
            yield batches
    except duckdb.InterruptException:
        raise UsageError(f"the query takes more than {seconds:g} seconds") from None
    except (duckdb.Error, pa.ArrowException) as error:
        raise _failure(sql, str(error), reader.duck.names, first_line=2) from None
    finally:
        timer.cancel()


def query(reader: Reader, sql: str, limit: int, seconds: float) -> QueryDocument:
    """The rows of a query, at most `limit`; values that JSON has not become text. Raises UsageError like `stream`."""
    rows: list[tuple[Any, ...]] = []
    with stream(reader, sql, seconds) as batches:
        names = tuple(batches.schema.names)
        for batch in batches:
            rows += zip(*(column.to_pylist() for column in batch.columns), strict=True)
            if len(rows) > limit:
                break
    objects = [dict(zip(names, row, strict=True)) for row in rows[:limit]]
    plain = json.loads(json.dumps(objects, default=_plain))
    return QueryDocument(1, names, tuple(plain), truncated=len(rows) > limit)


def _require_select(sql: str) -> None:
    """Raise UsageError for what is not a single SELECT; DuckDB's own locks see to what that can reach."""
    if len(sql) > QUERY_CHARACTERS:
        raise UsageError(QUERY_CHARACTERS.exceeded("the query"))
    try:
        statements = duckdb.extract_statements(sql)
    except duckdb.Error as error:
        raise _failure(sql, str(error)) from None
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise UsageError("a query is one SELECT (or SHOW VIEWS, or DESCRIBE with a table): it only reads")


def _failure(sql: str, message: str, names: Iterable[str] = (), *, first_line: int = 1) -> UsageError:
    """What DuckDB says, in one line, with the place in the query behind it and a caret there."""
    place = _PLACE.search(message)
    text = printable(" ".join(_KIND.sub("", message.partition("\n")[0]).split()))
    if table := _TABLE.search(message):
        text = f"there is no table {table[1]} in the lake{did_you_mean(table[1], names)}"
    position = None
    if place:
        position = _position(sql, int(place[1]) - first_line, place[2], len(place[3]) - len(f"LINE {place[1]}: "))
    if position is None:
        return UsageError(f"the query fails: {text}")
    before, after = " ".join(sql[:position].split()), " ".join(sql[position:].split())
    gap = " " if sql[:position][-1:].isspace() else ""
    ends = ["..." if len(part) > AROUND else "" for part in (before, after)]
    excerpt = f"{ends[0]}{before[-AROUND:]}{gap}^{after[:AROUND]}{ends[1]}"
    return UsageError(f"the query fails: {text}, at {printable(excerpt)}")


def _position(sql: str, line: int, excerpt: str, column: int) -> int | None:
    """Where in the query DuckDB points; it shows a long line from somewhere in its middle."""
    lines = sql.split("\n")
    if not 0 <= line < len(lines):
        return None
    inner = excerpt.strip(".")
    at = lines[line].find(inner) if inner else -1
    lead = len(excerpt) - len(excerpt.lstrip("."))
    return sum(len(text) + 1 for text in lines[:line]) + at + column - lead if at >= 0 else None


def _plain(value: object) -> object:
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, Decimal):  # what sums of integers come as
        return int(value) if value == value.to_integral_value() else float(value)
    return value if isinstance(value, (int, float)) else str(value)
