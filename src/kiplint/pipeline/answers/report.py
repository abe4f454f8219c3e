"""The report on a lake: what is in it, what was wrong when, what broke, who interoperates, where forks collide."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from kiplint.compat.negotiation.result import TROUBLE
from kiplint.engine.finding import SEVERITIES
from kiplint.pipeline.answers.matrix import between_nodes
from kiplint.pipeline.answers.reader import Answer, Grid, Reader, Row, equals, is_one_of, plain, ranged, short, shown
from kiplint.pipeline.tables import (
    CHANGE,
    COLLISION,
    FINDING,
    Blobs,
    Changes,
    Drift,
    Files,
    Findings,
    Messages,
    Problems,
    Sources,
    Spans,
    Trees,
)
from kiplint.sources.history import TAGS

GRAVE = ("wire", "storage")
COUNTED = (Blobs, Trees, Files, Messages, Findings, Changes)
EARLY = "before the first release"
UNRELEASED = "never: between no two releases, as the versions were not out yet, or it was taken back"
NAMED = 3
"""How many messages a line of the report names before it only counts."""


def report(reader: Reader, severity: str = "error") -> Answer:
    """The report: findings in time down to `severity`, and the number of the others. Raises UsageError."""
    sources = sorted(map(_nearby, reader.rows(Sources)), key=_line)
    spans = sorted(reader.rows(Spans, where=equals(what=FINDING) | is_one_of("breaks", GRAVE)), key=_in_time)
    findings = [row for row in spans if row["what"] == FINDING]
    grave = [row for row in spans if row["what"] == CHANGE and row["breaks"] in GRAVE]
    collisions = sorted(reader.rows(Drift, where=equals(status=COLLISION)) if reader.count(Drift) else [], key=_drifted)
    drift = _drift(reader)
    problems = sorted(reader.rows(Problems) if reader.count(Problems) else [], key=_text)
    statuses = _matrix(reader)
    counts = {kind.NAME: reader.count(kind) for kind in COUNTED}
    document = {
        "version": 1,
        "sources": list(map(plain, sources)),
        "counts": counts,
        "findings": list(map(plain, findings)),
        "breaks": list(map(plain, grave)),
        "matrix": dict(statuses),
        "drift": [_named(key, count) for key, count in sorted(drift.items())],
        "collisions": list(map(plain, collisions)),
        "problems": problems,
    }
    released = {row["source"] for row in sources if _is_tags(row)}
    branched = {row["source"] for row in sources if not _is_tags(row)}

    def once(row: Row) -> bool:
        """Whether no other line has the row too: releases repeat the rows of their branch."""
        return not (_is_tags(row) and row["source"] in branched)

    severities = SEVERITIES[: SEVERITIES.index(severity) + 1]
    grids = [
        _sources(sources, counts),
        _open(findings),
        *_in_history(list(filter(once, findings)), severities, released),
        *_breaking(list(filter(once, grave)), released),
        _interoperation(statuses),
        *_drifting(drift, collisions),
        *([_problems(problems)] if problems else []),
    ]
    return Answer(document, grids)


def _in_time(row: Row) -> tuple[Any, ...]:
    begun = row["introduced_time"]
    return (row["source"], row["lineage"], begun.timestamp() if begun else 0, row["rule"], row["message_name"])


def _nearby(source: Row) -> Row:
    """The source with its location relative to the working directory, when below it."""
    here = os.path.relpath(source["location"])
    return source if here.startswith(os.pardir) else {**source, "location": here}


def _line(row: Row) -> tuple[str, str]:
    return row["source"], row["lineage"]


def _drifted(row: Row) -> tuple[str, str, str, str, int, int]:
    return *_line(row), row["message_name"], row["type"], row["lowest"], row["highest"]


def _text(row: Row) -> tuple[str, ...]:
    return tuple(map(str, row.values()))


def _titled(line: tuple[str, str]) -> str:
    return " ".join(filter(None, line))


def _is_tags(row: Row) -> bool:
    return str(row["lineage"]).partition("=")[0] == TAGS


def _sources(sources: list[Row], counts: dict[str, int]) -> Grid:
    rows = [(row["source"], row["lineage"], row["kind"], shown(row["sets"]), _place(row)) for row in sources]
    numbers = ", ".join(f"{count:,} {name}" for name, count in counts.items())
    return Grid("Sources", ("source", "line", "kind", "sets", "location"), rows, f"Distinct: {numbers}")


def _place(source: Row) -> str:
    lost = f" (as of {source['as_of']:%Y-%m-%d %H:%M}: it could not be read since)" if source["as_of"] else ""
    return f"{source['location']}{lost}"


def _open(findings: list[Row]) -> Grid:
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row in findings:
        line = counts.setdefault((row["source"], row["lineage"]), Counter())
        line[row["severity"]] += row["open"]
        line["fixed"] += not row["open"]
    rows = [
        (*line, *(shown(numbers[name]) for name in (*SEVERITIES, "fixed"))) for line, numbers in sorted(counts.items())
    ]
    return Grid("Findings in the newest set of each line", ("source", "line", *SEVERITIES, "fixed before"), rows)


def _in_history(findings: list[Row], severities: tuple[str, ...], released: set[str]) -> Iterator[Grid]:
    chosen = [row for row in findings if row["severity"] in severities]
    columns = ("introduced", "commit", "fixed", "commit", "first release", "fixed in", "rule", "messages")
    for line, rows in groupby(chosen, key=_line):
        events = [_event(row, names, released) for row, names in _together(rows)]
        yield Grid(f"{' and '.join(severities).capitalize()} findings in time: {_titled(line)}", columns, events)


def _event(row: Row, names: str, released: set[str]) -> tuple[str, ...]:
    return (
        shown(row["introduced_time"]),
        short(row["introduced_commit"]),
        "open" if row["open"] else shown(row["fixed_time"]),
        short(row["fixed_commit"]),
        _first_release(row, released),
        row["fixed_release"] or "",
        row["rule"],
        names,
    )


def _first_release(row: Row, released: set[str]) -> str:
    if not row["first_release"] and row["before_first_release"]:
        return EARLY
    return row["first_release"] or ("never" if row["source"] in released else "")


def _together(rows: Iterable[Row]) -> Iterator[tuple[Row, str]]:
    """The findings of a rule from one revision to another as a single row, with the messages that have them."""

    def ends(row: Row) -> tuple[Any, ...]:
        what = row["introduced_position"], row["introduced_commit"], row["rule"], row["breaks"] or ""
        return (
            *what,
            row["fixed_commit"] or "",
            row["first_release"] or "",
            row["fixed_release"] or "",
            row["before_first_release"],
        )

    for _, some in groupby(sorted(rows, key=ends), key=ends):
        group = list(some)
        yield group[0], _names(row["message_name"] or row["path"] for row in group)


def _names(names: Iterable[str]) -> str:
    known = sorted(set(names))
    rest = f" and {len(known) - NAMED} more" if len(known) > NAMED + 1 else ""
    return ", ".join(known[: NAMED if rest else NAMED + 1]) + rest


def _breaking(grave: list[Row], released: set[str]) -> Iterator[Grid]:
    columns = ("when", "commit", "first release", "breaks", "rule", "messages")
    for line, spans in groupby(grave, key=_line):
        rows = [
            (
                shown(row["introduced_time"]),
                short(row["introduced_commit"]),
                _first_release(row, released),
                row["breaks"],
                row["rule"],
                names,
            )
            for row, names in _together(spans)
        ]
        note = UNRELEASED if any(release == "never" for _, _, release, *_ in rows) else ""
        yield Grid(f"What broke bytes or records: {_titled(line)}", columns, rows, note)


def _matrix(reader: Reader) -> Counter[str]:
    """The cells of the matrix by status, without the RPCs that brokers send each other."""
    of_clients = "NOT list_contains($1, concat(api_key, ' ', name))"
    sql = f"SELECT status, count(*) AS cells FROM matrix WHERE {of_clients} GROUP BY 1 ORDER BY 2 DESC, 1"
    return Counter({row["status"]: row["cells"] for row in reader.duck.rows(sql, [between_nodes(reader)])})


def _interoperation(statuses: Counter[str]) -> Grid:
    rows = [(status, shown(count), "trouble" if status in TROUBLE else "") for status, count in statuses.most_common()]
    note = "`kiplint pipeline matrix LAKE` says which releases." if rows else "No releases: name a source with #tags."
    return Grid("RPCs between all releases, as client and broker", ("status", "pairs and RPCs", ""), rows, note)


def _drift(reader: Reader) -> Counter[tuple[str, str, str]]:
    rows = reader.duck.rows("SELECT source, lineage, status, count(*) AS layouts FROM drift GROUP BY ALL")
    return Counter({(row["source"], row["lineage"], row["status"]): row["layouts"] for row in rows})


def _drifting(drift: Counter[tuple[str, str, str]], collisions: list[Row]) -> Iterator[Grid]:
    if drift:
        rows = [(source, lineage, status, shown(count)) for (source, lineage, status), count in sorted(drift.items())]
        yield Grid("Forks beside upstream", ("source", "line", "status", "layouts"), rows)
    if collisions:
        cells = sorted(
            (
                row["source"],
                row["message_name"],
                ranged(row["lowest"], row["highest"]),
                row["path"],
                row["difference"] or "",
                row["upstream_release"] or short(row["upstream_commit"]),
            )
            for row in collisions
        )
        yield Grid(
            "Collisions: one version number, two layouts",
            ("fork", "message", "versions", "file", "what", "upstream's own is in"),
            cells,
        )


def _problems(problems: list[Row]) -> Grid:
    rows = [(row["stage"], row["subject"], row["problem"]) for row in problems]
    return Grid("Problems", ("stage", "at", "what"), rows)


def _named(key: tuple[str, str, str], count: int) -> dict[str, Any]:
    source, lineage, status = key
    return {"source": source, "lineage": lineage, "status": status, "layouts": count}
