"""The output of results: `--output-format F` to standard output, `F=FILE` to a file; and the exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from kiplint.cli.process import CLEAN, FINDINGS, USAGE, WorkflowLog, unguarded, use_color, warn
from kiplint.engine.errors import UsageError
from kiplint.render.formats import FORMATS, write
from kiplint.text.files import open_to_write
from kiplint.text.show import as_escape, printable
from kiplint.text.words import did_you_mean

if TYPE_CHECKING:
    from kiplint.render.report import Report, RunResult

CODES = {"ok": CLEAN, "findings": FINDINGS, "error": USAGE}
"""Exit codes by the status of a result."""


class Output(NamedTuple):
    """One report to write: its format, and the file, empty for standard output."""

    format: str
    file: str = ""


def open_outputs(texts: Sequence[str] | None, formats: Collection[str] = FORMATS) -> list[Output]:
    """The outputs that the options select; raises UsageError for an unknown format.

    The default is annotations under GitHub Actions and text elsewhere.
    """
    default = "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"
    outputs = []
    for text in texts or [default]:
        name, equals, file = text.partition("=")
        if name not in formats:
            hint = did_you_mean(name, formats) or f": there are {', '.join(formats)}"
            raise UsageError(f"there is no format {name}{hint}")
        if equals and not file:
            raise UsageError(f"--output-format {text}: no file after the equals sign")
        outputs.append(Output(name, file))
    if len([output for output in outputs if not output.file]) > 1:
        raise UsageError(
            "only one format can go to standard output; write the others to files, as in json=kiplint.json"
        )
    return outputs


def report(
    command: str, output_format: Sequence[str] | None, work: Callable[[], Report], formats: Collection[str] = FORMATS
) -> int:
    """Do the work of a command and write its report; an error goes to GitHub too where GitHub gets a report.

    `output_format` has the values of the option, which names some of the `formats`.
    """
    outputs = open_outputs(output_format, formats)
    try:
        result = work()
        _write_report(result, outputs)
    except BrokenPipeError:
        raise
    except Exception as error:
        _tell_github(command, str(error) or type(error).__name__, outputs)
        raise
    return finish(result)


def present_patch(result: RunResult, patch: bytes, notes: Sequence[str] = ()) -> int:
    """Write a patch to standard output in place of the result, and the notes to stderr.

    The patch is unchanged, but on a terminal everything is escaped that could act on it. The exit code is 1 when there
    is a patch.
    """
    if sys.stdout.isatty():
        text = patch.decode("utf-8", "replace")
        sys.stdout.write(printable(text, lambda char: char if char in "\t\n" else as_escape(char)))
    elif isinstance(sys.stdout, WorkflowLog):
        sys.stdout.write(patch.decode("utf-8", "replace"))
    else:
        unguarded(sys.stdout).write(patch)
    for note in notes:
        warn(note)
    return finish(result) or (FINDINGS if patch else CLEAN)


def present(result: RunResult, form: str) -> int:
    """Write a result in the format `form` to standard output."""
    write(form, result, sys.stdout, color=use_color(sys.stdout))
    return finish(result)


def finish(result: RunResult) -> int:
    """Print the notes, and warn of the files that could not be read; the exit code."""
    for note in result.notes:
        warn(note)
    for file in result.unparsable:
        warn(f"warning: {file} cannot be read, so it is {result.unparsable_are}; see `kiplint check`")
    return CODES[result.status]


def _write_report(result: Report, outputs: Sequence[Output]) -> None:
    """Write a result to all outputs; annotations go past the guard against commands in a log."""
    for output in outputs:
        if output.file:
            try:
                with open_to_write(output.file) as out:
                    write(output.format, result, out)
            except OSError as error:
                raise UsageError(f"cannot write {output.file}: {error.strerror}") from None
        elif output.format == "github":
            annotations = io.StringIO()
            write(output.format, result, annotations)
            unguarded(sys.stdout).write(annotations.getvalue().encode())
        else:
            write(output.format, result, sys.stdout, color=use_color(sys.stdout))
    if any(output.format == "github" for output in outputs):
        from kiplint.render.github import record

        record(result)
    if not result.findings and result.files and result.closing:
        with suppress(OSError):
            print(result.closing, file=sys.stderr)


def _tell_github(command: str, reason: str, outputs: Sequence[Output]) -> None:
    """Annotate an error that leaves no report, and record it in the summary, where GitHub gets a report."""
    if any(output.format == "github" for output in outputs):
        from kiplint.render.github import annotation_of_failure, record_failure

        if Output("github") in outputs:
            unguarded(sys.stdout).write(annotation_of_failure(command, reason).encode())
        record_failure(command, reason)
