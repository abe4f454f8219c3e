"""How far a request header version has come in a set."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import ClassVar

from kiplint.compat.rollout import Row, rollout_rules
from kiplint.compat.rollout import rollout as rows_of
from kiplint.compat.tree import broken, load
from kiplint.engine.configure import Path, configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding, Span
from kiplint.render.report import Report, rule_infos
from kiplint.text.lines import decode_text
from kiplint.text.locate import Locator


class RolloutResult(Report, frozen=True):
    """What `rollout` found: a row for each RPC, and a finding for each that breaks a rule."""

    rows: tuple[Row, ...] = ()
    header: int = 3

    command = "rollout"
    renderers: ClassVar[Mapping[str, str]] = {
        "text": "kiplint.commands.rollout.text",
        "json": "kiplint.commands.rollout.result",
        "markdown": "kiplint.commands.rollout.markdown",
        "html": "kiplint.commands.rollout.page",
    }


def rollout(*sets: Path, header: int = 3, repository: Path | None = None) -> RolloutResult:
    """For each RPC of a set, or of the second of two, whether its latest version has that request header (KIP-1313).

    The first of two sets is the release before; without any it is about what is here. The status is `findings` while
    any is missing or wrong. Raises UsageError and SourceError as `diff` does.
    """
    sets = sets or (".",)
    if len(sets) > 2:
        raise UsageError(f"rollout takes one set, or a base and a head, not {len(sets)} sets")
    if not isinstance(header, int) or header < 1:
        raise UsageError(f"header: a version of the request header from 1 on, not {header!r}")
    configuration = configure(os.fspath(sets[-1]))
    head = load(sets[-1], repository, configuration.keeps)
    base = load(sets[0], repository, configuration.keeps) if len(sets) == 2 else None
    asked = configuration.rules()
    rules = rollout_rules(header, configuration.config, asked.known)
    rows = tuple(rows_of(head.main, base.main if base else None, header, rules))
    failing = any(row.status in ("missing", "wrong") for row in rows)
    unread = broken(head, base)
    sources = {**(base.sources if base else {}), **head.sources}
    findings = _findings(rows, sources)
    return RolloutResult(
        findings=findings,
        files=len(head.sources),
        messages=len(rows),
        sources=sources,
        status="error" if unread else "findings" if failing else "ok",
        sets=tuple(os.fspath(one) for one in reversed(sets)),
        rules=rule_infos(configuration.known(), findings, "") if findings else {},
        paths=tuple(head.sources),
        broken=unread,
        rows=rows,
        header=header,
        notes=configuration.misnamed(asked, {one.name for tree in (head, base) if tree for one in tree.messages}),
    )


def _findings(rows: Iterable[Row], sources: Mapping[str, bytes]) -> tuple[Finding, ...]:
    """A finding for each RPC that breaks a rule, but one alone for all that have the same to say of the same place."""
    found: dict[tuple[str, ...], Finding] = {}
    for one in (_finding(row, sources) for row in rows if row.rule):
        found.setdefault((one.rule, one.path, one.pointer, one.message), one)
    return tuple(found.values())


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
