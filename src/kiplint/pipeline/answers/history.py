"""Events in time: what happened to a message or because of a rule, what is recent, how far a header has come."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

from kiplint.engine.errors import UsageError
from kiplint.engine.ruleset import matches
from kiplint.pipeline.answers.documents import (
    AdoptionDocument,
    BlameDocument,
    HistoryEvent,
    RecentDocument,
    Reviewer,
    RevisionState,
    as_structs,
)
from kiplint.pipeline.answers.reader import Reader
from kiplint.pipeline.answers.views import TAGS
from kiplint.pipeline.lake.lake import moment_of
from kiplint.pipeline.tables import Messages, Offers, Revisions, Spans
from kiplint.text.words import did_you_mean

SUFFIXES = ("Request", "Response", "Key", "Value")
USUAL: Final = timedelta(days=7)


def blame(reader: Reader, subject: str, rules: list[str], *, reviewers: bool = False) -> BlameDocument:
    """The events of a message (an RPC by the name without its suffix), or of a rule, a pack or a glob of them.

    With `reviewers` also who changed its messages most in the last year of the lake. `rules` are the ids of all rules
    there are. Raises UsageError for what is neither.
    """
    reader.require(Spans, Messages, Revisions)
    names = _distinct(reader, "SELECT message_name FROM spans UNION SELECT message_name FROM messages")
    if any(matches(subject, rule) for rule in rules):
        violated_rules = _distinct(reader, "SELECT DISTINCT rule FROM spans")
        column, subjects = "rule", [rule for rule in violated_rules if matches(subject, rule)]
    elif matching := [name for name in names if _is_meant(subject, name)]:
        column, subjects = "message_name", matching
    else:
        hint = did_you_mean(subject, names) or did_you_mean(subject, rules)
        raise UsageError(f"no message and no rule is called {subject}{hint}")
    events = as_structs(HistoryEvent, reader.duck.rows(_OF_SUBJECT.format(column), [subjects]))
    released = _distinct(reader, "SELECT DISTINCT source FROM revisions WHERE release <> ''")
    messages = subjects if column == "message_name" else sorted({event.message_name for event in events})
    people = as_structs(Reviewer, reader.duck.rows(_REVIEWERS, [messages])) if reviewers else None
    return BlameDocument(1, subject, events, tuple(released), people)


_OF_SUBJECT: Final = """
SELECT * FROM events WHERE list_contains($1, {})
ORDER BY source, lineage, position, event <> 'fixed', rule, message_name, path, event, field, message
"""
_REVIEWERS: Final = f"""
WITH held AS (
  SELECT DISTINCT s.source, s.lineage, position, commit, author, time, message_name, blob
  FROM messages JOIN files USING (blob) JOIN trees USING (tree) JOIN revisions s USING (root)
  WHERE list_contains($1, message_name) AND NOT {TAGS}
), touched AS (
  SELECT *, lag(blob) OVER (PARTITION BY source, lineage, message_name ORDER BY position) AS old FROM held
)
SELECT author, count(DISTINCT commit) AS commits, max(time) AS last FROM touched
WHERE author <> '' AND position > 0 AND blob IS DISTINCT FROM old
  AND time > (SELECT max(time) - INTERVAL 1 YEAR FROM revisions)
GROUP BY author ORDER BY commits DESC, last DESC, author
"""
_RECENT: Final = """
SELECT * FROM events WHERE time >= $1 AND breaks IS DISTINCT FROM 'none'
ORDER BY source, lineage, time, event, rule, message_name, path, message
"""


def _distinct(reader: Reader, sql: str) -> list[str]:
    return sorted(text for row in reader.duck.rows(sql) for text in row.values() if text)


def _is_meant(subject: str, name: str) -> bool:
    return subject.lower() in {name.lower(), *(name.removesuffix(suffix).lower() for suffix in SUFFIXES)}


def changes(reader: Reader, since: str | None = None) -> RecentDocument:
    """The events since a time in ISO 8601, a day being its beginning. Raises UsageError for what is none."""
    try:
        begin = moment_of(since, end=False) if since else datetime.now(UTC) - USUAL
    except ValueError:
        raise UsageError(f"--since takes a date (2026-01-31) or a time (2026-01-31T12:00), not {since}") from None
    reader.require(Spans, Revisions)
    return RecentDocument(1, begin.isoformat(), as_structs(HistoryEvent, reader.duck.rows(_RECENT, [begin])))


_ADOPTION = """
SELECT source, lineage, position, commit, time, release, coalesce(rpcs, 0) AS rpcs, coalesce(adopted, 0) AS adopted,
  coalesce(versions, 0) AS versions
FROM revisions LEFT JOIN (
  SELECT root, count(*) AS rpcs, sum(highest - lowest + 1)::BIGINT AS versions, count(*) FILTER (list_bool_or(
    list_transform(request_headers, lambda entry: entry.header >= $1 AND entry.lowest <= highest))) AS adopted
  FROM offers GROUP BY root
) USING (root) WHERE release IS NULL OR root IN (SELECT root FROM trees) ORDER BY source, lineage, position
"""
_HIGHEST = "SELECT max(list_max(list_transform(request_headers, lambda entry: entry.header))) AS highest FROM offers"


def rollout(reader: Reader, header: int = 3) -> AdoptionDocument:
    """For each revision of each line, how many RPCs have a version with this header or a later one.

    A release without definitions is left out. Raises UsageError for a header that no RPC has.
    """
    reader.require(Offers, Revisions)
    highest = reader.duck.rows(_HIGHEST)[0]["highest"]
    if highest is not None and header > highest:
        raise UsageError(f"no RPC in the lake has request header {header}: the highest is {highest}")
    return states(reader, header)


def states(reader: Reader, header: int = 3) -> AdoptionDocument:
    """The same for any header."""
    rows = reader.duck.rows(_ADOPTION, [header])
    return AdoptionDocument(1, header, tuple(as_structs(RevisionState, rows)))
