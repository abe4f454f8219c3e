"""Findings as the protocol has them: diagnostics and code actions."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from lsprotocol import types
from pygls.uris import from_fs_path
from pygls.workspace import PositionCodec, ServerTextPosition

from kiplint.engine.finding import Finding, Span
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
            if selection.end < problem.range.start or problem.range.end < selection.start:
                continue
            if fix := finding.fix:
                is_safe = fix.applicability == "safe"
                instead = f": write {finding.instead}" if finding.instead else ""
                effect = "" if is_safe else f" (changes {fix.changes})"
                yield types.CodeAction(
                    title=f"Fix {finding.rule}{instead}{effect}",
                    kind=types.CodeActionKind.QuickFix,
                    diagnostics=[problem],
                    is_preferred=is_safe or None,
                    edit=self.workspace_edit(fix.edits),
                )
            yield types.CodeAction(
                title=f"Suppress {finding.rule} here, with a reason",
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[problem],
                edit=types.WorkspaceEdit({self._uri: [self._suppression(finding)]}),
            )

    def workspace_edit(self, edits: Iterable[Edit]) -> types.WorkspaceEdit:
        """The edits of files, as those of documents."""
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
