"""The language server: the definitions that an editor has open, when they are checked, and their quick fixes."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path
from pygls.workspace import PositionCodec, ServerTextPosition, TextDocument

from kiplint import __version__
from kiplint.engine.config import configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.run import check_set
from kiplint.fixes.fix import group_of, safely_fixable, without_collisions
from kiplint.fixes.fixers import make_fix
from kiplint.fixes.regressions import SAFE, CheckedFiles, Files
from kiplint.fixes.trial import Check, try_edits
from kiplint.sources.disk import show_path, with_siblings
from kiplint.sources.schema_files import SchemaFile, SourceError, definitions, kind_of
from kiplint.text.edit import Edit
from kiplint.text.lines import character_offset, decode_text, lines_of

DELAY: Final = 0.3
"""The seconds from the last change in a directory until its open documents are checked."""

FIX_ALL: Final = "source.fixAll.kiplint"
"""The kind of the code action that applies all safe fixes, which editors can ask for when they save a document."""

SEVERITIES: Final = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}


class CheckedDirectory(NamedTuple):
    """The findings in the open documents of a directory, by path, and what is needed to try their fixes.

    `definitions` are all definitions of the directory, open or not; `check` checks other bytes of these files.
    """

    findings: Mapping[str, list[Finding]] = {}
    definitions: CheckedFiles = CheckedFiles({}, ())
    check: Check = lambda files: CheckedFiles(files, ())

    def safe_edits(self, findings: Iterable[Finding]) -> list[Edit]:
        """The edits of the safe fixes of the findings that do not collide and make nothing worse."""
        groups = [group_of(finding) for finding in without_collisions(safely_fixable(findings))]
        dropped = try_edits(self.definitions, groups, self.check, SAFE).dropped
        return [edit for number, group in enumerate(groups) if number not in dropped for edit in group.edits]


def check_documents(directory: str, documents: Mapping[str, bytes]) -> CheckedDirectory:
    """Check the documents of a directory, by path, with the other definitions there as context.

    Documents that are excluded or are not definitions have no findings. Raises UsageError for a configuration that
    cannot be read, and SourceError for a definition that cannot.
    """
    configuration = configure(directory)
    rules = configuration.rules()
    contents: dict[str, bytes | None] = {
        path: data for path, data in documents.items() if configuration.keeps(path) and kind_of(data) != "other"
    }
    schemas, _ = with_siblings(directory, contents, configuration.keeps)
    if not schemas.files:
        return CheckedDirectory()
    # A file with broken JSON may be no definition; it counts as one only beside definitions.
    schema_files, _ = definitions(schemas.files)

    def check(files: Files) -> CheckedFiles:
        inputs = (SchemaFile(file.path, files[file.path], file.is_reported) for file in schema_files)
        is_single = len(schema_files) == 1
        result = check_set(inputs, rules, directory=schemas.directory, single_file=is_single, fixer=make_fix)
        return CheckedFiles(files, result.findings)

    checked_files = check({file.path: file.data for file in schema_files})
    findings = {
        path: [finding for finding in checked_files.findings if finding.path == show_path(path)] for path in contents
    }
    return CheckedDirectory(findings, checked_files, check)


class Server(LanguageServer):
    """A language server that checks the open documents of a directory together."""

    def __init__(self) -> None:
        # Whole texts: the incremental changes of pygls end lines at characters at which the protocol does not.
        super().__init__("kiplint", __version__, types.TextDocumentSyncKind.Full)
        self._checked_directories: dict[str, CheckedDirectory] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def check_later(self, directory: str) -> None:
        """Check the open documents of a directory when none has changed for `DELAY`."""
        if timer := self._timers.pop(directory, None):
            timer.cancel()
        self._timers[directory] = asyncio.get_running_loop().call_later(DELAY, self.check, directory)

    def check(self, directory: str) -> None:
        """Check the open documents of a directory now, and publish the diagnostics of each."""
        if timer := self._timers.pop(directory, None):
            timer.cancel()
        documents = self.documents_in(directory)
        failures: list[types.Diagnostic] = []
        try:
            contents = {path: document.source.encode("utf-8", "replace") for path, document in documents.items()}
            checked = check_documents(directory, contents)
        except (UsageError, SourceError) as error:
            checked = CheckedDirectory()
            first_character = types.Range(types.Position(0, 0), types.Position(0, 1))
            failures = [types.Diagnostic(first_character, str(error), severity=SEVERITIES["error"], source="kiplint")]
        self._checked_directories[directory] = checked
        for path, document in documents.items():
            positions = Positions(document.source, self.workspace.position_codec)
            diagnostics = [diagnostic_of(finding, positions) for finding in checked.findings.get(path, ())]
            params = types.PublishDiagnosticsParams(document.uri, diagnostics + failures, document.version)
            self.text_document_publish_diagnostics(params)

    def checked(self, document: TextDocument) -> CheckedDirectory | None:
        """The checked directory of an open document; None if the document cannot be a definition."""
        if not may_be_definition(document):
            return None
        directory = os.path.dirname(document.path)
        if directory in self._timers:  # a text has changed since, and its check waits for the end of typing
            self.check(directory)
        return self._checked_directories.get(directory)

    def documents_in(self, directory: str) -> dict[str, TextDocument]:
        """The open documents of a directory that may be definitions, by path."""
        documents = filter(may_be_definition, self.workspace.text_documents.values())
        return {document.path: document for document in documents if os.path.dirname(document.path) == directory}


def may_be_definition(document: TextDocument) -> bool:
    """Whether a document is a JSON file on disk."""
    return document.uri.startswith("file:") and document.path.endswith(".json")


server = Server()


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
def did_change(ls: Server, params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams) -> None:
    """Check a document that was opened or has changed."""
    document = ls.workspace.get_text_document(params.text_document.uri)
    if may_be_definition(document):
        ls.check_later(os.path.dirname(document.path))


@server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    """Remove the diagnostics of a document, and check its neighbours: for them the file on disk counts again."""
    document = ls.workspace.get_text_document(params.text_document.uri)
    if may_be_definition(document):
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))
        ls.check_later(os.path.dirname(document.path))


@server.feature(types.TEXT_DOCUMENT_DID_SAVE)
def did_save(ls: Server, params: object) -> None:
    """Check all open documents: the saved one may be their configuration, or a definition next to them."""
    documents = filter(may_be_definition, ls.workspace.text_documents.values())
    for directory in {os.path.dirname(document.path) for document in documents}:
        ls.check_later(directory)


@server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix, FIX_ALL]))
def code_actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Answer with the actions for the findings that a range touches, and one for all safe fixes, as asked for."""
    document = ls.workspace.get_text_document(params.text_document.uri)
    checked = ls.checked(document)
    if checked is None:
        return []
    findings, files = checked.findings.get(document.path, []), checked.definitions.files
    requested_kinds = params.context.only or [types.CodeActionKind.QuickFix]
    actions: list[types.CodeAction] = []
    if is_requested(types.CodeActionKind.QuickFix, requested_kinds):
        positions = Positions(document.source, ls.workspace.position_codec)
        for finding in findings:
            diagnostic = diagnostic_of(finding, positions)
            if params.range.start <= diagnostic.range.end and diagnostic.range.start <= params.range.end:
                actions += quick_fixes(ls, document, finding, diagnostic, files)
    if is_requested(FIX_ALL, requested_kinds):
        edits = checked.safe_edits(findings)
        if edits:
            edit = workspace_edit(ls, edits, files)
            actions.append(types.CodeAction("Apply all safe fixes", FIX_ALL, edit=edit))
    return actions


def is_requested(kind: str, requested_kinds: Sequence[str]) -> bool:
    """Whether a kind of action, such as `source.fixAll.kiplint`, or a more general one, such as `source`, is wanted."""
    return any(kind == name or kind.startswith(f"{name}.") for name in requested_kinds)


def quick_fixes(
    ls: Server, document: TextDocument, finding: Finding, diagnostic: types.Diagnostic, files: Files
) -> Iterator[types.CodeAction]:
    """The actions for a finding: its fix in `files`, if it has one, and a comment that suppresses the finding."""
    if finding.fix:
        is_safe = finding.fix.applicability == "safe"
        instead = f": write {finding.instead}" if finding.instead else ""
        effect = "" if is_safe else f" (changes {finding.fix.changes})"
        yield types.CodeAction(
            title=f"Fix {finding.rule}{instead}{effect}",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=[diagnostic],
            is_preferred=is_safe or None,
            edit=workspace_edit(ls, finding.fix.edits, files),
        )
    yield types.CodeAction(
        title=f"Suppress {finding.rule} here, with a reason",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        edit=types.WorkspaceEdit({document.uri: [suppression_of(finding, document.source)]}),
    )


def workspace_edit(ls: Server, edits: Iterable[Edit], files: Files) -> types.WorkspaceEdit:
    """Edits of `files` as the protocol has them, by the URI of the open document or else of the file on disk."""
    documents = filter(may_be_definition, ls.workspace.text_documents.values())
    uris = {show_path(document.path): document.uri for document in documents}
    changes: dict[str, list[types.TextEdit]] = {}
    for edit in edits:
        data = files[edit.path]
        uri = uris.get(edit.path) or from_fs_path(os.path.abspath(edit.path)) or edit.path
        positions = Positions(decode_text(data), ls.workspace.position_codec)
        changes.setdefault(uri, []).append(types.TextEdit(positions.range_of_edit(edit, data), edit.text))
    return types.WorkspaceEdit(changes)


def suppression_of(finding: Finding, text: str) -> types.TextEdit:
    """The edit that inserts an ignore comment above a finding; the reason is left to the author."""
    line = split_lines(text)[finding.line - 1]
    indent = line[: len(line) - len(line.lstrip())]
    newline = "\r\n" if "\r\n" in text else "\n"
    start = types.Position(finding.line - 1, 0)
    comment = f"{indent}// kiplint: ignore[{finding.rule}] TODO: why{newline}"
    return types.TextEdit(types.Range(start, start), comment)


def diagnostic_of(finding: Finding, positions: Positions) -> types.Diagnostic:
    """A finding as a diagnostic of the protocol; what to write instead is a second line of the message."""
    instead = f"\nWrite {finding.instead}" if finding.instead else ""
    return types.Diagnostic(
        range=positions.range_of_finding(finding),
        message=finding.message + instead,
        severity=SEVERITIES[finding.severity],
        code=finding.rule,
        code_description=types.CodeDescription(finding.url) if finding.url else None,
        source="kiplint",
        data=finding.fingerprint,
    )


class Positions:
    """Turns lines and columns of a text, 1-based and in characters, into positions as the editor counts them."""

    def __init__(self, text: str, codec: PositionCodec) -> None:
        self._lines = split_lines(text)
        self._codec = codec

    def range_of_finding(self, finding: Finding) -> types.Range:
        """The range of a finding in the text."""
        start = self._position(finding.line, finding.column)
        return types.Range(start, self._position(finding.end_line, finding.end_column))

    def range_of_edit(self, edit: Edit, data: bytes) -> types.Range:
        """The range that an edit replaces; its offsets are in `data`, the bytes of the text."""
        lines = lines_of(data)
        start = self._position(*lines.position(character_offset(data, edit.start)))
        return types.Range(start, self._position(*lines.position(character_offset(data, edit.end))))

    def _position(self, line: int, column: int) -> types.Position:
        return self._codec.position_to_client_units(self._lines, ServerTextPosition(line - 1, column - 1))


def split_lines(text: str) -> list[str]:
    """The lines of a text, split where the protocol does, which is at fewer characters than in `str.splitlines`."""
    return re.split(r"\r\n?|\n", text)
