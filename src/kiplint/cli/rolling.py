"""What `kiplint rollout` does, apart from reading its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TextIO

import msgspec
from msgspec.structs import replace

from kiplint.cli.checking import CheckOptions, keeper, load_config, rule_infos
from kiplint.cli.output import Output, attended, finished, open_outputs, write_report
from kiplint.cli.process import CLEAN, FINDINGS, USAGE
from kiplint.cli.trees import open_tree, warn_of_broken
from kiplint.compat.rollout import Row, rollout
from kiplint.compat.standing import rollout_rules
from kiplint.engine.finding import Finding, Span
from kiplint.engine.ruleset import load_rules, make_ruleset
from kiplint.report.findings.report import Report
from kiplint.report.rollout.text import rollout_document, row_object, write_rollout
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator
from kiplint.text.show import printable


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
    return attended("rollout", outputs, lambda: _roll(options, outputs))


def _roll(options: RolloutOptions, outputs: list[Output]) -> int:
    config, directory = load_config(CheckOptions(sets=[options.head]))
    keep = keeper(config, directory)
    head = open_tree(options.head, options.repository, keep)
    base = open_tree(options.base, options.repository, keep) if options.base else None
    rules = rollout_rules(options.header, config, make_ruleset(config, load_rules(config, directory)).known)
    rows = [_shown(row) for row in rollout(head.main, base.main if base else None, options.header, rules)]
    code = FINDINGS if any(row.status in ("missing", "wrong") for row in rows) else CLEAN
    code = USAGE if head.broken or (base and base.broken) else code
    report = _report(rows, head.sources, options.header)
    if report.findings:
        report = replace(report, rules=rule_infos(load_rules(config, directory), report.findings, ""))
    report = finished(report, "rollout", code, [options.head, *([options.base] if options.base else [])])
    write_report(report, outputs, quiet=options.quiet, statistics=False)
    warn_of_broken(head, *([base] if base else []))
    return code


def _shown(row: Row) -> Row:
    """The row without anything in the names of a definition that could act on a terminal."""
    return replace(row, name=printable(row.name), message=printable(row.message))


def _report(rows: Sequence[Row], sources: Mapping[str, bytes], header: int) -> Report:
    def own(form: str, out: TextIO, *, color: bool) -> None:
        if form == "markdown":
            from kiplint.report.rollout.markdown import write_rows

            write_rows(rows, header, out)
        else:
            write_rollout(rows, header, out, color=color)

    return Report(
        findings=tuple(_finding(row, sources) for row in rows if row.rule),
        files=len(sources),
        messages=len(rows),
        sources=sources,
        document=rollout_document(rows, header),
        rows=tuple(map(row_object, rows)),
        own=own,
        paths=tuple(sources),
    )


def _finding(row: Row, sources: Mapping[str, bytes]) -> Finding:
    locator = Locator(decode_text(sources.get(row.file, b"")))
    pointer = f"/{row.wanted}" if locator.node(f"/{row.wanted}") is not locator.root else ""
    return Finding(
        rule=row.rule,
        severity=row.severity,
        message=row.message,
        path=row.file,
        span=Span(*locator.span(pointer)),
        pointer=pointer,
        message_name=row.message_name,
        source="KIP-1313",
        identity="\0".join((row.rule, row.message_name, row.name)),
    )
