"""A diff as a table in Markdown, for pull requests and job summaries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from kiplint.commands.diff.run import DiffResult
from kiplint.commands.diff.text import sentence, summary_line
from kiplint.compat.judge import BREAKS, Judged
from kiplint.engine.finding import SEVERITIES
from kiplint.render.markdown import inline, write_row


def write(result: DiffResult, out: TextIO, *, color: bool) -> None:
    """Write a result."""
    write_changes(result.changes, result.messages, out)


def write_changes(changes: Sequence[Judged], compared: int, out: TextIO) -> None:
    """Write what changed, the worst first; nothing when nothing did."""
    if not changes:
        return
    out.write(f"### {summary_line(changes, compared)}\n\n")
    write_row(("severity", "breaks", "rule", "place", "what"), out)
    write_row(["---"] * 5, out)
    for one in sorted(changes, key=lambda one: (SEVERITIES.index(one.severity), BREAKS.index(one.breaks))):
        breaks = one.breaks if one.breaks != "none" else "nothing"
        write_row(map(inline, (one.severity, breaks, one.rule, f"{one.path}:{one.span.line}", one.message)), out)
    proofs = [(one, witness) for one in changes for witness in one.proof]
    if proofs:
        out.write("\nProof, by example messages:\n\n")
    for one, witness in proofs:
        out.write(f"- {inline(f'{one.message_name}, {one.rule}: {sentence(witness)}')}\n")
