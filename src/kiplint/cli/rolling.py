"""What `kiplint rollout` does, apart from reading its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

import msgspec

from kiplint.cli.checking import CheckOptions, keeper, load_config
from kiplint.cli.output import open_outputs, write_report
from kiplint.cli.process import CLEAN, FINDINGS, USAGE
from kiplint.cli.trees import open_tree, warn_of_broken
from kiplint.compat.rollout import Row, rollout
from kiplint.engine.finding import Finding, Span
from kiplint.report.model import Report
from kiplint.report.rollout_report import rollout_document, row_object, write_rollout
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator


class RolloutOptions(msgspec.Struct):
    """The arguments of a rollout report, as they were given."""

    base: str | None
    head: str
    header: int
    repository: str | None
    outputs: list[str]
    color: str
    quiet: bool


def run_rollout(options: RolloutOptions) -> int:
    """Report the rollout, and say as an exit code whether it is complete."""
    outputs = open_outputs(options.outputs, options.color)
    keep = keeper(*load_config(CheckOptions(sets=[options.head])))
    head = open_tree(options.head, options.repository, keep)
    base = open_tree(options.base, options.repository, keep) if options.base else None
    rows = rollout(head.main, base.main if base else None, options.header)
    write_report(_report(rows, head.sources, options.header), outputs, quiet=options.quiet, statistics=False)
    if warn_of_broken(head, *([base] if base else [])):
        return USAGE
    return FINDINGS if any(row.status in ("missing", "wrong") for row in rows) else CLEAN


def _report(rows: Sequence[Row], sources: Mapping[str, bytes], header: int) -> Report:
    def own(form: str, out: TextIO, *, color: bool) -> None:
        write_rollout(rows, header, form, out, color=color)

    return Report(
        findings=tuple(_finding(row, sources) for row in rows if row.rule),
        files=len(sources),
        messages=len(rows),
        sources=sources,
        document=rollout_document(rows, header),
        rows=tuple(map(row_object, rows)),
        own=own,
    )


def _finding(row: Row, sources: Mapping[str, bytes]) -> Finding:
    locator = Locator(decode_text(sources.get(row.file, b"")))
    pointer = f"/{row.wanted}" if locator.node(f"/{row.wanted}") is not locator.root else ""
    return Finding(
        rule=row.rule,
        severity="error",
        message=row.message,
        path=row.file,
        span=Span(*locator.span(pointer)),
        pointer=pointer,
        message_name=row.message_name,
        source="KIP-1313",
        identity="\0".join((row.rule, row.message_name, row.name)),
    )
