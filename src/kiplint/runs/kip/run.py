"""Checking the definitions in the text of a KIP, as a set over that of a release."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple, Unpack

from msgspec.structs import replace

from kiplint.compat.changes.judge import Judged
from kiplint.compat.tree import Tree
from kiplint.engine.config import FailOn
from kiplint.engine.finding import Finding
from kiplint.engine.ruleset import RuleSet
from kiplint.engine.run import Input, check_set
from kiplint.runs.checking import IGNORE, at_least
from kiplint.runs.configuration import Chosen, Configuration, Path, configure
from kiplint.runs.diff import as_finding
from kiplint.runs.kip.comparing import changes_of, differences_of, layouts_of
from kiplint.runs.kip.homes import Base, Placed, open_base, settle
from kiplint.runs.kip.reading import STDIN, Draft, Kip, read_kip
from kiplint.runs.kip.result import DraftRow, KipReport, KipResult
from kiplint.runs.result import rule_infos
from kiplint.runs.trees import broken, load
from kiplint.sources.schema_files import NothingThereError
from kiplint.text.words import listed, plural


class _Sides(NamedTuple):
    """What the KIPs are held against."""

    base: Base | None
    code: Tree | None
    rules: RuleSet


def kip(
    *files: Path,
    base: Path | None = None,
    against: Path | None = None,
    fail_on: FailOn | None = None,
    repository: Path | None = None,
    **chosen: Unpack[Chosen],
) -> KipResult:
    """Check the definitions in KIPs: text, Markdown or HTML; each KIP by itself.

    With a `base`, a set, they are checked in its place and compared with it; `against` is the code as it is by now,
    which is compared with them. The status is `findings` when a finding is as severe as `fail_on` says. Raises
    UsageError and SourceError as `check` does, and the latter where no KIP has a definition.
    """
    names = tuple(os.fspath(one) for one in files)
    configuration = configure("." if not names or names[0] == STDIN else names[0], **chosen)
    kips = [read_kip(name) for name in names]
    bare = [one for one in kips if not one.drafts]
    if len(bare) == len(kips):
        raise NothingThereError(f"nothing to check: {'; '.join(map(_nothing_in, bare))}")
    sides = _open(base, against, repository, configuration)
    parts = [_part(one, sides) for one in kips if one.drafts]
    findings = tuple(finding for part in parts for finding in part.findings)
    grave = at_least(findings, fail_on or configuration.config.fail_on)
    unread = broken(sides.base.tree if sides.base else None, sides.code)
    return KipResult(
        findings=findings,
        files=len(kips),
        messages=sum(len(one.current) for one in kips),
        sources=_sources(findings, kips, sides),
        status="error" if unread else "findings" if grave else "ok",
        sets=names,
        rules=rule_infos([*sides.rules.known, *sides.rules.rules], findings, IGNORE),
        paths=tuple(one.path for one in kips),
        broken=unread,
        notes=tuple(map(_nothing_in, bare)),
        kips=tuple(part.report for part in parts),
        base=os.fspath(base) if base else "",
        against=os.fspath(against) if against else "",
    )


def _open(base: Path | None, against: Path | None, repository: Path | None, configuration: Configuration) -> _Sides:
    keeps = configuration.keeps
    return _Sides(
        open_base(base, repository, keeps) if base else None,
        load(against, repository, keeps) if against else None,
        configuration.rules(),
    )


class _Part(NamedTuple):
    """What one KIP came to, and all of it as findings."""

    report: KipReport
    findings: list[Finding]


def _part(one: Kip, sides: _Sides) -> _Part:
    base, code, rules = sides
    placed = settle(one, base)
    checked = sorted(_checked(placed, base, rules), key=lambda found: (found.span.line, found.span.column))
    after = placed.tree(base) if base else placed.alone()
    changes = changes_of(placed, base, after, rules) if base else ()
    differences = differences_of(placed, code, rules) if code else ()
    changed = {change.message_name for change in changes}
    report = KipReport(
        one.path,
        tuple(_row(draft, base, changed) for draft in one.drafts),
        tuple(checked),
        changes,
        differences,
        tuple(layouts_of(placed, base, after)),
        one.loose,
        one.grammar,
    )
    told = [*map(as_finding, changes), *(_difference(found) for found in differences)]
    return _Part(report, [*checked, *told])


OF_FILES: Final = frozenset({"notes/heading"})
"""The rules about what stands around a definition in a file of its own."""


def _checked(placed: Placed, base: Base | None, rules: RuleSet) -> Iterator[Finding]:
    for directory, drafts in placed.homes.items():
        inputs = [Input(path, data, path in drafts) for path, data in placed.files(base, directory).items()]
        for found in check_set(inputs, rules, directory=directory, partial=base is None).findings:
            if found.rule not in OF_FILES:
                path, span = placed.place(found.path, found.span)
                yield replace(found, path=path, span=span)


def _difference(one: Judged) -> Finding:
    found = as_finding(one)
    said = "the code has no such message" if one.kind == "message-removed" else f"the code differs: {one.message}"
    return replace(found, message=said, source="KIP and code", identity=f"code\0{found.identity}")


def _row(draft: Draft, base: Base | None, changed: set[str]) -> DraftRow:
    message = draft.definition.message
    state = "older" if draft.older else "read"
    if message is None:
        return DraftRow(draft.name, "", "", "unread", draft.span)
    if base and not draft.older:
        known = any(one.name == message.name for one in base.tree.messages)
        state = "new" if not known else "changed" if message.name in changed else "same"
    return DraftRow(message.name, message.type, message.spec.valid_versions, state, draft.span)


def _sources(findings: Iterable[Finding], kips: Iterable[Kip], sides: _Sides) -> dict[str, bytes]:
    found = {one.path: one.data for one in kips}
    known = sides.base.tree.sources if sides.base else {}
    return found | {one.path: known[one.path] for one in findings if one.path in known}


def _nothing_in(one: Kip) -> str:
    """That a KIP has no definition, and what else it has."""
    said = f"no message definition in {one.path}"
    if one.grammar:
        lines = f"{'line' if len(one.grammar) == 1 else 'lines'} {listed(list(map(str, one.grammar[:8])))}"
        said += f", which tells of messages in the notation of before there were any ({lines})"
    if one.loose:
        said += f", only {plural(len(one.loose), 'field')} (line {one.loose[0]})"
    return said
