"""The report on a lake: its own document and tables, and the findings in the newest set of each line."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, TextIO

from kiplint.commands.pipeline.lake import write_markdown, write_text
from kiplint.engine.finding import Finding, Span
from kiplint.pipeline.answers.history import rollout
from kiplint.pipeline.answers.reader import Grid, Reader, Row, is_one_of
from kiplint.pipeline.answers.report import report
from kiplint.pipeline.tables import Blobs, Files, Findings, Offers, Sets, Trees
from kiplint.render.findings.json import FindingObject, finding_object
from kiplint.render.report import Report


class LakeReport(Report, frozen=True, kw_only=True):
    """The report on a lake: its own `document` and `grids`, and the findings of the newest set of each line."""

    document: Mapping[str, Any]
    grids: tuple[Grid, ...]

    command = "pipeline report"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.pipeline.report_result:write_report",
        "markdown": "kiplint.commands.pipeline.report_result:write_report_markdown",
        "html": "kiplint.commands.pipeline.report_page:write",
    }

    @property
    def items(self) -> Iterator[FindingObject]:
        """The findings in the newest set of each line."""
        return map(finding_object, self.findings)


def lake_report(reader: Reader, severity: str = "error") -> LakeReport:
    """The report on a lake. Raises UsageError where a stage is missing that it needs."""
    answer = report(reader, severity)
    findings, looked_at, sources = newest(reader)
    history = rollout(reader).document["sets"] if reader.count(Offers) else []
    return LakeReport(
        findings=findings,
        files=looked_at,
        sources=sources,
        document={**answer.document, "history": history},
        grids=tuple(answer.grids),
    )


def newest(reader: Reader) -> tuple[tuple[Finding, ...], int, dict[str, bytes]]:
    """What `check` says of the newest set of each line, how many files it has, and the bytes of those with findings.

    A path is the file's in its repository; with several lines, the line stands before it, as a revision does.
    """
    reader.require(Sets)
    last = reader.duck.rows("SELECT source, lineage, arg_max(root, position) AS root FROM sets GROUP BY ALL")
    lines = {(row["source"], row["lineage"]): row["root"] for row in last}
    trees = _by(reader.rows(Trees, None, is_one_of("root", lines.values())), "root")
    of_lines = [tree["tree"] for some in trees.values() for tree in some]
    files = _by(reader.rows(Files, None, is_one_of("tree", of_lines)), "tree")
    blobs = {file["blob"] for some in files.values() for file in some}
    findings_of = _by(reader.rows(Findings, None, is_one_of("blob", blobs)), "blob")
    texts = {row["blob"]: row["data"] for row in reader.rows(Blobs, ("blob", "data"), is_one_of("blob", findings_of))}
    findings: list[Finding] = []
    sources: dict[str, bytes] = {}
    looked_at = 0
    for line, root in sorted(lines.items()):
        before = f"{' '.join(filter(None, line))}:" if len(lines) > 1 else ""
        for tree in trees[root]:
            for file in files[tree["tree"]]:
                looked_at += 1
                path = before + "/".join(filter(None, (tree["directory"], file["name"])))
                mine = list(_of(file, tree["tree"], findings_of[file["blob"]], path))
                if mine:
                    findings += mine
                    sources[path] = texts.get(file["blob"]) or b""
    findings.sort(key=lambda finding: (finding.path, finding.span.line, finding.span.column, finding.rule))
    return tuple(findings), looked_at, sources


def _of(file: Row, tree: str, rows: list[Row], path: str) -> Iterator[Finding]:
    for row in rows:
        if row["name"] == file["name"] and row["tree"] in (None, tree):
            yield Finding(
                rule=row["rule"],
                severity=row["severity"],
                message=row["message"],
                path=path,
                span=Span(row["line"], row["column"], row["end_line"], row["end_column"]),
                pointer=row["pointer"],
                message_name=row["message_name"],
                source=row["rule_source"],
                identity="\0".join((row["rule"], row["message_name"], row["place"])),
            )


def _by(rows: list[Row], column: str) -> defaultdict[str, list[Row]]:
    groups: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row[column]].append(row)
    return groups


def write_report(result: LakeReport, out: TextIO, *, color: bool) -> None:
    """Write the report for a terminal."""
    write_text(result.grids, out, color=color)


def write_report_markdown(result: LakeReport, out: TextIO, *, color: bool) -> None:
    """Write the report as Markdown."""
    write_markdown(result.grids, out)
