"""The JSON document of a diff; its fields are stable, and only ever added to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from kiplint.commands.diff.run import DiffResult
from kiplint.compat.judge import BREAKS, Judged
from kiplint.render.report import RuleInfo
from kiplint.text.show import encodable

Rules = Mapping[str, RuleInfo]
NO_RULES: Final[Rules] = {}


def diff_document(changes: Sequence[Judged], compared: int, rules: Rules = NO_RULES) -> dict[str, Any]:
    """What `kiplint diff --output-format json` writes; `rules` describes the rules of the changes."""
    counts = Counter(one.breaks for one in changes)
    unproven = sum(one.is_unproven for one in changes)
    return {
        "version": 1,
        "changes": [change_object(one, rules) for one in changes],
        "summary": {
            "messages": compared,
            "changes": len(changes),
            **{what: counts[what] for what in BREAKS},
            **({"unproven": unproven} if unproven else {}),
        },
    }


def document(result: DiffResult) -> dict[str, Any]:
    """The document of a result."""
    return diff_document(result.changes, result.messages, result.rules)


def rows(result: DiffResult) -> Iterator[dict[str, Any]]:
    """The changes, an object each."""
    return (change_object(one, result.rules) for one in result.changes)


def change_object(one: Judged, rules: Rules = NO_RULES) -> dict[str, Any]:
    """One change as a JSON object."""
    rule = rules.get(one.rule)
    related = {"url": rule.url} if rule and rule.url else {}
    related |= {"old_path": encodable(one.old_path)} if one.old_path else {}
    if one.old_span:
        related |= {"old_line": one.old_span.line, "old_column": one.old_span.column}  # type: ignore[dict-item]
    return {
        "rule": one.rule,
        "severity": one.severity,
        "breaks": one.breaks,
        "kind": one.kind,
        "message_name": one.message_name,
        "message_type": one.message_type,
        "versions": one.versions,
        "field": one.field,
        "path": encodable(one.path),
        "line": one.span.line,
        "column": one.span.column,
        "end_line": one.span.end_line,
        "end_column": one.span.end_column,
        "old": dict(one.old),
        "new": dict(one.new),
        "message": one.message,
        "proof": [{"reader": witness.reader, **msgspec.to_builtins(witness)} for witness in one.proof],
        **({"unproven": True} if one.is_unproven else {}),
        **related,
    }
