"""Findings as editors show them."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from kiplint.engine.finding import Finding
from kiplint.engine.rule import Rule
from kiplint.runs.documented import url_of
from kiplint.server.buffer import Buffer

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
    buffer: Buffer, uri: str, findings: Iterable[Finding], rules: Iterable[Rule]
) -> types.PublishDiagnosticsParams:
    """All that is to be shown in a text, which takes the place of what was shown before."""
    urls = {one.id: url_of(one) for one in rules}
    shown = [diagnostic(one, buffer, urls.get(one.rule, "")) for one in findings if one.path == buffer.path]
    return types.PublishDiagnosticsParams(uri=uri, diagnostics=shown, version=buffer.version)


def refused(buffer: Buffer, uri: str, reason: str) -> types.PublishDiagnosticsParams:
    """The one thing to say where nothing can be checked, as for a configuration that cannot be read."""
    one = types.Diagnostic(buffer.range(0, 1), reason, severity=types.DiagnosticSeverity.Error, source=SOURCE)
    return types.PublishDiagnosticsParams(uri=uri, diagnostics=[one], version=buffer.version)
