"""What a run leaves for the rest of a GitHub workflow: a page for the job summary, and the outputs of the step."""

from __future__ import annotations

import io
from typing import TextIO, cast

from kiplint.report.findings.formats import write
from kiplint.report.kit.markdown import inline
from kiplint.runs.result import Report
from kiplint.text.words import plural

LIMIT = 1 << 20
"""How many bytes GitHub takes as the summary of one step."""

CLOSING = 200
"""How many of them are kept for saying that something was left out."""


class _Cut(io.TextIOBase):
    """Passes on what is written as long as it fits; counts the lines that come after that."""

    def __init__(self, out: TextIO, room: int) -> None:
        self._out, self._room = out, room
        self.left_out = 0

    def write(self, text: str) -> int:
        size = len(text.encode())
        if self.left_out or size > self._room:
            self.left_out += text.count("\n")
        else:
            self._room -= size
            self._out.write(text)
        return len(text)


def write_summary(report: Report, out: TextIO, room: int = LIMIT) -> None:
    """Write the counts and the whole table as Markdown: what fits into `room` bytes, and how much did not."""
    if room < CLOSING:
        return
    cut = _Cut(out, room - CLOSING)
    broken = "; something could not be read" if report.status == "error" else ""
    cut.write(f"## kiplint {report.command}\n\n{report.told}{broken}.\n\n{_mending(report)}")
    write("markdown", report, cast("TextIO", cut))
    if cut.left_out:
        out.write(f"\n{plural(cut.left_out, 'more line')} left out: a job summary holds {LIMIT >> 20} MiB.\n")
    else:
        cut.write("\n")


def _mending(report: Report) -> str:
    """How many findings kiplint can put right, and how; empty when there are none."""
    safe = sum(one.fix is not None and one.fix.applicability == "safe" for one in report.findings)
    unsafe = sum(one.fix is not None for one in report.findings) - safe
    parts = [f"`kiplint check --fix` mends {safe:,} of them"] if safe else []
    parts += [f"`--fix --unsafe-fixes` {unsafe:,} more"] if unsafe else []
    return f"{', '.join(parts)}.\n\n" if parts else ""


def write_failure(command: str, message: str, out: TextIO) -> None:
    """Write why there is no report."""
    out.write(f"## kiplint {command}\n\nIt could not run: {inline(message)}\n\n")


def step_outputs(report: Report) -> str:
    """The lines that set the outputs of the step: the counts, and how the run went."""
    counts = report.counts
    lines = [f"errors={counts['error']}", f"warnings={counts['warning']}", f"infos={counts['info']}"]
    return "\n".join([*lines, f"status={report.status}"]) + "\n"
