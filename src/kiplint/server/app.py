"""The server: the requests of editors, each answered by a module."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from kiplint.render.report import RULES_PAGES
from kiplint.server import actions, cursor, hover, symbols
from kiplint.server.buffer import Buffer
from kiplint.server.completion import completion
from kiplint.server.session import Session
from kiplint.sources.schema_files import SourceError

WATCHED = ("**/*.json", "**/kiplint.toml", "**/.kiplint.toml", "**/pyproject.toml")
TRIGGERS = ('"', ":", " ", "[")


def make() -> Session:
    """A server that answers everything it can."""
    server = Session()
    _listen(server)
    _explain(server)
    _outline(server)
    _link(server)
    _change(server)
    return server


def _listen(server: Session) -> None:
    @server.feature(types.INITIALIZE)
    def initialize(params: types.InitializeParams) -> None:
        server.compare_with(params.initialization_options)

    @server.feature(types.WORKSPACE_DID_CHANGE_CONFIGURATION)
    def did_change_configuration(params: types.DidChangeConfigurationParams) -> None:
        settings = params.settings
        inner = settings.get("kiplint") if isinstance(settings, Mapping) else getattr(settings, "kiplint", None)
        server.compare_with(inner or settings)

    @server.feature(types.INITIALIZED)
    def initialized(params: types.InitializedParams) -> None:
        text = server.client_capabilities.text_document
        item = text and text.completion and text.completion.completion_item
        server.known.snippets = bool(item and item.snippet_support)
        edits = server.client_capabilities.workspace and server.client_capabilities.workspace.workspace_edit
        server.known.versioned = bool(edits and edits.document_changes)
        watch = server.client_capabilities.workspace and server.client_capabilities.workspace.did_change_watched_files
        if watch and watch.dynamic_registration:
            watchers = [types.FileSystemWatcher(pattern) for pattern in WATCHED]
            options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            registration = types.Registration("files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            server.client_register_capability(types.RegistrationParams([registration]))

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        server.open(document.uri, document.text, document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        buffer = server.text(params.text_document.uri)
        if buffer:
            server.known.put(buffer.changed(params.content_changes, params.text_document.version))
            server.later(os.path.dirname(buffer.path))

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def did_save(params: types.DidSaveTextDocumentParams) -> None:
        server.reread(params.text_document.uri)
        server.outdate()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        server.close(params.text_document.uri)

    @server.feature(types.SHUTDOWN)
    def shutdown(params: None) -> None:
        server.rest()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def did_change_files(params: types.DidChangeWatchedFilesParams) -> None:
        server.outdate()


def _explain(server: Session) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(params: types.HoverParams) -> types.Hover | None:
        buffer = server.text(params.text_document.uri)
        if buffer is None:
            return None
        findings, rules = server.findings_of(buffer.path), server.rules(buffer.path)
        neighbours = server.neighbours(buffer)
        breaks = server.breaks_of(buffer.path)
        return hover.hover(buffer, buffer.offset(params.position), neighbours, findings, rules, breaks)

    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def on_hints(params: types.InlayHintParams) -> Sequence[types.InlayHint]:
        buffer = server.text(params.text_document.uri)
        if buffer is None:
            return []
        return [*hover.hints(buffer, params.range, server.neighbours(buffer))]


def _outline(server: Session) -> None:
    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def on_symbols(params: types.DocumentSymbolParams) -> Sequence[types.DocumentSymbol]:
        buffer = server.text(params.text_document.uri)
        return symbols.symbols(buffer) if buffer else []

    @server.feature(types.WORKSPACE_SYMBOL)
    def on_workspace_symbols(params: types.WorkspaceSymbolParams) -> Sequence[types.SymbolInformation]:
        directories = dict.fromkeys(os.path.dirname(path) for path in server.known.buffers)
        sets = map(server.known.neighbours, directories)
        return [*symbols.in_sets(sets, params.query, server.known, server.uri)]

    @server.feature(types.TEXT_DOCUMENT_FOLDING_RANGE)
    def on_folds(params: types.FoldingRangeParams) -> Sequence[types.FoldingRange]:
        buffer = server.text(params.text_document.uri)
        return symbols.folds(buffer) if buffer else []


def _link(server: Session) -> None:
    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    def on_definition(params: types.DefinitionParams) -> Sequence[types.Location]:
        return [*_linked(server, params, lambda reference: reference.defines)]

    @server.feature(types.TEXT_DOCUMENT_REFERENCES)
    def on_references(params: types.ReferenceParams) -> Sequence[types.Location]:
        return [*_linked(server, params, lambda reference: params.context.include_declaration or not reference.defines)]


def _change(server: Session) -> None:
    @server.feature(types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=[*TRIGGERS]))
    def on_completion(params: types.CompletionParams) -> types.CompletionList:
        buffer = server.text(params.text_document.uri)
        if buffer is None:
            return types.CompletionList(False, [])
        neighbours, rules = server.neighbours(buffer), server.rules(buffer.path)
        offset = buffer.offset(params.position)
        items = completion(buffer, offset, neighbours, rules, snippets=server.known.snippets)
        return types.CompletionList(False, items)

    kinds = [types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite, actions.FIX_ALL]

    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, types.CodeActionOptions(code_action_kinds=kinds))
    def on_action(params: types.CodeActionParams) -> Sequence[types.CodeAction]:
        buffer = server.text(params.text_document.uri)
        return [*_actions(server, buffer, params)] if buffer else []

    @server.command(actions.EXPLAIN)
    def explain(rule: str) -> None:
        known = (server.rules(path).get(rule) for path in server.known.buffers)
        text = next((actions.explanation(first) for first in known if first), "")
        if text:
            server.window_show_message(types.ShowMessageParams(types.MessageType.Info, text))

    @server.command(actions.OPEN)
    def open_page(url: str) -> None:
        if not url.startswith(RULES_PAGES):
            return
        window = server.client_capabilities.window
        if window and window.show_document and window.show_document.support:
            server.window_show_document(types.ShowDocumentParams(url, external=True))
        else:
            server.window_show_message(types.ShowMessageParams(types.MessageType.Info, url))

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    def on_prepare(params: types.PrepareRenameParams) -> types.PrepareRenamePlaceholder | None:
        buffer = server.text(params.text_document.uri)
        struct = symbols.struct_at(buffer, buffer.offset(params.position)) if buffer else None
        if buffer is None or struct is None:
            return None
        return types.PrepareRenamePlaceholder(buffer.range(struct[1].start, struct[1].end), struct[0])

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    def on_rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        buffer = server.text(params.text_document.uri)
        if buffer is None:
            return None
        try:
            words = symbols.rename(buffer, buffer.offset(params.position), params.new_name)
        except symbols.NotRenamed as error:
            raise JsonRpcInvalidParams(str(error)) from None
        edits = [types.TextEdit(buffer.range(word.start, word.end), params.new_name) for word in words]
        return types.WorkspaceEdit(changes={params.text_document.uri: edits})


def _actions(server: Session, buffer: Buffer, params: types.CodeActionParams) -> Iterator[types.CodeAction]:
    only = params.context.only
    findings = server.fixed(buffer.path)
    if _is_asked(types.CodeActionKind.QuickFix, only):
        yield from actions.quick_fixes(server.known, buffer, params.range, findings, server.uri)
        rules = server.rules(buffer.path)
        breaks, uri = server.breaks_of(buffer.path), server.uri(buffer.path)
        yield from actions.more(buffer, params.range, findings, rules, breaks, uri)
    if only and _is_asked(actions.FIX_ALL, only):  # editors ask for it by name, as on saving
        every = actions.fix_all(server.known, findings, server.uri)
        if every:
            yield every
    automatic = params.context.trigger_kind == types.CodeActionTriggerKind.Automatic
    if _is_asked(types.CodeActionKind.RefactorRewrite, only) and not automatic:  # their proof checks the whole set
        neighbours = server.neighbours(buffer)
        offset = buffer.offset(params.range.start)
        yield from actions.refactorings(server.known, buffer, offset, neighbours, server.uri)


def _is_asked(kind: str, only: Sequence[str] | None) -> bool:
    return not only or any(kind == name or kind.startswith(f"{name}.") for name in only)


def _linked(
    server: Session,
    params: types.DefinitionParams | types.ReferenceParams,
    selects: Callable[[symbols.StructName], bool],
) -> Iterator[types.Location]:
    """The names of the struct at a position that `selects` accepts; without a struct, the other message of the RPC."""
    buffer = server.text(params.text_document.uri)
    if buffer is None:
        return
    offset = buffer.offset(params.position)
    struct = symbols.struct_at(buffer, offset)
    if struct is None:
        yield from _other_half(server, buffer, offset)
        return
    for reference in symbols.structs(buffer)[struct[0]]:
        if selects(reference):
            yield types.Location(server.uri(buffer.path), buffer.range(reference.start, reference.end))


def _other_half(server: Session, buffer: Buffer, offset: int) -> Iterator[types.Location]:
    """The name of the other message of an RPC, in its file."""
    place = cursor.at(buffer, offset)
    if place is None:
        return
    path = symbols.other_half(buffer, place, server.neighbours(buffer))
    if path is None:
        return
    try:
        other = server.known.buffer(path)
    except SourceError:  # it has just gone
        return
    name = cursor.child(other.root, "name") if other.root else None
    where = other.range(name.start, name.end) if name else other.range(0, 0)
    yield types.Location(server.uri(path), where)
