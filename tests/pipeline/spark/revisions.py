"""What `check` and `diff` say of revisions, in the words of the lake's tables."""

from __future__ import annotations

from typing import Any

from kiplint.compat.tree import load
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, check_set
from kiplint.sources.open import open_sets
from tools import changes_between

FINDING = [
    "path",
    "rule",
    "severity",
    "message",
    "line",
    "column",
    "end_line",
    "end_column",
    "pointer",
    "message_name",
    "rule_source",
    "fingerprint",
    "instead",
]
CHANGE = [
    "rule",
    "severity",
    "breaks",
    "kind",
    "message_name",
    "message_type",
    "versions",
    "field",
    "path",
    "line",
    "column",
    "message",
]
Row = tuple[Any, ...]


def findings_of(commit: str, repository: str, rules: RuleSet) -> list[Row]:
    """The findings of `kiplint check COMMIT:`, with paths from the top of the revision."""
    rows: list[Row] = []
    for open_set in open_sets([f"{commit}:"], lambda path: True, repository=repository):
        for finding in check_set((Input(file.path, file.data) for file in open_set.files), rules).findings:
            span, path = finding.span, finding.path.partition(":")[2]
            where = (span.line, span.column, span.end_line, span.end_column, finding.pointer)
            what = (finding.rule, finding.severity, finding.message)
            rows.append(
                (path, *what, *where, finding.message_name, finding.source, finding.fingerprint, finding.instead)
            )
    return sorted(rows)


def changes_of(old: str, new: str, repository: str, rules: RuleSet) -> list[Row]:
    """The changes of `kiplint diff OLD: NEW:`, with paths from the top of the revisions."""
    before, after = load(f"{old}:", repository), load(f"{new}:", repository)
    changes = changes_between(rules, before, after)
    return sorted(
        (
            *(
                change.rule,
                change.severity,
                change.breaks,
                change.kind,
                change.message_name,
                change.message_type,
                change.versions,
            ),
            *(change.field, change.path.partition(":")[2], change.span.line, change.span.column, change.message),
        )
        for change in changes
    )


def rows_of(table: list[dict[str, Any]], columns: list[str]) -> list[Row]:
    """Rows of a table as tuples, in the order of their values."""
    return sorted(tuple(row[name] for name in columns) for row in table)
