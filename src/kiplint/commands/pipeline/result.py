"""The results of questions to a lake: their documents, and the report with the findings of each line's newest set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

import msgspec
from msgspec.structs import replace

from kiplint.commands.diff.result import DiffDocument
from kiplint.commands.diff.run import DiffResult, compare
from kiplint.engine.config import configure
from kiplint.engine.finding import Finding
from kiplint.pipeline.answers.documents import (
    AdoptionDocument,
    BlameDocument,
    CellsDocument,
    ForksDocument,
    IntegrityDocument,
    PairsDocument,
    QueryDocument,
    RecentDocument,
    ReleasePair,
    ReportDocument,
)
from kiplint.render.report import Report, RunResult, Verdict
from kiplint.text.words import plural

if TYPE_CHECKING:
    from kiplint.pipeline.answers.reader import Reader

DOCUMENTS = {
    "pipeline-blame": BlameDocument,
    "pipeline-changes": (RecentDocument, DiffDocument),
    "pipeline-forks": ForksDocument,
    "pipeline-matrix": (PairsDocument, CellsDocument),
    "pipeline-query": QueryDocument,
    "pipeline-report": ReportDocument,
    "pipeline-rollout": AdoptionDocument,
    "pipeline-verify": IntegrityDocument,
}
TEXT = {
    "text": "kiplint.commands.pipeline.text:write",
    "markdown": "kiplint.commands.pipeline.text:write_markdown",
}


class LakeAnswer(RunResult, frozen=True, kw_only=True):
    """An answer as its document."""

    document: msgspec.Struct

    renderers: ClassVar[Mapping[str, str]] = TEXT


class LakeReport(Report, frozen=True, kw_only=True):
    """The report on a lake: findings over time down to a severity, and in the newest set of each line."""

    document: ReportDocument
    severity: str = "error"
    pairs: tuple[ReleasePair, ...] = ()
    """The pairs of releases, as `pipeline matrix` tells them."""

    command = "pipeline report"
    renderers: ClassVar[Mapping[str, str]] = {**TEXT, "html": "kiplint.commands.pipeline.page:write"}

    @property
    def verdict(self) -> Verdict:
        """`1 error is open, and 3 breaks have been released.`, the first of them, and what names their commits."""
        errors = [row for row in self.document.findings if row.open and row.severity == "error"]
        breaks = [row for row in self.document.breaks if row.first_release or row.before_first_release]
        number = plural(len(errors), "error") if errors else "No errors"
        released = plural(len(breaks), "break") if breaks else "no breaks"
        verbs = "is" if len(errors) == 1 else "are", "has" if len(breaks) == 1 else "have"
        sentence = f"{number} {verbs[0]} open, and {released} {verbs[1]} been released."
        names = ((row.message_name or row.path, row.message) for row in (*errors, *breaks))
        rows = [message if name in message else f"{name}: {message}" for name, message in names]
        return Verdict.of(sentence, rows, "`kiplint pipeline blame LAKE MESSAGE` names the commits." if rows else "")

    @property
    def items(self) -> tuple[Finding, ...]:
        """The findings in the newest set of each line."""
        return self.findings


def lake_report(reader: Reader, severity: str = "error") -> LakeReport:
    """The report on a lake. Raises UsageError where a stage is missing that it needs."""
    from kiplint.pipeline.answers.matrix import matrix
    from kiplint.pipeline.answers.report import newest, report

    document = report(reader)
    findings, files, sources = newest(reader)
    pairs = matrix(reader).pairs if document.matrix else ()
    return LakeReport(
        findings=findings, files=files, sources=sources, document=document, severity=severity, pairs=pairs
    )


def lake_diff(reader: Reader, span: str) -> DiffResult:
    """The changes between the two revisions of `A..B`, by the rules of the lake's last run. Raises UsageError."""
    from kiplint.pipeline.answers.points import points, releases_of, tree_at

    revisions = points(reader, span)
    trees = [tree_at(reader, revision) for revision in revisions]
    configuration = configure(config=reader.snapshot.request.get("config") or {})
    releases = releases_of(reader, revisions, configuration.config.released)
    result = compare([tree.name for tree in trees], trees, configuration.rules(), releases=releases)
    return replace(result, status="ok", notes=() if result.changes else (result.closing,))
