"""The language server: the open texts of an editor, the findings in each, and the answers to its requests."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final, NamedTuple

from lsprotocol import types
from pygls.exceptions import (
    JsonRpcException,
    JsonRpcInternalError,
    JsonRpcInvalidParams,
    JsonRpcInvalidRequest,
    JsonRpcMethodNotFound,
    PyglsError,
)
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.json_rpc import RPCMessage, RPCRequest
from pygls.uris import from_fs_path, to_fs_path

from kiplint import __version__
from kiplint.compat.judge import ChangeFinding
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.rule import RULES_PAGES, Rule
from kiplint.server import actions, hover, symbols
from kiplint.server.buffer import Buffer, child, place_at
from kiplint.server.completion import completion
from kiplint.server.workspace import Bases, Neighbours, OpenFindings, Workspace
from kiplint.sources.schema_files import SourceError

DELAY: Final = 0.01
"""Seconds that a text has to rest before it is checked, so that a row of edits is checked once."""

LONGEST: Final = 0.2
"""Seconds after which it is checked all the same."""

LONGEST_PATH: Final = 4096
"""The most bytes of a path, as systems have it."""

ANSWERS: Final = (JsonRpcInvalidParams, JsonRpcMethodNotFound)
"""The errors that are the answer to a request, and no fault of the server."""


class _InvalidMessage(NamedTuple):
    """A message that has not the shape of its method."""

    id: object
    error: JsonRpcException


class Protocol(LanguageServerProtocol):
    """The protocol, in which each request has an answer, and what is JSON need not be a message."""

    is_ending = False

    def structure_message(self, data: dict[str, Any]) -> Any:
        """The message that some JSON is."""
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            return _InvalidMessage(data.get("id"), error)

    def handle_message(self, message: RPCMessage | _InvalidMessage) -> None:
        """Answer a message; raises JsonRpcInvalidRequest for one without an id that is invalid, or is no message."""
        if isinstance(message, _InvalidMessage):
            if not isinstance(message.id, (str, int)):
                raise JsonRpcInvalidRequest("the message has not the shape of its method") from message.error
            self._send_response(message.id, error=message.error.to_response_error())
            return
        if not hasattr(message, "jsonrpc") or not isinstance(getattr(message, "id", ""), (str, int)):
            raise JsonRpcInvalidRequest("the input is JSON, but not a JSON-RPC message")
        if self.is_ending and isinstance(message, RPCRequest):
            error = JsonRpcInvalidRequest("the server is shutting down")
            self._send_response(message.id, error=error.to_response_error())
            return
        super().handle_message(message)


class Session(LanguageServer):
    """What the server knows of one editor: its texts among their `definitions`, and the findings and breaks in them."""

    def __init__(self) -> None:
        super().__init__("kiplint", __version__, protocol_cls=Protocol)
        self.protocol: Protocol
        self.definitions = Workspace()
        self.uris: dict[str, str] = {}
        self.findings: dict[str, list[Finding]] = {}
        self.breaks: dict[str, Mapping[str, ChangeFinding]] = {}
        self._problem = ""
        self._states: dict[str, tuple[Buffer, list[Finding], str]] = {}
        self._timers: dict[str, tuple[asyncio.TimerHandle, float]] = {}

    def uri(self, path: str) -> str:
        """The name of a file as the editor gave it, else as its path makes it."""
        return self.uris.get(path) or from_fs_path(path) or path

    def report_server_error(self, error: Exception, source: type[PyglsError] | type[JsonRpcException]) -> None:
        """Report an error to the editor, unless it has it as an answer, or reporting itself failed."""
        if source is not JsonRpcInternalError and not isinstance(error, ANSWERS):
            super().report_server_error(error, source)

    def open(self, uri: str, text: str, version: int | None) -> None:
        """Take a text that the editor has opened."""
        if path := path_of(uri):
            self.uris[path] = uri
            self.definitions.encoding = self.workspace.position_encoding or "utf-16"
            self.definitions.put(Buffer(path, text, version, self.definitions.encoding))
            self.check_later(os.path.dirname(path))

    def neighbours(self, buffer: Buffer) -> Neighbours:
        """The definitions that a text stands among."""
        return self.definitions.neighbours(os.path.dirname(buffer.path))

    def text(self, uri: str) -> Buffer | None:
        """The text of that name, as far as it is open."""
        return self.definitions.buffers.get(path_of(uri))

    def close(self, uri: str) -> None:
        """Forget a text that the editor has closed, and take back its diagnostics."""
        path = path_of(uri)
        if path in self.definitions.buffers:
            self.definitions.drop(path)
            self.findings.pop(path, None)
            self.uris.pop(path, None)
            self._states.pop(uri, None)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
            self.check_later(os.path.dirname(path))

    def reread(self, uri: str) -> None:
        """Handle a save: a text that was too large to follow its edits is read from disk again."""
        buffer = self.text(uri)
        if buffer and not buffer.fits:
            with suppress(SourceError):
                self.definitions.put(self.definitions.saved(buffer.path, buffer.version))

    def outdate(self) -> None:
        """Check the open texts again, after a change on disk."""
        self.definitions.forget()
        for directory in {os.path.dirname(path) for path in self.definitions.buffers}:
            self.check_later(directory)

    def check_later(self, directory: str) -> None:
        """Check the open texts of a directory when nothing has changed for a moment."""
        loop = asyncio.get_running_loop()
        timer, since = self._timers.get(directory, (None, loop.time()))
        if timer:
            timer.cancel()
        when = min(loop.time() + DELAY, since + LONGEST)
        self._timers[directory] = (loop.call_at(when, self.check, directory), since)

    def rest(self) -> None:
        """Stop all checks: the editor is shutting down."""
        for timer, _ in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def check(self, directory: str) -> None:
        """Check the open texts of a directory, and publish the findings of each."""
        timer, _ = self._timers.pop(directory, (None, 0))
        if timer:
            timer.cancel()
        texts = self.definitions.open_buffers(directory)
        if not texts:
            return
        try:
            result = self.definitions.check(directory)
            reason = ""
        except UsageError as error:
            result, reason = OpenFindings({}, {}), str(error)
        for buffer in texts:
            self.findings[buffer.path] = result.findings.get(buffer.path, [])
            self._publish(buffer, reason)
        self.breaks[directory] = result.breaks
        if result.problem and result.problem != self._problem:
            text = f"kiplint: {result.problem}"
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, text))
        self._problem = result.problem

    def _publish(self, buffer: Buffer, reason: str) -> None:
        """Publish the findings in a text, or the reason why it cannot be checked, unless nothing changed."""
        uri, findings = self.uri(buffer.path), self.findings[buffer.path]
        state = (buffer, findings, reason)
        if self._states.get(uri) != state:
            self._states[uri] = state
            rules = self.rules(buffer.path)
            self.text_document_publish_diagnostics(
                actions.refuse(buffer, uri, reason) if reason else actions.diagnostics(buffer, uri, findings, rules)
            )

    def findings_of(self, path: str) -> list[Finding]:
        """The findings in a text as it is now."""
        if os.path.dirname(path) in self._timers:
            self.check(os.path.dirname(path))
        return self.findings.get(path, [])

    def fixed(self, path: str) -> list[Finding]:
        """The findings in a text as it is now, with their fixes."""
        changes = [finding for finding in self.findings_of(path) if finding.fingerprint in self.breaks_of(path)]
        return [*self.definitions.fixed(path), *changes]

    def breaks_of(self, path: str) -> Mapping[str, ChangeFinding]:
        """By fingerprint, each change that breaks something in the directory of a text."""
        return self.breaks.get(os.path.dirname(path), {})

    def compare_with(self, options: object) -> None:
        """Take the base from the settings of the editor, as in `{"base": "merge-base"}`; else nothing changes."""
        base = options.get("base") if isinstance(options, Mapping) else getattr(options, "base", None)
        if isinstance(base, str) and base and base != self.definitions.bases.setting:
            self.definitions.bases = Bases(base)
            self.outdate()

    def rules(self, path: str) -> Mapping[str, Rule]:
        """By id: the rules that run for a file; none where the configuration cannot be read."""
        try:
            return self.definitions.rules(os.path.dirname(path))
        except UsageError:
            return {}


def path_of(uri: str) -> str:
    """The path of a file by its URI; a name in angle brackets for a text without a file, empty for anything else."""
    if uri.startswith("untitled:"):
        return f"<{re.sub(r'[/:]', '_', uri[:LONGEST_PATH])}>"
    try:
        path = (to_fs_path(uri) or "") if uri.startswith("file:") else ""
        is_valid = "\0" not in path and len(os.fsencode(path)) <= LONGEST_PATH
    except ValueError:  # no URI, or letters that no path has
        return ""
    return path if is_valid else ""


WATCHED: Final = ("**/*.json", "**/kiplint.toml", "**/.kiplint.toml", "**/pyproject.toml")


def _initialized(ls: Session, params: types.InitializedParams) -> None:
    text, files = ls.client_capabilities.text_document, ls.client_capabilities.workspace
    item = text and text.completion and text.completion.completion_item
    ls.definitions.snippets = bool(item and item.snippet_support)
    edits = files and files.workspace_edit
    ls.definitions.versioned = bool(edits and edits.document_changes)
    watch = files and files.did_change_watched_files
    if watch and watch.dynamic_registration:
        watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        registration = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
        ls.client_register_capability(types.RegistrationParams([registration]))


def _did_change_configuration(ls: Session, params: types.DidChangeConfigurationParams) -> None:
    settings = params.settings
    section = settings.get("kiplint") if isinstance(settings, Mapping) else getattr(settings, "kiplint", None)
    ls.compare_with(section or settings)


def _did_open(ls: Session, params: types.DidOpenTextDocumentParams) -> None:
    document = params.text_document
    ls.open(document.uri, document.text, document.version)


def _did_change(ls: Session, params: types.DidChangeTextDocumentParams) -> None:
    if buffer := ls.text(params.text_document.uri):
        ls.definitions.put(buffer.changed(params.content_changes, params.text_document.version))
        ls.check_later(os.path.dirname(buffer.path))


def _did_save(ls: Session, params: types.DidSaveTextDocumentParams) -> None:
    ls.reread(params.text_document.uri)
    ls.outdate()


def _shutdown(ls: Session, params: None) -> None:
    ls.rest()
    ls.protocol.is_ending = True


def _workspace_symbols(ls: Session, params: types.WorkspaceSymbolParams) -> Sequence[types.SymbolInformation]:
    directories = dict.fromkeys(os.path.dirname(path) for path in ls.definitions.buffers)
    sets = map(ls.definitions.neighbours, directories)
    return [*symbols.in_sets(sets, params.query, ls.definitions, ls.uri)]


def explain(ls: Session, rule: str) -> None:
    """Show why there is a rule."""
    rules = (ls.rules(path).get(rule) for path in ls.definitions.buffers)
    if match := next(filter(None, rules), None):
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, actions.explanation(match)))


def open_page(ls: Session, url: str) -> None:
    """Show the page of a rule in a browser, or its address where the editor cannot."""
    if not url.startswith(RULES_PAGES):
        return
    window = ls.client_capabilities.window
    if window and window.show_document and window.show_document.support:
        ls.window_show_document(types.ShowDocumentParams(url, external=True))
    else:
        ls.window_show_message(types.ShowMessageParams(types.MessageType.Info, url))


def _hover(ls: Session, buffer: Buffer, params: types.HoverParams) -> types.Hover | None:
    findings, rules, breaks = ls.findings_of(buffer.path), ls.rules(buffer.path), ls.breaks_of(buffer.path)
    return hover.hover(buffer, buffer.offset(params.position), ls.neighbours(buffer), findings, rules, breaks)


def _struct_places(
    ls: Session, buffer: Buffer, position: types.Position, selects: Callable[[symbols.StructName], bool]
) -> Iterator[types.Location]:
    """The names of the struct at a position that `selects` accepts; without a struct, the other message of the RPC."""
    offset = buffer.offset(position)
    struct = symbols.struct_at(buffer, offset)
    if struct is None:
        yield from _other_half(ls, buffer, offset)
        return
    for name in filter(selects, symbols.structs(buffer)[struct[0]]):
        yield types.Location(ls.uri(buffer.path), buffer.range(name.start, name.end))


def _other_half(ls: Session, buffer: Buffer, offset: int) -> Iterator[types.Location]:
    """The name of the other message of an RPC, in its file."""
    place = place_at(buffer, offset)
    path = symbols.other_half(buffer, place, ls.neighbours(buffer)) if place else None
    if path is None:
        return
    try:
        other = ls.definitions.buffer(path)
    except SourceError:  # it has just gone
        return
    name = child(other.root, "name") if other.root else None
    where = other.range(name.start, name.end) if name else other.range(0, 0)
    yield types.Location(ls.uri(path), where)


def _completion(ls: Session, buffer: Buffer, params: types.CompletionParams) -> types.CompletionList:
    neighbours, rules = ls.neighbours(buffer), ls.rules(buffer.path)
    offset = buffer.offset(params.position)
    return types.CompletionList(False, completion(buffer, offset, neighbours, rules, snippets=ls.definitions.snippets))


def _actions(ls: Session, buffer: Buffer, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    only = params.context.only
    findings = ls.fixed(buffer.path)
    if _is_requested(types.CodeActionKind.QuickFix, only):
        yield from actions.quick_fixes(ls.definitions, buffer, params.range, findings, ls.uri)
        rules, breaks = ls.rules(buffer.path), ls.breaks_of(buffer.path)
        changes, near = breaks.values(), ls.neighbours(buffer)
        yield from actions.legal_edits(ls.definitions, buffer, params.range, changes, near, ls.uri)
        yield from actions.more(buffer, params.range, findings, rules, breaks, ls.uri(buffer.path))
    by_name = only and _is_requested(actions.FIX_ALL, only)  # as editors request it on saving
    if by_name and (action := actions.fix_all(ls.definitions, findings, ls.uri)):
        yield action
    automatic = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
    if _is_requested(types.CodeActionKind.RefactorRewrite, only) and not automatic:  # their proof checks the whole set
        offset = buffer.offset(params.range.start)
        yield from actions.refactorings(ls.definitions, buffer, offset, ls.neighbours(buffer), ls.uri)


def _is_requested(kind: str, only: Sequence[str] | None) -> bool:
    return not only or any(kind == name or kind.startswith(f"{name}.") for name in only)


def _prepare_rename(
    ls: Session, buffer: Buffer, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder | None:
    struct = symbols.struct_at(buffer, buffer.offset(params.position))
    if struct is None:
        return None
    name, place = struct
    return types.PrepareRenamePlaceholder(buffer.range(place.start, place.end), name)


def _rename(ls: Session, buffer: Buffer, params: types.RenameParams) -> types.WorkspaceEdit:
    try:
        names = symbols.rename(buffer, buffer.offset(params.position), params.new_name)
    except symbols.NotRenamed as error:
        raise JsonRpcInvalidParams(str(error)) from None
    edits = [types.TextEdit(buffer.range(name.start, name.end), params.new_name) for name in names]
    return types.WorkspaceEdit(changes={params.text_document.uri: edits})


HANDLERS: Final[Mapping[str, Callable[[Session, Any], object]]] = {
    types.INITIALIZE: lambda ls, params: ls.compare_with(params.initialization_options),
    types.INITIALIZED: _initialized,
    types.WORKSPACE_DID_CHANGE_CONFIGURATION: _did_change_configuration,
    types.TEXT_DOCUMENT_DID_OPEN: _did_open,
    types.TEXT_DOCUMENT_DID_CHANGE: _did_change,
    types.TEXT_DOCUMENT_DID_SAVE: _did_save,
    types.TEXT_DOCUMENT_DID_CLOSE: lambda ls, params: ls.close(params.text_document.uri),
    types.WORKSPACE_DID_CHANGE_WATCHED_FILES: lambda ls, params: ls.outdate(),
    types.WORKSPACE_SYMBOL: _workspace_symbols,
    types.SHUTDOWN: _shutdown,
}
"""The functions that handle messages about the session."""

TEXT_HANDLERS: Final[Mapping[str, Callable[[Session, Buffer, Any], object]]] = {
    types.TEXT_DOCUMENT_HOVER: _hover,
    types.TEXT_DOCUMENT_INLAY_HINT: lambda ls, buffer, params: hover.hints(buffer, params.range, ls.neighbours(buffer)),
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: lambda ls, buffer, params: symbols.symbols(buffer),
    types.TEXT_DOCUMENT_FOLDING_RANGE: lambda ls, buffer, params: symbols.folds(buffer),
    types.TEXT_DOCUMENT_DEFINITION: lambda ls, buffer, params: _struct_places(
        ls, buffer, params.position, lambda name: name.defines
    ),
    types.TEXT_DOCUMENT_REFERENCES: lambda ls, buffer, params: _struct_places(
        ls, buffer, params.position, lambda name: params.context.include_declaration or not name.defines
    ),
    types.TEXT_DOCUMENT_COMPLETION: _completion,
    types.TEXT_DOCUMENT_CODE_ACTION: _actions,
    types.TEXT_DOCUMENT_PREPARE_RENAME: _prepare_rename,
    types.TEXT_DOCUMENT_RENAME: _rename,
}
"""The functions that answer requests about an open text, some item by item; the answer for any other text is null."""

OPTIONS: Final = {
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(trigger_characters=['"', ":", " ", "["]),
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(
        code_action_kinds=[types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite, actions.FIX_ALL]
    ),
    types.TEXT_DOCUMENT_RENAME: types.RenameOptions(prepare_provider=True),
}


def make() -> Session:
    """A server that answers everything it can."""
    server = Session()
    for method, handler in HANDLERS.items():
        server.feature(method)(handler)
    for method, answer in TEXT_HANDLERS.items():
        server.feature(method, OPTIONS.get(method))(_about_text(answer))
    server.command(actions.EXPLAIN)(explain)
    server.command(actions.OPEN)(open_page)
    return server


def _about_text(answer: Callable[[Session, Buffer, Any], object]) -> Callable[[Session, Any], object]:
    def handle(ls: Session, params: Any) -> object:
        buffer = ls.text(params.text_document.uri)
        result = answer(ls, buffer, params) if buffer else None
        return [*result] if isinstance(result, Iterator) else result

    return handle
