"""The server: the documents that an editor has open, when they are checked, and the answers to its requests."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from kiplint import __version__
from kiplint.engine.config import configure
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.run import check_set
from kiplint.fixes.apply import CheckedFiles, Files, accept_fixes, without_collisions
from kiplint.fixes.fixers import make_fix
from kiplint.server import answers
from kiplint.sources.disk import show_path, with_siblings
from kiplint.sources.schema_files import SchemaFile, SourceError, definitions, kind_of
from kiplint.text.edit import Edit

DELAY: Final = 0.3
"""Seconds after the last change in a directory until its open documents are checked."""

WATCHED: Final = ("**/*.json", "**/kiplint.toml", "**/.kiplint.toml", "**/pyproject.toml")


class CheckedDirectory(NamedTuple):
    """The findings in the open documents of a directory, by path, and what their fixes are tried with.

    `state` has all files of the directory, by the paths that findings have; `check` checks other bytes of them.
    """

    findings: Mapping[str, list[Finding]] = {}
    state: CheckedFiles = CheckedFiles({}, ())
    check: Callable[[Files], CheckedFiles] = lambda files: CheckedFiles(files, ())

    def safe_edits(self, findings: Iterable[Finding]) -> list[Edit]:
        """The edits of the safe fixes that can all be applied, and make nothing worse."""
        safe = (finding for finding in findings if finding.fix and finding.fix.applicability == "safe")
        batch = without_collisions(safe)
        _, refusals = accept_fixes(self.state, batch, self.check)
        refused = [finding for finding, _ in refusals]
        return [edit for finding in batch if finding.fix and finding not in refused for edit in finding.fix.edits]


def check_documents(directory: str, documents: Mapping[str, bytes]) -> CheckedDirectory:
    """Check the documents of a directory, by path, with the other definitions there as context.

    Documents that are excluded or are no definitions have no findings. Raises UsageError for a configuration that
    cannot be read, and SourceError for a definition that cannot.
    """
    configuration = configure(directory)
    rules = configuration.rules()
    contents: dict[str, bytes | None] = {
        path: data for path, data in documents.items() if configuration.keeps(path) and kind_of(data) != "other"
    }
    schemas = with_siblings(directory, contents, configuration.keeps)
    if schemas is None:
        return CheckedDirectory()
    files = definitions(schemas.files, certain=False)[0]  # a broken file counts beside definitions only

    def check(data: Files) -> CheckedFiles:
        inputs = (SchemaFile(file.path, data[file.path], file.is_reported) for file in files)
        is_single = len(files) == 1
        result = check_set(inputs, rules, directory=schemas.directory, single_file=is_single, fixer=make_fix)
        return CheckedFiles(data, result.findings)

    state = check({file.path: file.data for file in files})
    findings = {path: [item for item in state.findings if item.path == show_path(path)] for path in contents}
    return CheckedDirectory(findings, state, check)


class Server(LanguageServer):
    """A language server that checks the open documents of a directory together."""

    def __init__(self) -> None:
        # Whole texts: the incremental changes of pygls end lines at characters at which the protocol does not.
        super().__init__("kiplint", __version__, types.TextDocumentSyncKind.Full)
        self._checked: dict[str, CheckedDirectory] = {}
        self._timers: dict[str, asyncio.TimerHandle] = {}

    def check_later(self, directory: str) -> None:
        """Check the open documents of a directory when none has changed for `DELAY`."""
        if timer := self._timers.pop(directory, None):
            timer.cancel()
        self._timers[directory] = asyncio.get_running_loop().call_later(DELAY, self.check, directory)

    def check_all_later(self) -> None:
        """Check all open documents, after a change on disk."""
        documents = filter(may_be_definition, self.workspace.text_documents.values())
        for directory in {os.path.dirname(document.path) for document in documents}:
            self.check_later(directory)

    def check(self, directory: str) -> None:
        """Check the open documents of a directory now, and publish the diagnostics of each."""
        if timer := self._timers.pop(directory, None):
            timer.cancel()
        documents = self.documents_in(directory)
        reason = ""
        try:
            contents = {path: document.source.encode("utf-8", "replace") for path, document in documents.items()}
            checked = check_documents(directory, contents)
        except (UsageError, SourceError) as error:
            checked, reason = CheckedDirectory(), str(error)
        self._checked[directory] = checked
        for path, document in documents.items():
            positions = answers.Positions(document.source, self.workspace.position_codec)
            diagnostics = [answers.diagnostic(finding, positions) for finding in checked.findings.get(path, ())]
            diagnostics += [answers.refusal(reason)] if reason else []
            self.text_document_publish_diagnostics(
                types.PublishDiagnosticsParams(document.uri, diagnostics, document.version)
            )

    def checked(self, document: TextDocument) -> CheckedDirectory | None:
        """What is known of the directory of an open document as it is now; None for any other document."""
        directory = os.path.dirname(document.path)
        if document.path not in self.documents_in(directory):
            return None
        if directory in self._timers:  # a text has changed since, and its check waits for the end of typing
            self.check(directory)
        return self._checked[directory]

    def documents_in(self, directory: str) -> dict[str, TextDocument]:
        """The open documents of a directory, by path."""
        documents = filter(may_be_definition, self.workspace.text_documents.values())
        return {document.path: document for document in documents if os.path.dirname(document.path) == directory}


def may_be_definition(document: TextDocument) -> bool:
    """Whether a document is a JSON file on disk."""
    return document.uri.startswith("file:") and document.path.endswith(".json")


server = Server()


@server.feature(types.INITIALIZED)
def initialized(ls: Server, params: types.InitializedParams) -> None:
    """Ask the editor, where it can, to tell about changes of files on disk."""
    capabilities = ls.client_capabilities.workspace
    watching = capabilities.did_change_watched_files if capabilities else None
    if watching and watching.dynamic_registration:
        watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        registration = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        ls.client_register_capability(types.RegistrationParams([registration]))


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
def did_change(ls: Server, params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams) -> None:
    """Check a document that was opened or has changed."""
    document = ls.workspace.get_text_document(params.text_document.uri)
    if may_be_definition(document):
        ls.check_later(os.path.dirname(document.path))


@server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
def did_close(ls: Server, params: types.DidCloseTextDocumentParams) -> None:
    """Take back the diagnostics of a document; for its neighbours the file on disk counts again."""
    document = ls.workspace.get_text_document(params.text_document.uri)
    if may_be_definition(document):
        ls.text_document_publish_diagnostics(types.PublishDiagnosticsParams(params.text_document.uri, []))
        ls.check_later(os.path.dirname(document.path))


@server.feature(types.TEXT_DOCUMENT_DID_SAVE)
@server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
def did_change_on_disk(ls: Server, params: object) -> None:
    """Check all documents: a definition beside them or the configuration may have changed."""
    ls.check_all_later()


@server.feature(
    types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions([types.CodeActionKind.QuickFix, answers.FIX_ALL])
)
def code_actions(ls: Server, params: types.CodeActionParams) -> list[types.CodeAction]:
    """Answer with the fixes of the findings that a range touches; on request with all of the document."""
    document = ls.workspace.get_text_document(params.text_document.uri)
    if not (directory := ls.checked(document)):
        return []
    findings = directory.findings.get(document.path, [])
    positions = answers.Positions(document.source, ls.workspace.position_codec)
    open_documents = ls.documents_in(os.path.dirname(document.path))
    uris = {show_path(path): other.uri for path, other in open_documents.items()}
    actions = answers.Actions(document.uri, positions, directory.state.files, uris)
    only = params.context.only or [types.CodeActionKind.QuickFix]
    result: list[types.CodeAction] = []
    if is_requested(types.CodeActionKind.QuickFix, only):
        result += actions.quick_fixes(findings, params.range)
    if is_requested(answers.FIX_ALL, only) and (edits := directory.safe_edits(findings)):  # as editors do on saving
        edit = actions.workspace_edit(edits)
        result.append(types.CodeAction("Fix all that is certain", answers.FIX_ALL, edit=edit))
    return result


def is_requested(kind: str, only: Sequence[str]) -> bool:
    """Whether a kind of action, or one that it is a special case of, is among the requested ones."""
    return any(kind == name or kind.startswith(f"{name}.") for name in only)
