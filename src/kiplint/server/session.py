"""The session of an editor: its open texts, and the findings in each."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInternalError, JsonRpcInvalidRequest, PyglsError
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.json_rpc import RPCMessage
from pygls.uris import from_fs_path, to_fs_path

from kiplint import __version__
from kiplint.compat.judge import Judged
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import Finding
from kiplint.engine.rule import Rule
from kiplint.render.report import url_of
from kiplint.server.base import Bases
from kiplint.server.buffer import Buffer
from kiplint.server.workspace import Neighbours, OpenFindings, Workspace
from kiplint.sources.schema_files import SourceError

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


def published(
    buffer: Buffer, uri: str, findings: Iterable[Finding], rules: Mapping[str, Rule]
) -> types.PublishDiagnosticsParams:
    """All that is to be shown in a text, which takes the place of what was shown before; `rules` by their ids."""
    shown = [
        diagnostic(finding, buffer, url_of(rules[finding.rule]) if finding.rule in rules else "")
        for finding in findings
    ]
    return types.PublishDiagnosticsParams(uri=uri, diagnostics=shown, version=buffer.version)


def refused(buffer: Buffer, uri: str, reason: str) -> types.PublishDiagnosticsParams:
    """The only diagnostic of a text that cannot be checked, such as for an unreadable configuration."""
    problem = types.Diagnostic(buffer.range(0, 1), reason, severity=types.DiagnosticSeverity.Error, source=SOURCE)
    return types.PublishDiagnosticsParams(uri=uri, diagnostics=[problem], version=buffer.version)


DELAY = 0.01
"""Seconds that a text has to rest before it is checked, so that a row of edits is checked once."""

LONGEST = 0.2
"""Seconds after which it is checked all the same."""

LONGEST_PATH = 4096
"""Bytes of a path, as systems have it: what is longer is none."""


class Protocol(LanguageServerProtocol):
    """The protocol, where what is JSON need not be a message."""

    def handle_message(self, message: RPCMessage) -> None:
        """Answer a message; raises JsonRpcInvalidRequest for what is none."""
        if not hasattr(message, "jsonrpc"):
            raise JsonRpcInvalidRequest("the input is JSON, but not a JSON-RPC message")
        super().handle_message(message)


class Session(LanguageServer):
    """What the server knows of one editor."""

    def __init__(self) -> None:
        super().__init__("kiplint", __version__, protocol_cls=Protocol)
        self.known = Workspace()
        self.uris: dict[str, str] = {}
        self.findings: dict[str, list[Finding]] = {}
        self.breaks: dict[str, Mapping[str, Judged]] = {}
        self._problem = ""
        self._shown: dict[str, tuple[Buffer, list[Finding], str]] = {}
        self._waiting: dict[str, tuple[asyncio.TimerHandle, float]] = {}

    def uri(self, path: str) -> str:
        """The name of a file as the editor gave it, else as its path makes it."""
        return self.uris.get(path) or from_fs_path(path) or path

    def report_server_error(self, error: Exception, source: type[PyglsError] | type[JsonRpcException]) -> None:
        """Report an internal error to the editor, unless reporting itself failed."""
        if source is not JsonRpcInternalError:
            super().report_server_error(error, source)

    def open(self, uri: str, text: str, version: int | None) -> None:
        """Take a text that the editor has opened."""
        path = path_of(uri)
        if path:
            self.uris[path] = uri
            self.known.encoding = self.workspace.position_encoding or "utf-16"
            self.known.put(Buffer(path, text, version, self.known.encoding))
            self.later(os.path.dirname(path))

    def neighbours(self, buffer: Buffer) -> Neighbours:
        """The definitions that a text stands among."""
        return self.known.neighbours(os.path.dirname(buffer.path))

    def text(self, uri: str) -> Buffer | None:
        """The text of that name, as far as it is open."""
        return self.known.buffers.get(path_of(uri))

    def close(self, uri: str) -> None:
        """Forget a text that the editor has closed, and take back what was shown in it."""
        path = path_of(uri)
        if path in self.known.buffers:
            self.known.drop(path)
            self.findings.pop(path, None)
            self.uris.pop(path, None)
            self._shown.pop(uri, None)
            self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, []))
            self.later(os.path.dirname(path))

    def reread(self, uri: str) -> None:
        """Handle a save: a text that was too large to follow its edits is read from disk again."""
        buffer = self.text(uri)
        if buffer and not buffer.fits:
            with suppress(SourceError):
                self.known.put(self.known.saved(buffer.path, buffer.version))

    def outdate(self) -> None:
        """Check the open texts again, after a change on disk."""
        self.known.forget()
        for directory in {os.path.dirname(path) for path in self.known.buffers}:
            self.later(directory)

    def later(self, directory: str) -> None:
        """Check the open texts of a directory when nothing has changed for a moment."""
        loop = asyncio.get_running_loop()
        waiting, since = self._waiting.get(directory, (None, loop.time()))
        if waiting:
            waiting.cancel()
        when = min(loop.time() + DELAY, since + LONGEST)
        self._waiting[directory] = (loop.call_at(when, self.check, directory), since)

    def rest(self) -> None:
        """Stop all checks: the editor is shutting down."""
        for waiting, _ in self._waiting.values():
            waiting.cancel()
        self._waiting.clear()

    def check(self, directory: str) -> None:
        """Check the open texts of a directory, and publish the findings of each."""
        waiting = self._waiting.pop(directory, None)
        if waiting:
            waiting[0].cancel()
        texts = self.known.opened(directory)
        if not texts:
            return
        try:
            result = self.known.check(directory)
            reason = ""
        except UsageError as error:
            result, reason = OpenFindings({}, {}), str(error)
        for buffer in texts:
            self.findings[buffer.path] = result.findings.get(buffer.path, [])
            self._show(buffer, reason)
        self.breaks[directory] = result.breaks
        if result.problem and result.problem != self._problem:
            text = f"kiplint: {result.problem}"
            self.window_show_message(types.ShowMessageParams(types.MessageType.Warning, text))
        self._problem = result.problem

    def _show(self, buffer: Buffer, reason: str) -> None:
        """Show the findings in a text, or the reason why it cannot be checked, unless nothing changed."""
        uri, findings = self.uri(buffer.path), self.findings[buffer.path]
        shown = (buffer, findings, reason)
        if self._shown.get(uri) != shown:
            self._shown[uri] = shown
            rules = self.rules(buffer.path)
            self.text_document_publish_diagnostics(
                refused(buffer, uri, reason) if reason else published(buffer, uri, findings, rules)
            )

    def findings_of(self, path: str) -> list[Finding]:
        """The findings in a text as it is now."""
        if os.path.dirname(path) in self._waiting:
            self.check(os.path.dirname(path))
        return self.findings.get(path, [])

    def fixed(self, path: str) -> list[Finding]:
        """The findings in a text as it is now, with their fixes."""
        changes = [finding for finding in self.findings_of(path) if finding.identity in self.breaks_of(path)]
        return [*self.known.fixed(path), *changes]

    def breaks_of(self, path: str) -> Mapping[str, Judged]:
        """By identity of its finding, each change that breaks something in the directory of a text."""
        return self.breaks.get(os.path.dirname(path), {})

    def compare_with(self, options: object) -> None:
        """Take the base from the settings of the editor, as in `{"base": "merge-base"}`; else nothing changes."""
        base = options.get("base") if isinstance(options, Mapping) else getattr(options, "base", None)
        if isinstance(base, str) and base and base != self.known.bases.setting:
            self.known.bases = Bases(base)
            self.outdate()

    def rules(self, path: str) -> Mapping[str, Rule]:
        """By id: the rules that run for a file; none where the configuration cannot be read."""
        try:
            return self.known.rules(os.path.dirname(path))
        except UsageError:
            return {}


def path_of(uri: str) -> str:
    """The path of a file by its URI; a name in angle brackets for a text without a file, empty for anything else."""
    if uri.startswith("untitled:"):
        return f"<{re.sub(r'[/:]', '_', uri[:LONGEST_PATH])}>"
    try:
        path = to_fs_path(uri) if uri.startswith("file:") else None
        known = bool(path) and len(os.fsencode(path or "")) <= LONGEST_PATH and "\0" not in (path or "")
    except ValueError:  # no URI, or letters that no path has
        return ""
    return path if path and known else ""
