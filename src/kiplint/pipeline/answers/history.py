"""Blame: everything that ever happened to a message, or because of a rule, in order."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from kiplint.engine.errors import UsageError
from kiplint.engine.ruleset import matches
from kiplint.pipeline.answers.reader import Answer, Grid, Reader, Row, is_one_of, plain, short, shown
from kiplint.pipeline.answers.report import EARLY
from kiplint.pipeline.tables import FINDING, PLACE, Messages, Offers, Sets, Spans
from kiplint.text.words import did_you_mean

SUFFIXES = ("Request", "Response", "Key", "Value")
COLUMNS = ("when", "commit", "release", "what", "rule", "message", "")


def blame(reader: Reader, subject: str, rules: list[str]) -> Answer:
    """The events of a message (an RPC by the name without its suffix), or of a rule, a pack or a glob of them.

    `rules` are the ids of all rules there are. Raises UsageError for what is neither.
    """
    reader.require(Spans, Messages)
    names = _distinct(reader, "SELECT message_name FROM spans UNION SELECT message_name FROM messages")
    if any(matches(subject, rule) for rule in rules):
        violated = (rule for rule in _distinct(reader, "SELECT DISTINCT rule FROM spans") if matches(subject, rule))
        chosen = reader.rows(Spans, where=is_one_of("rule", violated))
    elif matching := [name for name in names if _is_meant(subject, name)]:
        chosen = reader.rows(Spans, where=is_one_of("message_name", matching))
    else:
        hint = did_you_mean(subject, names) or did_you_mean(subject, rules)
        raise UsageError(f"no message and no rule is called {subject}{hint}")
    reader.require(Sets)
    released = set(_distinct(reader, "SELECT DISTINCT source FROM sets WHERE release <> ''"))
    events = sorted((event for row in chosen for event in _events(row)), key=_order)
    by_line: dict[str, list[tuple[str, ...]]] = {}
    for event in events:
        by_line.setdefault(" ".join(filter(None, event["line"])), []).append(_event_row(event, released))
    grids = [Grid(line, COLUMNS, rows) for line, rows in sorted(by_line.items())]
    document = {"version": 1, "of": subject, "events": [_public(event) for event in events]}
    return Answer(document, grids or [Grid(subject, (), [], "nothing was ever found, and nothing changed")])


def _distinct(reader: Reader, sql: str) -> list[str]:
    return sorted(text for row in reader.duck.rows(sql) for text in row.values() if text)


def _is_meant(subject: str, name: str) -> bool:
    return subject.lower() in {name.lower(), *(name.removesuffix(suffix).lower() for suffix in SUFFIXES)}


def _events(row: Row) -> Iterator[dict[str, Any]]:
    line = row["source"], row["lineage"]
    early = bool(row["before_first_release"])
    kept = {name: row[name] for name in ("rule", "severity", "breaks", "message_name", "field", "path", "message")}
    finding = row["what"] == FINDING
    yield {
        "line": line,
        "event": "introduced" if finding else "changed",
        "position": row["introduced_position"],
        "commit": row["introduced_commit"],
        "time": row["introduced_time"],
        "release": row["first_release"],
        "early": early,
        **kept,
    }
    if row["fixed_commit"] is not None:
        yield {
            "line": line,
            "event": "fixed",
            "position": row["fixed_position"],
            "commit": row["fixed_commit"],
            "time": row["fixed_time"],
            "release": row["fixed_release"],
            "early": False,
            **kept,
        }


def _order(event: dict[str, Any]) -> tuple[Any, ...]:
    return (
        event["line"],
        event["position"],
        event["event"] != "fixed",
        event["rule"],
        event["message_name"],
        event["path"],
    )


def _event_row(event: dict[str, Any], released: set[str]) -> tuple[str, ...]:
    text = event["message"] if event["event"] != "fixed" else ""
    return (
        shown(event["time"]),
        short(event["commit"]),
        event["release"] or (EARLY if event["early"] else "never" if event["line"][0] in released else ""),
        event["event"],
        event["rule"],
        event["message_name"] or event["path"],
        text,
    )


def _public(event: dict[str, Any]) -> dict[str, Any]:
    source, lineage = event["line"]
    return {
        "source": source,
        "lineage": lineage,
        **plain({k: v for k, v in event.items() if k not in ("line", "early")}),
    }


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
        Grid(name, columns, [_change_row(row) for row in rows if row["event"] == event], "" if has else "nothing")
        for event, name in _NAMES.items()
        for has in [any(row["event"] == event for row in rows)]
    ]
    return Answer(document, grids)


def _change_row(row: Row) -> tuple[str, ...]:
    line = " ".join(filter(None, (row["source"], row["lineage"])))
    what: Any = row["message_name"] or row["path"]
    text = "" if row["event"] == "went" else row["message"]
    return (line, shown(row["time"]), short(row["commit"]), row["release"] or "", row["rule"], what, text)


def _begin(since: str) -> datetime:
    try:
        moment = datetime.fromisoformat(since)
    except ValueError:
        raise UsageError(f"--since takes a date (2026-01-31) or a time (2026-01-31T12:00), not {since}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


_ROLLOUT_SQL = """
SELECT root, count(*) AS rpcs, sum(highest - lowest + 1)::BIGINT AS versions, count(*) FILTER (list_bool_or(
  list_transform(request_headers, lambda entry: entry.header >= $1 AND entry.lowest <= highest))) AS adopted
FROM offers GROUP BY root
"""
NOTHING = (0, 0, 0)
ROLLOUT_COLUMNS = ("when", "commit", "release", "RPCs", "with it", "share")


def rollout(reader: Reader, header: int = 3) -> Answer:
    """For each revision of each line, how many RPCs have a version with this header or a later one.

    For people, the revisions at which a number changes, and the newest.
    """
    reader.require(Offers, Sets)
    rows = reader.duck.rows(_ROLLOUT_SQL, [header])
    counts = {row["root"]: (row["rpcs"], row["adopted"], row["versions"]) for row in rows}
    sets = sorted(reader.rows(Sets, list(PLACE)), key=lambda row: (row["source"], row["lineage"], row["position"]))
    adopted = [{**_rollout_public(row), **_numbers(counts.get(row["root"], NOTHING))} for row in sets]
    lines: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for row in adopted:
        lines.setdefault((row["source"], row["lineage"]), []).append(row)
    title = f"Request header {header}"
    grids = [
        Grid(f"{title}: {' '.join(filter(None, line))}", ROLLOUT_COLUMNS, [_row(row) for row in _steps(rows)])
        for line, rows in lines.items()
    ]
    return Answer({"version": 1, "header": header, "sets": list(map(plain, adopted))}, grids)


def _rollout_public(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != "root"}


def _numbers(counts: tuple[int, int, int]) -> dict[str, int]:
    return {"rpcs": counts[0], "adopted": counts[1], "versions": counts[2]}


def _steps(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The revisions at which adoption changes, the first and the newest; every release."""
    kept = []
    for at, row in enumerate(rows):
        edge = at in (0, len(rows) - 1)
        if edge or row["release"] or row["adopted"] != rows[at - 1]["adopted"]:
            kept.append(row)
    return kept


def _row(row: dict[str, Any]) -> tuple[str, ...]:
    share = f"{row['adopted'] / row['rpcs']:.0%}" if row["rpcs"] else ""
    return (
        shown(row["time"]),
        short(row["commit"]),
        shown(row["release"]),
        *map(shown, (row["rpcs"], row["adopted"])),
        share,
    )
