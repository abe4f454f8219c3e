"""Findings as diagnostics, and code actions: their fixes, and common refactorings of RPCs, as edits for the editor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final

from lsprotocol import types

from kiplint.compat.judge import ChangeFinding
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import FileEdit, Finding
from kiplint.engine.rule import Rule
from kiplint.fixes.apply import without_collisions
from kiplint.fixes.bump import bump
from kiplint.fixes.kip_1313 import migrate, unmet
from kiplint.fixes.sets import Goal, Migration
from kiplint.model.schemas import Rpc
from kiplint.server.buffer import Buffer, place_at
from kiplint.server.workspace import Neighbours, Workspace
from kiplint.text.show import printable

SOURCE = "kiplint"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


def diagnostic(finding: Finding, buffer: Buffer, url: str = "") -> types.Diagnostic:
    """One finding in a text, with the address of its rule; what to write instead stands on a line of its own."""
    instead = f"\nWrite {finding.instead}" if finding.instead else ""
    return types.Diagnostic(
        range=buffer.range_of_span(finding.span),
        message=finding.message + instead,
        severity=_SEVERITIES[finding.severity],
        code=finding.rule,
        code_description=types.CodeDescription(url) if url else None,
        source=SOURCE,
        data=finding.fingerprint,
    )


def diagnostics(
    buffer: Buffer, uri: str, findings: Sequence[Finding], rules: Mapping[str, Rule]
) -> types.PublishDiagnosticsParams:
    """All that is to be shown in a text, which takes the place of what was shown before; `rules` by their ids."""
    urls = {rule: rules[rule].url for rule in {finding.rule for finding in findings} & rules.keys()}
    items = [diagnostic(finding, buffer, urls.get(finding.rule, "")) for finding in findings]
    return types.PublishDiagnosticsParams(uri=uri, diagnostics=items, version=buffer.version)


def refuse(buffer: Buffer, uri: str, reason: str) -> types.PublishDiagnosticsParams:
    """The only diagnostic of a text that cannot be checked, such as for an unreadable configuration."""
    problem = types.Diagnostic(buffer.range(0, 1), reason, severity=types.DiagnosticSeverity.Error, source=SOURCE)
    return types.PublishDiagnosticsParams(uri=uri, diagnostics=[problem], version=buffer.version)


FIX_ALL: Final = "source.fixAll.kiplint"
_Uri = Callable[[str], str]


def quick_fixes(
    workspace: Workspace, buffer: Buffer, selection: types.Range, findings: Sequence[Finding], uri: _Uri
) -> Iterator[types.CodeAction]:
    """The fixes of the findings that a range touches; those that are certain are preferred.

    One action has the fixes of all findings of a rule that are as certain as that of a touched one.
    """
    alike = Counter(finding.rule for finding in findings if finding.fix)
    groups = set()
    for finding in findings:
        problem = diagnostic(finding, buffer)
        if not _touch(problem.range, selection):
            continue
        for number, fix in enumerate(finding.choices, 1):
            safe = fix.applicability == "safe"
            title = _title(finding) if number == 1 else f"Fix {finding.rule}, choice {number}"
            effect = f"changes {fix.changes}" if fix.changes else "have a look"
            yield types.CodeAction(
                title=title if safe else f"{title} ({effect})",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[problem],
                is_preferred=(safe and number == 1) or None,
                edit=edit_of(workspace, fix.edits, uri),
            )
        if finding.fix and alike[finding.rule] > 1 and (finding.rule, finding.fix.applicability) not in groups:
            groups.add((finding.rule, finding.fix.applicability))
            certain = finding.fix.applicability == "safe"
            title = f"Fix all findings of {finding.rule} in this file" + ("" if certain else " (have a look)")
            same = [other for other in findings if other.rule == finding.rule]
            edit = edit_of(workspace, _together(same, finding.fix.applicability), uri)
            yield types.CodeAction(title, types.CodeActionKind.QuickFix, diagnostics=[problem], edit=edit)


def fix_all(workspace: Workspace, findings: Iterable[Finding], uri: _Uri) -> types.CodeAction | None:
    """All fixes of one file that are certain and do not collide, as one."""
    edits = _together(findings, "safe")
    if not edits:
        return None
    return types.CodeAction("Fix all that is certain", FIX_ALL, edit=edit_of(workspace, edits, uri))


def _together(findings: Iterable[Finding], applicability: str) -> list[FileEdit]:
    """The edits of all fixes that are as certain, and do not collide."""
    alike = [finding for finding in findings if finding.fix and finding.fix.applicability == applicability]
    return [edit for finding in without_collisions(alike) if finding.fix for edit in finding.fix.edits]


EXPLAIN: Final = "kiplint.explain"
OPEN: Final = "kiplint.open"


def more(
    buffer: Buffer,
    selection: types.Range,
    findings: Iterable[Finding],
    rules: Mapping[str, Rule],
    breaks: Collection[str],
    uri: str,
) -> Iterator[types.CodeAction]:
    """The actions for every finding that a range touches: suppress it, explain its rule, and open its page.

    A comment suppresses findings of `check`, but not of `diff`, whose fingerprints are `breaks`.
    """
    kind = types.CodeActionKind.QuickFix
    for finding in findings:
        problem, rule = diagnostic(finding, buffer), rules.get(finding.rule)
        if not _touch(problem.range, selection):
            continue
        if finding.fingerprint not in breaks:
            edit = types.WorkspaceEdit({uri: [_suppression(finding, buffer)]})
            yield types.CodeAction(f"Suppress {finding.rule} here, with a reason", kind, [problem], edit=edit)
        if rule is None:
            continue
        explain = types.Command(f"Explain {rule.id}", EXPLAIN, arguments=[rule.id])
        yield types.CodeAction(explain.title, kind, [problem], command=explain)
        if url := rule.url:
            source = f" ({rule.source})" if rule.source else ""
            page = types.Command(f"Open the page of {rule.id}{source}", OPEN, arguments=[url])
            yield types.CodeAction(page.title, kind, [problem], command=page)


def legal_edits(
    workspace: Workspace,
    buffer: Buffer,
    selection: types.Range,
    changes: Iterable[ChangeFinding],
    neighbours: Neighbours,
    uri: _Uri,
) -> Iterator[types.CodeAction]:
    """What to do instead of breaks that a range touches: restore the old value, or move a field to a new version."""
    for change in changes:
        problem = diagnostic(change, buffer)
        if change.path != buffer.path or change.breaks == "none" or not _touch(problem.range, selection):
            continue
        start, end = buffer.offset(problem.range.start), buffer.offset(problem.range.end)
        after = buffer.text[start:end]
        key = after.partition(":")[0].strip('"') if ":" in after else ""
        before = workspace.former_text(buffer.path, change, key)
        title, text, edits = f"Restore {before}", before, []
        if not before:
            rpc = _rpc(buffer, neighbours)
            if rpc is None or key != "versions":
                continue
            migration = bump(rpc)
            highest = max(half.valid.highest for half in (rpc.request, rpc.response) if half) + 1
            title, text = f"Move to version {highest}, which {rpc.name} gets", f'"versions": "{highest}+"'
            edits = [
                FileEdit(file.path, edit.start, edit.end, edit.text) for file in migration.files for edit in file.edits
            ]
            if not edits:
                continue
        low, high = (len(buffer.text[:at].encode()) for at in (start, end))
        edit = edit_of(workspace, [*edits, FileEdit(buffer.path, low, high, text)], uri)
        yield types.CodeAction(title, types.CodeActionKind.QuickFix, [problem], edit=edit)


def explanation(rule: Rule) -> str:
    """The rule in plain text: what it is about, why, and where it comes from."""
    title = f"{rule.id}: {rule.spec.title}. " if rule.spec.title else f"{rule.id}. "
    return printable(f"{title}{rule.spec.why}" + (f" Source: {rule.source}." if rule.source else ""))


def _suppression(finding: Finding, buffer: Buffer) -> types.TextEdit:
    """A comment on a line of its own before the finding; its reason is to be written."""
    start = buffer.lines.starts[finding.line - 1]
    line = buffer.text[start:].partition("\n")[0]
    indent = line[: len(line) - len(line.lstrip())].rstrip("\r")
    newline = "\r\n" if "\r\n" in buffer.text else "\n"
    return types.TextEdit(buffer.range(start, start), f"{indent}// kiplint: ignore[{finding.rule}] TODO: why{newline}")


def refactorings(
    workspace: Workspace, buffer: Buffer, offset: int, neighbours: Neighbours, uri: _Uri
) -> Iterator[types.CodeAction]:
    """The refactorings of the RPC to which the message belongs, if the cursor is on a property of the message.

    A refactoring that would make anything worse, or that misses its goal, is not offered.
    """
    place = place_at(buffer, offset)
    if place is not None and place.depth:
        return
    rpc = _rpc(buffer, neighbours)
    if rpc is None:
        return
    choices: Sequence[tuple[str, Callable[[], Migration], Goal | None]] = (
        (f"New version of {rpc.name}, request and response", lambda: bump(rpc), None),
        (
            f"Declare the header versions of {rpc.name} (KIP-1313)",
            lambda: migrate(neighbours.schemas, only={rpc.name}, only_declare=True),
            None,
        ),
        (f"Bring {rpc.name} to KIP-1313", lambda: migrate(neighbours.schemas, only={rpc.name}), unmet),
    )
    for title, migrate_rpc, goal in choices:
        try:
            migration = workspace.prove(neighbours, migrate_rpc(), goal)
        except (LookupError, ValueError, UsageError):  # findings report what is broken
            continue
        if any(row.name == rpc.name and row.state == "left" for row in migration.rows):
            continue
        edits = [
            FileEdit(file.path, edit.start, edit.end, edit.text) for file in migration.files for edit in file.edits
        ]
        if edits:
            kind = types.CodeActionKind.RefactorRewrite
            yield types.CodeAction(title, kind, edit=edit_of(workspace, edits, uri))


def edit_of(workspace: Workspace, edits: Iterable[FileEdit], uri: _Uri) -> types.WorkspaceEdit:
    """Edits of files, which count bytes, as edits of the texts that the editor has of them."""
    plain: dict[str, list[types.TextEdit]] = {}
    changes: list[types.TextDocumentEdit] = []
    sorted_edits = sorted(edits, key=lambda edit: (edit.path, edit.start, edit.end))
    for path, group in groupby(sorted_edits, key=lambda edit: edit.path):
        buffer = workspace.buffer(path)
        texts = [types.TextEdit(buffer.range_of_bytes(edit.start, edit.end), edit.text) for edit in group]
        name = types.OptionalVersionedTextDocumentIdentifier(uri=uri(path), version=buffer.version)
        changes.append(types.TextDocumentEdit(name, [*texts]))
        plain[uri(path)] = texts
    return types.WorkspaceEdit(document_changes=[*changes]) if workspace.versioned else types.WorkspaceEdit(plain)


def _title(finding: Finding) -> str:
    return f"Fix {finding.rule}: write {finding.instead}" if finding.instead else f"Fix {finding.rule}"


def _rpc(buffer: Buffer, neighbours: Neighbours) -> Rpc | None:
    """The RPC that a text has a half of."""
    halves = ((rpc, half) for rpc in neighbours.schemas.rpcs for half in (rpc.request, rpc.response))
    return next((rpc for rpc, half in halves if half and half.file == buffer.path), None)


def _touch(place: types.Range, other: types.Range) -> bool:
    first, last, start, end = ((p.line, p.character) for p in (place.start, place.end, other.start, other.end))
    return first <= end and start <= last
