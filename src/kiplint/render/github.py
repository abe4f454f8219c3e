"""GitHub Actions: annotations, the job summary as Markdown, and the outputs of the step."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from contextlib import suppress
from itertools import accumulate
from typing import TextIO

from msgspec.structs import replace

from kiplint.compat.change import ChangeFinding
from kiplint.engine.errors import UsageError
from kiplint.engine.finding import SEVERITIES, Finding, Severity
from kiplint.render.formats import write as write_in
from kiplint.render.markdown import inline
from kiplint.render.report import Report
from kiplint.text.files import open_to_write
from kiplint.text.show import printable
from kiplint.text.words import plural, tally

LIMIT = 10
"""The number of annotations of a level that GitHub shows."""
LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}


def write(report: Report, out: TextIO) -> None:
    """Write an annotation for each finding that GitHub shows, errors first; then how many are not shown."""
    limits = dict.fromkeys(SEVERITIES, LIMIT)
    if any(number > LIMIT for number in report.counts.values()):
        limits["info"] -= 1  # the last notice says how many are not shown
    hidden_counts: dict[str, int] = {}
    for severity in SEVERITIES:
        findings = [finding for finding in report.findings if finding.severity == severity]
        hidden_counts[severity] = len(findings[limits[severity] :])
        for finding in findings[: limits[severity]]:
            out.write(annotation(finding, report.path_in_repository(finding.path)) + "\n")
    for change in report.accepted[: max(0, limits["info"] - report.counts["info"])]:
        out.write(annotation(_as_notice(change), report.path_in_repository(change.path)) + "\n")
    if any(hidden_counts.values()):
        reason = f"GitHub shows {LIMIT} annotations of a level; the job summary and the other formats list all"
        text = f"{tally(hidden_counts, 'more ')} not shown: {reason}"
        out.write(f"::notice title=kiplint::{escape(text)}\n")


def _as_notice(change: ChangeFinding) -> Finding:
    """An accepted change as a finding that is shown as a notice."""
    text = f"{change.message}; accepted: {change.accepted}"
    return replace(change, severity="info", message=text, instead="", help="")


def annotation(finding: Finding, path: str) -> str:
    """The workflow command for a finding; `path` is that of its file in the repository, or empty without a file."""
    properties: dict[str, object] = {}
    if path:
        properties = {"file": path, "line": finding.line, "endLine": finding.end_line}
        if finding.line == finding.end_line:  # GitHub takes columns only within one line
            properties |= {"col": finding.column, "endColumn": finding.end_column}
    properties["title"] = finding.rule
    text = ",".join(f"{name}={escape_property(str(value))}" for name, value in properties.items())
    return f"::{LEVELS[finding.severity]} {text}::{escape(printable(finding.summary))}"


def escape(text: str) -> str:
    """Text as the data of a workflow command: on one line, without another command, and harmless to a terminal."""
    plain = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return printable(plain.replace("##[", "##\\u005b"))


def escape_property(text: str) -> str:
    """Text as a property's value of a workflow command, where colons and commas are escaped too."""
    return escape(text).replace(":", "%3A").replace(",", "%2C")


SUMMARY_LIMIT = 1 << 20
"""The number of bytes that GitHub accepts as the summary of one step."""

NOTE_SIZE = 200
"""The number of these bytes that are reserved for the note about omitted lines."""


def write_summary(report: Report, out: TextIO, max_bytes: int = SUMMARY_LIMIT) -> None:
    """Write the verdict and the table as Markdown, as far as `max_bytes` allows, and the number of omitted lines."""
    if max_bytes < NOTE_SIZE:
        return
    text = io.StringIO()
    text.write(f"## kiplint {report.command}\n\n")
    if report.status == "error":
        text.write("Something could not be read.\n\n")
    has_verdict = report.findings or report.always_has_verdict
    if not has_verdict:  # which would have the numbers
        text.write(f"{report.headline}.\n\n")
    write_in("markdown", report, text)
    lines = text.getvalue().splitlines(keepends=True)
    sizes = accumulate(len(line.encode()) for line in lines)
    count = sum(size <= max_bytes - NOTE_SIZE for size in sizes)  # how many of the first lines fit
    out.writelines(lines[:count])
    if count < len(lines):
        omitted_lines = plural(len(lines) - count, "more line")
        out.write(f"\n{omitted_lines} omitted: a job summary has at most {SUMMARY_LIMIT >> 20} MiB.\n")
    else:
        out.write("\n")


def step_outputs(report: Report) -> str:
    """The lines that set the outputs of the step: the counts of findings, and the status of the run."""
    counts = report.counts
    lines = [f"errors={counts['error']}", f"warnings={counts['warning']}", f"infos={counts['info']}"]
    return "\n".join([*lines, f"status={report.status}"]) + "\n"


SUMMARY, OUTPUT = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"
"""The environment variables with the paths of the job summary and of the step's outputs."""


def record(report: Report) -> None:
    """Append the report to the job summary, and its counts to the outputs of the step, where there are such files."""
    try:
        _append(SUMMARY, lambda out: write_summary(report, out, SUMMARY_LIMIT - out.tell()))
        _append(OUTPUT, lambda out: out.write(step_outputs(report)))
    except OSError as error:
        raise UsageError(f"cannot write {error.filename or 'for GitHub'}: {error.strerror}") from None


def annotation_of_failure(command: str, message: str) -> str:
    """The workflow command for an error that leaves no report."""
    return f"::error title=kiplint {command}::{escape(message)}\n"


def record_failure(command: str, message: str) -> None:
    """Append the error of a run that left no report to the job summary and to the outputs of the step."""
    with suppress(OSError):  # the error itself matters more than where it could not be written
        text = f"## kiplint {command}\n\nIt could not run: {inline(message)}\n\n"
        _append(SUMMARY, lambda out: out.write(text))
        _append(OUTPUT, lambda out: out.write("status=error\n"))


def _append(variable: str, write_text: Callable[[TextIO], object]) -> None:
    """Append text to the file that the environment variable names, if it is set."""
    path = os.environ.get(variable)
    if path:
        with open_to_write(path, append=True) as out:
            write_text(out)
