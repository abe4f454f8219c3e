"""Findings as the protocol has them: diagnostics, code actions, and hover texts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from lsprotocol import types
from pygls.uris import from_fs_path
from pygls.workspace import PositionCodec, ServerTextPosition

from kiplint.engine.finding import Finding, Span
from kiplint.engine.rule import Rule
from kiplint.text.edit import Edit
from kiplint.text.lines import character_of, decode_text, lines_of

SOURCE: Final = "kiplint"
SEVERITIES: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


class Positions:
    """Turns lines and columns, which count characters, into positions as the editor counts them."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self.text = text
        self.lines = re.split(r"\r\n?|\n", text)
        self.codec = codec

    def range_of_span(self, span: Span) -> types.Range:
        """The range of a finding."""
        return types.Range(self._position(span.line, span.column), self._position(span.end_line, span.end_column))

    def range_of_edit(self, edit: Edit, data: bytes) -> types.Range:
        """The range that an edit replaces; `data` are the bytes of the text."""
        start, end = (lines_of(data).position(character_of(data, offset)) for offset in (edit.start, edit.end))
        return types.Range(self._position(*start), self._position(*end))

    def _position(self, line: int, column: int) -> types.Position:
        return self.codec.position_to_client_units(self.lines, ServerTextPosition(line - 1, column - 1))


def diagnostic(finding: Finding, positions: Positions) -> types.Diagnostic:
    """One finding in a text, with the address of its rule; what to write instead has a line of its own."""
    instead = f"\nWrite {finding.instead}" if finding.instead else ""
    return types.Diagnostic(
        range=positions.range_of_span(finding.span),
        message=finding.message + instead,
        severity=SEVERITIES[finding.severity],
        code=finding.rule,
        code_description=types.CodeDescription(finding.url) if finding.url else None,
        source=SOURCE,
        data=finding.fingerprint,
    )


def refusal(reason: str) -> types.Diagnostic:
    """The only diagnostic of a text that cannot be checked, such as for an unreadable configuration."""
    start = types.Range(types.Position(0, 0), types.Position(0, 1))
    return types.Diagnostic(start, reason, severity=types.DiagnosticSeverity.Error, source=SOURCE)


FIX_ALL: Final = "source.fixAll.kiplint"


class Actions:
    """The code actions for findings in the text of `uri`.

    `sources` are the bytes of the files that fixes edit, by path, and `uris` the names of those that are open.
    """

    def __init__(self, uri: str, positions: Positions, sources: Mapping[str, bytes], uris: Mapping[str, str]) -> None:
        self._uri = uri
        self._positions = positions
        self._sources = sources
        self._uris = uris

    def quick_fixes(self, findings: Sequence[Finding], selection: types.Range) -> Iterator[types.CodeAction]:
        """The fixes of the findings that a range touches, the safe ones preferred, and comments that suppress them."""
        for finding in findings:
            problem = diagnostic(finding, self._positions)
            if not touches(problem.range, selection):
                continue
            instead = f": write {finding.instead}" if finding.instead else ""
            for number, fix in enumerate(finding.choices, 1):
                is_safe = fix.applicability == "safe"
                title = f"Fix {finding.rule}{instead}" if number == 1 else f"Fix {finding.rule}, choice {number}"
                effect = f"changes {fix.changes}" if fix.changes else "review it"
                yield types.CodeAction(
                    title=title if is_safe else f"{title} ({effect})",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[problem],
                    is_preferred=(is_safe and number == 1) or None,
                    edit=self._workspace_edit(fix.edits),
                )
            yield types.CodeAction(
                title=f"Suppress {finding.rule} here, with a reason",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[problem],
                edit=types.WorkspaceEdit({self._uri: [self._suppression(finding)]}),
            )

    def fix_all(self, findings: Iterable[Finding]) -> Iterator[types.CodeAction]:
        """The fixes of the findings as one action; nothing where there are none."""
        edits = [edit for finding in findings if finding.fix for edit in finding.fix.edits]
        if edits:
            yield types.CodeAction("Fix all that is certain", FIX_ALL, edit=self._workspace_edit(edits))

    def _workspace_edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        changes: dict[str, list[types.TextEdit]] = {}
        for edit in edits:
            data = self._sources[edit.path]
            uri = self._uris.get(edit.path) or from_fs_path(os.path.abspath(edit.path)) or edit.path
            positions = Positions(decode_text(data), self._positions.codec)
            changes.setdefault(uri, []).append(types.TextEdit(positions.range_of_edit(edit, data), edit.text))
        return types.WorkspaceEdit(changes)

    def _suppression(self, finding: Finding) -> types.TextEdit:
        """A comment on a line of its own above the finding; its reason is to be written."""
        line = self._positions.lines[finding.line - 1]
        indent = line[: len(line) - len(line.lstrip())]
        newline = "\r\n" if "\r\n" in self._positions.text else "\n"
        start = types.Position(finding.line - 1, 0)
        text = f"{indent}// kiplint: ignore[{finding.rule}] TODO: why{newline}"
        return types.TextEdit(types.Range(start, start), text)


def hover(
    findings: Iterable[Finding], rules: Mapping[str, Rule], positions: Positions, position: types.Position
) -> types.Hover | None:
    """The rules of the findings at a position: why there is each, and where it comes from and is documented."""
    here = types.Range(position, position)
    ranges = ((finding, positions.range_of_span(finding.span)) for finding in findings if finding.rule in rules)
    touched = [(finding, found) for finding, found in ranges if touches(found, here)]
    if not touched:
        return None
    parts = dict.fromkeys(explanation(rules[finding.rule]) for finding, _ in touched)
    text = types.MarkupContent(types.MarkupKind.Markdown, "\n\n---\n\n".join(parts))
    return types.Hover(text, touched[0][1])


def explanation(rule: Rule) -> str:
    """Why there is a rule, its source, and a link to its page, as Markdown."""
    source = f"\n\nSource: {rule.source}." if rule.source else ""
    page = f"\n\n[Documentation of the rule]({rule.url})" if rule.url else ""
    return f"**{rule.id}**: {rule.spec.why}{source}{page}"


def touches(one: types.Range, other: types.Range) -> bool:
    """Whether two ranges have a position in common."""
    return one.start <= other.end and other.start <= one.end
