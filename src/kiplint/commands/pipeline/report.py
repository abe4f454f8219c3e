"""`kiplint pipeline report`, as text, as JSON, and as a page with a plot of each line of history."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO

import typer

from kiplint.cli.options import LakeArgument
from kiplint.cli.process import CLEAN
from kiplint.commands.pipeline.text import cell, open_lake, present
from kiplint.render.page import Plot, PlotLine, Row, Section, Table, write_page
from kiplint.render.report import Verdict
from kiplint.text.words import plural

if TYPE_CHECKING:
    from kiplint.pipeline.answers import Rows

QUERIES = {
    "sources": """SELECT s.source, s.lineage, count(r.source) AS revisions, s.problem
        FROM sources s LEFT JOIN revisions r USING (source, lineage) GROUP BY ALL ORDER BY ALL""",
    "findings": """SELECT source, lineage, count(*) FILTER (open AND severity = 'error') AS errors,
        count(*) FILTER (open AND severity = 'warning') AS warnings,
        count(*) FILTER (open AND severity = 'info') AS infos, count(*) FILTER (NOT open) AS fixed
        FROM spans WHERE what = 'finding' GROUP BY ALL ORDER BY ALL""",
    "errors": """SELECT source, lineage, rule, introduced_time, introduced_commit, fixed_time, first_release,
        fixed_release, string_agg(DISTINCT message_name, ', ' ORDER BY message_name) AS messages
        FROM spans WHERE what = 'finding' AND severity = 'error' GROUP BY ALL
        ORDER BY source, lineage, introduced_time, rule, messages""",
    "breaks": """SELECT source, lineage, time, commit, "by", if(before_first_release, 'before the first', release)
        AS release, breaks, rule, string_agg(DISTINCT message_name, ', ' ORDER BY message_name) AS messages
        FROM events WHERE event = 'changed' AND breaks IN ('wire', 'storage') AND (author IS NOT NULL OR
        source NOT IN (SELECT source FROM revisions WHERE release IS NULL))  -- else releases repeat those of branches
        GROUP BY ALL ORDER BY source, lineage, time, rule, messages""",
    "forks": "SELECT * EXCLUDE (commit, base_commit) FROM forks ORDER BY merge_breaks DESC, source",
    "problems": "SELECT * FROM problems ORDER BY ALL",
    "history": """SELECT r.source, r.lineage, r.time, r.release, count(*) FILTER (s.severity = 'error') AS errors,
        count(*) FILTER (s.severity = 'warning') AS warnings FROM revisions r LEFT JOIN spans s
        ON (s.source, s.lineage, s.what) = (r.source, r.lineage, 'finding') AND s.introduced_position <= r.position
        AND (s.fixed_position IS NULL OR s.fixed_position > r.position)
        GROUP BY r.source, r.lineage, r.position, r.time, r.release ORDER BY r.source, r.lineage, r.time, r.position""",
}
TITLES = {
    "sources": "Sources",
    "findings": "Findings in the newest revision of each line",
    "errors": "Errors over time",
    "breaks": "Changes that broke bytes or records",
    "forks": "Forks compared with upstream",
    "problems": "Problems",
}
"""The titles of the tables, in their order."""
WIDTH, TOP, BOTTOM = 600, 10, 110
"""The width of a plot, and the heights of its greatest value and of 0, in its own units."""
LOOK_BY_COLUMN = {"errors": "error", "warnings": "warning"}
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
        write_report(sys.stdout, answers)
        return CLEAN
    return present(output_format, answers, {name: title for name, title in TITLES.items() if answers[name].values})


def write_report(out: TextIO, answers: Mapping[str, Rows]) -> None:
    """Write the page of a report, whose `answers` are those to `QUERIES` by their names."""
    tables = [
        Table(title, answers[name].columns, [Row([*map(cell, row)], values={}) for row in answers[name].values])
        for name, title in TITLES.items()
        if answers[name].values
    ]
    plots = list(_plots(answers["history"].records))
    errors = sum(row["errors"] for row in answers["findings"].records)
    breaks = sum(row["release"] is not None for row in answers["breaks"].records)
    sources = dict.fromkeys(row["source"] for row in answers["sources"].records)
    sentence = (
        f"{plural(errors, 'open error')}, and {plural(breaks, 'commit')} with breaking changes that a release has."
    )
    write_page(
        out,
        command="pipeline report",
        title=f"History of {', '.join(sources)}",
        verdict=Verdict.of(sentence, (), "`kiplint pipeline blame LAKE MESSAGE` names the commits."),
        sections=[Section("over-time", "Over time", plots), Section("report", "Report", tables, ())],
    )


def _plots(history: Sequence[Mapping[str, Any]]) -> Iterator[Plot]:
    """A plot for each line of history with its open errors and warnings, from records of its revisions over time."""
    revisions_by_line: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for record in history:
        revisions_by_line[f"{record['source']} {record['lineage']}"].append(record)
    for line, revisions in revisions_by_line.items():
        first, last = revisions[0]["time"], revisions[-1]["time"]
        scale = WIDTH / ((last - first).total_seconds() or 1)  # a line of one revision has no duration
        xs = [round((revision["time"] - first).total_seconds() * scale, 1) for revision in revisions]
        most = max(1, *(revision[column] for revision in revisions for column in LOOK_BY_COLUMN))
        plot_lines = []
        for column, look in LOOK_BY_COLUMN.items():
            ys = [BOTTOM - revision[column] * (BOTTOM - TOP) / most for revision in revisions]
            points = " ".join(f"{x:g},{y:.1f}" for x, y in zip(xs, ys, strict=True))
            plot_lines.append(PlotLine(f"{column}: {revisions[-1][column]:,}", look, points))
        releases = [(x, rev["release"]) for x, rev in zip(xs, revisions, strict=True) if rev["release"]]
        yield Plot(f"Open findings of {line}", plot_lines, most, cell(first), cell(last), releases)
