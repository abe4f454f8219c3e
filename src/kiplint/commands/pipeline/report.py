"""`kiplint pipeline report`."""

import sys
from typing import Annotated, Literal

import typer

from kiplint.cli.options import LakeArgument
from kiplint.commands.pipeline.matrix import in_trouble
from kiplint.commands.pipeline.page import write_report
from kiplint.commands.pipeline.text import open_lake, present

QUERIES = {
    "sources": """SELECT s.source, s.lineage, s.kind, count(r.source) AS revisions, s.problem
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
        AS release, breaks, rule, string_agg(DISTINCT message_name, ', ' ORDER BY message_name) AS messages FROM breaks
        GROUP BY ALL ORDER BY source, lineage, time, rule, messages""",
    "matrix": "SELECT source, status, count(*) AS cells FROM release_matrix GROUP BY ALL ORDER BY source, cells DESC",
    "forks": "SELECT * EXCLUDE (commit, base_commit) FROM forks ORDER BY merge_breaks DESC, source",
    "problems": "SELECT * FROM problems ORDER BY ALL",
    "history": """SELECT r.source, r.lineage, r.position, r.time, r.release, any_value(o.rpcs) AS rpcs,
        any_value(o.versions) AS versions, any_value(o.adopted) AS adopted,
        count(*) FILTER (s.severity = 'error') AS errors, count(*) FILTER (s.severity = 'warning') AS warnings
        FROM revisions r LEFT JOIN rollout o USING (source, lineage, position) LEFT JOIN spans s
        ON (s.source, s.lineage, s.what) = (r.source, r.lineage, 'finding') AND s.introduced_position <= r.position
        AND (s.fixed_position IS NULL OR s.fixed_position > r.position) GROUP BY ALL ORDER BY ALL""",
}
TITLES = {
    "sources": "Sources",
    "findings": "Findings in the newest revision of each line",
    "errors": "Errors in time",
    "breaks": "What broke bytes or records",
    "matrix": "RPCs between all releases, as client and broker",
    "forks": "Forks beside upstream",
    "problems": "Problems",
}
"""The titles of the tables, in their order."""
EPILOG = """\b
Examples:
  kiplint pipeline report lake
  kiplint pipeline report lake --output-format html > report.html"""


def command(
    lake: LakeArgument,
    output_format: Annotated[Literal["text", "json", "html"], typer.Option(help="How to write the report.")] = "text",
) -> int:
    """Show what a lake holds: sources, findings in time, what broke, who interoperates, how far forks are.

    The page also has plots over time, and each release as client and broker.
    """
    tables = open_lake(lake)
    answers = {name: tables.rows(sql) for name, sql in QUERIES.items()}
    if output_format == "html":
        write_report(sys.stdout, TITLES, answers, in_trouble(tables))
    return present(output_format, answers, {name: title for name, title in TITLES.items() if answers[name].values})
