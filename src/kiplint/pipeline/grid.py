"""What an answer is made of: a document for programs, and grids of text for people."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple


class Grid(NamedTuple):
    """A titled table of text; `note` stands below it, and alone where there are no rows."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""


class Answer(NamedTuple):
    """The same twice: `document` as JSON, with fields that are only ever added to, and `grids` to be read."""

    document: dict[str, Any]
    grids: list[Grid]


def shown(value: object) -> str:
    """A value as text: days for times, short ids for commits are made by `short`, nothing for null."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%d")
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def short(commit: str | None) -> str:
    """The beginning of a commit's id."""
    return (commit or "")[:10]


def ranged(lowest: int | None, highest: int | None) -> str:
    """A version range in Kafka's notation, empty for none."""
    if lowest is None:
        return ""
    return str(lowest) if lowest == highest else f"{lowest}-{highest}"


def plain(row: dict[str, Any]) -> dict[str, Any]:
    """A row fit for JSON: times as ISO 8601."""
    return {name: value.isoformat() if isinstance(value, datetime) else value for name, value in row.items()}
