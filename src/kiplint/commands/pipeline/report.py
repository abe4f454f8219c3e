"""`kiplint pipeline report`, as text, as JSON, and as a page with pictures."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from kiplint.cli.options import LakeArgument
from kiplint.cli.process import CLEAN
from kiplint.commands.pipeline.pictures import draw_drift, draw_findings, draw_lifetimes
from kiplint.commands.pipeline.text import cell, need, open_lake, present
from kiplint.render.page import Cell, Picture, Row, Section, Table, write_page
from kiplint.render.report import Verdict
from kiplint.text.words import first_of, plural

if TYPE_CHECKING:
    from kiplint.pipeline.answers import Rows

QUERIES = {
    "sources": """SELECT s.source, s.lineage, count(r.source) AS revisions, s.problem
        FROM sources s LEFT JOIN revisions r USING (source, lineage) GROUP BY ALL ORDER BY ALL""",
    "findings": """SELECT source, lineage, count(*) FILTER (open AND severity = 'error') AS errors,
        count(*) FILTER (open AND severity = 'warning') AS warnings,
        count(*) FILTER (open AND severity = 'info') AS infos, count(*) FILTER (NOT open) AS fixed
        FROM spans WHERE what = 'finding' GROUP BY ALL ORDER BY ALL""",
    "errors": """SELECT source, lineage, rule, introduced_time, introduced_commit, introduced_by, fixed_time, fixed_by,
        first_release, fixed_release, string_agg(DISTINCT message_name, ', ' ORDER BY message_name) AS messages
        FROM lifetimes WHERE severity = 'error' GROUP BY ALL
        ORDER BY source, lineage, min(introduced_position), rule, messages""",
    "rules": "SELECT * FROM rule_yield WHERE severity <> 'info' ORDER BY severity, findings DESC, rule",
    "breaks": """SELECT source, lineage, time, commit, "by", if(before_first_release, 'before the first', release)
        AS release, breaks, rule, string_agg(DISTINCT message_name, ', ' ORDER BY message_name) AS messages
        FROM events WHERE event = 'changed' AND breaks IN ('wire', 'storage') AND (author IS NOT NULL OR
        source NOT IN (SELECT source FROM revisions WHERE release IS NULL))  -- else releases repeat those of branches
        GROUP BY ALL ORDER BY source, lineage, min(position), rule, messages""",
    "forks": "SELECT * EXCLUDE (commit, base_commit) FROM forks ORDER BY merge_breaks DESC, source",
    "problems": "SELECT * FROM problems ORDER BY ALL",
    "history": """SELECT r.source, r.lineage, r.time, r.release, count(*) FILTER (s.severity = 'error') AS errors,
        count(*) FILTER (s.severity = 'warning') AS warnings FROM revisions r LEFT JOIN spans s
        ON (s.source, s.lineage, s.what) = (r.source, r.lineage, 'finding') AND s.introduced_position <= r.position
        AND (s.fixed_position IS NULL OR s.fixed_position > r.position)
        GROUP BY r.source, r.lineage, r.position, r.time, r.release ORDER BY r.source, r.lineage, r.position""",
}
PAGE_QUERIES = {
    "bars": """SELECT rule, introduced_time, fixed_time, introduced_time + to_days(days) AS end_time
        FROM lifetimes WHERE severity = 'error' ORDER BY introduced_time""",
    "drift": """SELECT concat_ws(' ', source, nullif(lineage, source)) AS fork,
        count(*) FILTER (status = 'same') AS same, count(*) FILTER (status = 'only-in-fork') AS only_in_fork,
        count(*) FILTER (status = 'collision') AS collision FROM drift GROUP BY ALL ORDER BY ALL""",
    "matrix": """SELECT source, client, broker, count(DISTINCT name) FILTER (in_trouble) AS troubles FROM release_matrix
        GROUP BY source, client, client_position, broker, broker_position
        ORDER BY source, client_position, broker_position""",
}
TITLES = {
    "sources": "Sources",
    "findings": "Findings in the newest revision of each line",
    "errors": "Errors over time",
    "rules": "Rules and what they found",
    "breaks": "Changes that broke bytes or records",
    "forks": "Forks compared with upstream",
    "problems": "Problems",
}
"""The titles of the tables, in their order."""
NEWEST = 40
"""How many releases of a source the page shows as clients and brokers."""
EPILOG = """\b
Examples:
  kiplint pipeline report lake
  kiplint pipeline report lake --output-format html > report.html"""


def command(
    lake: LakeArgument,
    output_format: Annotated[Literal["text", "json", "html"], typer.Option(help="The format of the report.")] = "text",
) -> int:
    """Summarize a lake: sources, findings over time, breaking changes, and forks.

    The HTML page also shows the open findings of each line of history over time.
    """
    lake_answers = open_lake(lake)
    answers = {name: lake_answers.rows(sql) for name, sql in QUERIES.items()}
    if output_format == "html":
        need("vl_convert")
        write_report(sys.stdout, answers | {name: lake_answers.rows(sql) for name, sql in PAGE_QUERIES.items()})
        return CLEAN
    return present(output_format, answers, {name: title for name, title in TITLES.items() if answers[name].values})


def write_report(out: TextIO, answers: Mapping[str, Rows]) -> None:
    """Write the page of a report, whose `answers` are those to `QUERIES` and `PAGE_QUERIES` by their names."""
    tables = [
        Table(title, answers[name].columns, [Row([*map(cell, row)], values={}) for row in answers[name].values])
        for name, title in TITLES.items()
        if answers[name].values
    ]
    heat_maps = list(_heat_maps(answers["matrix"].records))
    errors = sum(row["errors"] for row in answers["findings"].records)
    breaks = sum(row["release"] is not None for row in answers["breaks"].records)
    sources = dict.fromkeys(row["source"] for row in answers["sources"].records)
    sentence = (
        f"{plural(errors, 'open error')}, and {plural(breaks, 'commit')} with breaking changes that a release has."
    )
    write_page(
        out,
        command="pipeline report",
        title=f"History of {first_of([*sources], 4)}",
        verdict=Verdict.of(sentence, (), "`kiplint pipeline blame LAKE MESSAGE` names the commits."),
        sections=[
            Section("over-time", "Over time", list(_pictures(answers))),
            Section("report", "Report", tables, ()),
            *([Section("matrix", "Clients and brokers", heat_maps)] if heat_maps else []),
        ],
    )


def _pictures(answers: Mapping[str, Rows]) -> Iterator[Picture]:
    revisions_by_line: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for record in answers["history"].records:
        revisions_by_line[f"{record['source']} {record['lineage']}"].append(record)
    yield from (draw_findings(line, revisions) for line, revisions in revisions_by_line.items() if len(revisions) > 1)
    if answers["bars"].values:
        yield draw_lifetimes(answers["bars"].records)
    if answers["drift"].values:
        yield draw_drift(answers["drift"].records)


def _heat_maps(pairs: Sequence[Mapping[str, Any]]) -> Iterator[Table]:
    """A table for each source: how many RPCs each client cannot use with each broker, of the newest releases."""
    troubles: dict[str, dict[str, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    for pair in pairs:
        troubles[pair["source"]][pair["client"]][pair["broker"]] = pair["troubles"]
    for source, brokers_by_client in troubles.items():
        releases = [*brokers_by_client][-NEWEST:]
        rows = [
            Row([client, *(_heat(brokers_by_client[client].get(broker, 0)) for broker in releases)])
            for client in releases
        ]
        title = f"{source}: how many RPCs a client (row) has in common with a broker (column) and cannot use"
        yield Table(title, ["client", *releases], rows, "heat", has_heads=True)


def _heat(count: int) -> str | Cell:
    """A cell that is the darker the more RPCs there are: from 1, from 4 and from 16."""
    return Cell(f"{count}", f"heat{min(3, (count.bit_length() + 1) // 2)}") if count else ""
