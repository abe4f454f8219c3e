"""The output of results: `--output-format F` to standard output, `F=FILE` to a file; and the exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

import msgspec

from kiplint.cli.options import FORMATS
from kiplint.cli.process import CLEAN, FINDINGS, USAGE, unguarded, use_color, warn
from kiplint.engine.errors import UsageError
from kiplint.render.formats import write
from kiplint.text.files import open_to_write
from kiplint.text.show import as_escape, printable
from kiplint.text.words import did_you_mean

if TYPE_CHECKING:
    from kiplint.commands.check.run import CheckResult
    from kiplint.render.report import Report, RunResult

CODES = {"ok": CLEAN, "findings": FINDINGS, "error": USAGE}
"""Exit codes by the status of a result."""


class Output(msgspec.Struct, frozen=True):
    """One report to write: its format, the file (None for standard output), and whether to colour it."""

    format: str
    file: str | None
    color: bool

    @property
    def is_out(self) -> bool:
        """Whether it goes to standard output."""
        return self.file is None


def report(
    command: str, output_format: Sequence[str] | None, work: Callable[[], Report], formats: Sequence[str] = FORMATS
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
        github = [output for output in outputs if output.format == "github"]
        if github:
            from kiplint.render.findings.github import annotation_of_failure, record_failure

            reason = str(error) or type(error).__name__
            if any(output.is_out for output in github):
                unguarded(sys.stdout).write(annotation_of_failure(command, reason).encode())
            record_failure(command, reason)
        raise
    for note in result.notes:
        warn(note)
    return finish(result)


def report_patch(
    output_format: Sequence[str] | None, work: Callable[[], CheckResult], check: Callable[[], CheckResult]
) -> int:
    """Write the patch that `work` makes to standard output, and the report of `check`, which fixes nothing, to files.

    The exit code is 1 when there is a patch.
    """
    outputs = open_outputs(output_format)
    for output in outputs:
        if output_format and output.is_out and output.format != "text":
            raise UsageError(
                f"with --diff the patch goes to standard output; write the report to a file: "
                f"--output-format {output.format}=FILE"
            )
    result = work()
    files = [output for output in outputs if not output.is_out]
    if files:
        _write_report(check(), files)
    write_bytes(result.patch or b"")
    for note in result.notes:
        warn(note)
    return FINDINGS if result.patch else CLEAN


def present_patch(result: RunResult, patch: bytes, notes: Sequence[str] = ()) -> int:
    """Write a patch to standard output in place of the result, and the notes to stderr.

    The exit code is 1 when there is a patch.
    """
    write_bytes(patch)
    for note in notes:
        warn(note)
    return finish(result) or (FINDINGS if patch else CLEAN)


def write_bytes(data: bytes) -> None:
    """Write bytes unchanged to a file or pipe; to a terminal with everything escaped that could act on it."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        text = data.decode("utf-8", "replace")
        sys.stdout.write(printable(text, lambda char: char if char in "\t\n" else as_escape(char)))
        return
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def present(result: RunResult, form: str, color: str) -> int:
    """Write a result in the format `form` to standard output."""
    write(form, result, sys.stdout, color=use_color(color, sys.stdout))
    for note in result.notes:
        warn(note)
    return finish(result)


def finish(result: RunResult) -> int:
    """Warn of the files that could not be read; the exit code."""
    for file in result.broken:
        warn(f"warning: {file} cannot be read, so it is {result.unread}; see `kiplint check`")
    return CODES[result.status]


def open_outputs(texts: Sequence[str] | None, formats: Sequence[str] = FORMATS) -> list[Output]:
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
        in_color = not equals and use_color("auto", sys.stdout)
        outputs.append(Output(name, file or None, in_color))
    if len([output for output in outputs if output.is_out]) > 1:
        raise UsageError(
            "only one format can go to standard output; write the others to files, as in json=kiplint.json"
        )
    return outputs


def _write_report(result: Report, outputs: Sequence[Output]) -> None:
    """Write a result to all outputs."""
    for output in outputs:
        if output.is_out:
            _write_out(result, output)
            continue
        _write_file(output, result)
    if any(output.format == "github" for output in outputs):
        from kiplint.render.findings.github import record

        record(result)
    if not result.findings and result.files and result.closing:
        with suppress(OSError):
            print(result.closing, file=sys.stderr)


def _write_file(output: Output, result: RunResult) -> None:
    """Write a result to the file of an output, if it has one. Raises UsageError."""
    if output.file is not None:
        try:
            with open_to_write(output.file) as out:
                write(output.format, result, out, color=output.color)
        except OSError as error:
            raise UsageError(f"cannot write {output.file}: {error.strerror}") from None


def _write_out(result: Report, output: Output) -> None:
    """Write a result to standard output; annotations go past the guard against commands in a log."""
    if output.format == "github":
        annotations = io.StringIO()
        write(output.format, result, annotations)
        unguarded(sys.stdout).write(annotations.getvalue().encode())
    else:
        write(output.format, result, sys.stdout, color=output.color)
