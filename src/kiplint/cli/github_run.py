"""What a run tells the GitHub workflow that it is part of, beside its annotations."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TextIO

from kiplint.engine.errors import UsageError
from kiplint.report.findings.github import escape
from kiplint.report.findings.github_summary import LIMIT, step_outputs, write_failure, write_summary
from kiplint.runs.result import Report
from kiplint.text.files import open_to_write

SUMMARY, OUTPUT = "GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"
"""The variables that name the file of the job summary and that of the step's outputs."""


def record(report: Report) -> None:
    """Append the report to the job summary, and its counts to the outputs of the step, where there are such files."""
    try:
        if report.findings or report.tells_nothing:
            _append(SUMMARY, lambda out: write_summary(report, out, LIMIT - out.tell()))
        _append(OUTPUT, lambda out: out.write(step_outputs(report)))
    except OSError as error:
        raise UsageError(f"cannot write {error.filename or 'for GitHub'}: {error.strerror}") from None


def record_failure(command: str, message: str, *, annotate: bool) -> None:
    """Say in the same places, and as an annotation if that is wanted, why there is no report."""
    if annotate:
        sys.stdout.write(f"::error title=kiplint {command}::{escape(message)}\n")
    with suppress(OSError):  # what is to be told matters more than that it cannot be told everywhere
        _append(SUMMARY, lambda out: write_failure(command, message, out))
        _append(OUTPUT, lambda out: out.write("status=error\n"))


def _append(variable: str, write: Callable[[TextIO], object]) -> None:
    if file := os.environ.get(variable):
        with open_to_write(file, append=True) as out:
            write(out)
