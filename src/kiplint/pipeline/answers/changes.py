"""What came in, what went and what broke since a date, on every line of history."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from kiplint.engine.errors import UsageError
from kiplint.pipeline.grid import Answer, Grid, plain, short, shown
from kiplint.pipeline.reader import Reader, Row
from kiplint.pipeline.tables.spans import Spans

USUAL: Final = timedelta(days=7)
_EVENTS: Final = """
SELECT source, lineage, {event} AS event, {at}_commit AS commit, {at}_time AS time, {release} AS release, rule,
  severity, breaks, message_name, field, path, message
FROM spans WHERE {at}_time >= $1 AND {chosen}
"""
_SQL: Final = (
    " UNION ALL ".join(
        _EVENTS.format(event=f"'{event}'", at=at, release=release, chosen=chosen)
        for event, at, release, chosen in (
            ("came", "introduced", "first_release", "what = 'finding'"),
            ("went", "fixed", "fixed_release", "what = 'finding'"),
            ("broke", "introduced", "first_release", "what = 'change' AND breaks <> 'none'"),
        )
    )
    + " ORDER BY source, lineage, time, event, rule, message_name, path, message"
)
_NAMES: Final = {"came": "Came in", "went": "Went", "broke": "Broke"}


def changes(reader: Reader, since: str | None = None) -> Answer:
    """The events since a time in ISO 8601, a day being its beginning. Raises UsageError for what is none."""
    begin = _begin(since) if since else datetime.now(UTC) - USUAL
    reader.require(Spans)
    rows = reader.duck.rows(_SQL, [begin])
    document = {"version": 1, "since": begin.isoformat(), "changes": [plain(row) for row in rows]}
    columns = ("line", "when", "commit", "release", "rule", "message", "")
    grids = [
        Grid(name, columns, [_told(row) for row in rows if row["event"] == event], "" if has else "nothing")
        for event, name in _NAMES.items()
        for has in [any(row["event"] == event for row in rows)]
    ]
    return Answer(document, grids)


def _told(row: Row) -> tuple[str, ...]:
    line = " ".join(filter(None, (row["source"], row["lineage"])))
    what: Any = row["message_name"] or row["path"]
    text = "" if row["event"] == "went" else row["message"]
    return (line, shown(row["time"]), short(row["commit"]), row["release"] or "", row["rule"], what, text)


def _begin(since: str) -> datetime:
    try:
        found = datetime.fromisoformat(since)
    except ValueError:
        raise UsageError(f"--since takes a date (2026-01-31) or a time (2026-01-31T12:00), not {since}") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
