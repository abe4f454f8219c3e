"""What a run tells the GitHub workflow that it is part of, beside its annotations."""

from __future__ import annotations

import os
import sys

from kiplint.engine.errors import UsageError
from kiplint.report.github import escape
from kiplint.report.github_summary import LIMIT, step_outputs, write_failure, write_summary
from kiplint.report.model import Report


def record(report: Report) -> None:
    """Append the report to the job summary, and its counts to the outputs of the step, where there are such files."""
    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        try:
            with open(file, "a", encoding="utf-8", newline="\n") as out:
                write_summary(report, out, LIMIT - out.tell())
        except OSError as error:
            raise UsageError(f"cannot write the job summary {file}: {error.strerror}") from None
    _set_outputs(step_outputs(report))


def record_failure(command: str, message: str, *, annotate: bool) -> None:
    """Say in the same places, and as an annotation if that is wanted, why there is no report."""
    if annotate:
        sys.stdout.write(f"::error title=kiplint {command}::{escape(message)}\n")
    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        with open(file, "a", encoding="utf-8", newline="\n") as out:
            write_failure(command, message, out)
    _set_outputs("status=error\n")


def _set_outputs(lines: str) -> None:
    if file := os.environ.get("GITHUB_OUTPUT"):
        try:
            with open(file, "a", encoding="utf-8", newline="\n") as out:
                out.write(lines)
        except OSError as error:
            raise UsageError(f"cannot write the outputs of the step {file}: {error.strerror}") from None
