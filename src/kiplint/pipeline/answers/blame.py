"""Blame: everything that ever happened to a message, or because of a rule, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kiplint.engine.errors import UsageError
from kiplint.engine.ruleset import matches
from kiplint.pipeline.answers.report import EARLY
from kiplint.pipeline.grid import Answer, Grid, plain, short, shown
from kiplint.pipeline.reader import Reader, Row, is_one_of
from kiplint.pipeline.tables.messages import Messages
from kiplint.pipeline.tables.sets import Sets
from kiplint.pipeline.tables.spans import FINDING, Spans
from kiplint.text.words import did_you_mean

SUFFIXES = ("Request", "Response", "Key", "Value")
COLUMNS = ("when", "commit", "release", "what", "rule", "message", "")


def blame(reader: Reader, wanted: str, rules: list[str]) -> Answer:
    """The events of a message (an RPC by the name without its suffix), or of a rule, a pack or a glob of them.

    `rules` are the ids of all rules there are. Raises UsageError for what is neither.
    """
    reader.require(Spans, Messages)
    names = _distinct(reader, "SELECT message_name FROM spans UNION SELECT message_name FROM messages")
    if any(matches(wanted, rule) for rule in rules):
        told = (rule for rule in _distinct(reader, "SELECT DISTINCT rule FROM spans") if matches(wanted, rule))
        chosen = reader.rows(Spans, where=is_one_of("rule", told))
    elif found := [name for name in names if _is_meant(wanted, name)]:
        chosen = reader.rows(Spans, where=is_one_of("message_name", found))
    else:
        hint = did_you_mean(wanted, names) or did_you_mean(wanted, rules)
        raise UsageError(f"no message and no rule is called {wanted}{hint}")
    reader.require(Sets)
    released = set(_distinct(reader, "SELECT DISTINCT source FROM sets WHERE release <> ''"))
    events = sorted((event for row in chosen for event in _events(row)), key=_order)
    grids = [
        Grid(" ".join(filter(None, line)), COLUMNS, [_told(one, released) for one in events if one["line"] == line])
        for line in sorted({one["line"] for one in events})
    ]
    document = {"version": 1, "of": wanted, "events": [_public(one) for one in events]}
    return Answer(document, grids or [Grid(wanted, (), [], "nothing was ever found, and nothing changed")])


def _distinct(reader: Reader, sql: str) -> list[str]:
    return sorted(text for row in reader.duck.rows(sql) for text in row.values() if text)


def _is_meant(wanted: str, name: str) -> bool:
    return wanted.lower() in {name.lower(), *(name.removesuffix(suffix).lower() for suffix in SUFFIXES)}


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


def _told(event: dict[str, Any], released: set[str]) -> tuple[str, ...]:
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
