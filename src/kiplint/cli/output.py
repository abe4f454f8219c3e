"""The output of results: `--output-format F` to standard output, `F=FILE` to a file; and the exit code."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kiplint.cli.process import CLEAN, FINDINGS, USAGE, WorkflowLog, binary_stream, use_color, warn
from kiplint.engine.errors import UsageError
from kiplint.render.formats import FORMATS, write
from kiplint.render.github import annotation_of_failure, record, record_failure
from kiplint.text.files import open_to_write
from kiplint.text.show import as_escape, printable
from kiplint.text.words import did_you_mean

if TYPE_CHECKING:
    from kiplint.render.report import Report, RunResult

EXIT_CODES = {"ok": CLEAN, "findings": FINDINGS, "error": USAGE}
"""Exit codes by the status of a result."""


class Output(NamedTuple):
    """One report to write: its format, and the path of its file, None for standard output."""

    format: str
    file: str | None


def parse_outputs(values: Sequence[str], formats: Collection[str] = FORMATS) -> list[Output]:
    """The outputs that values of --output-format name, such as `json` and `sarif=kiplint.sarif`.

    Without values it is annotations under GitHub Actions, and text elsewhere. Raises UsageError for a format that is
    not one of `formats`.
    """
    default = "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"
    outputs = []
    for value in values or [default]:
        name, equals, file = value.partition("=")
        if name not in formats:
            hint = did_you_mean(name, formats) or f": there are {', '.join(formats)}"
            raise UsageError(f"there is no format {name}{hint}")
        if equals and not file:
            raise UsageError(f"--output-format {value}: the file name after = is missing")
        outputs.append(Output(name, file or None))
    if [output.file for output in outputs].count(None) > 1:
        raise UsageError(
            "only one format can go to standard output; write the others to files, for example json=kiplint.json"
        )
    return outputs


def report(
    command: str, output_format: Sequence[str] | None, work: Callable[[], Report], formats: Collection[str] = FORMATS
) -> int:
    """Run a command, write its report, and return the exit code.

    `output_format` has the values of that option, which name some of the `formats`. Where one of the outputs is for
    GitHub, an error is reported there too.
    """
    outputs = parse_outputs(output_format or (), formats)
    try:
        result = work()
        _write_report(result, outputs)
    except Exception as error:
        _tell_github(command, str(error) or type(error).__name__, outputs)
        raise
    return _finish(result)


def present_patch(result: RunResult, patch: bytes, notes: Sequence[str] = ()) -> int:
    """Write a patch to standard output in place of the result, and the notes to stderr; return the exit code.

    The patch is unchanged, except where it could act on a terminal or on a GitHub workflow. The exit code is that of
    the result, or 1 if that is 0 and there is a patch.
    """
    text = patch.decode("utf-8", "replace")
    if sys.stdout.isatty():
        sys.stdout.write(printable(text, lambda char: char if char in "\t\n" else as_escape(char)))
    elif isinstance(sys.stdout, WorkflowLog):
        sys.stdout.write(text)
    else:
        binary_stream(sys.stdout).write(patch)
    for note in notes:
        warn(note)
    return _finish(result) or (FINDINGS if patch else CLEAN)


def present(result: RunResult, output_format: str) -> int:
    """Write a result to standard output, and return the exit code."""
    write(output_format, result, sys.stdout, color=use_color(sys.stdout))
    return _finish(result)


def _finish(result: RunResult) -> int:
    """Print the notes of a result, and `warning: a.json cannot be read, so it is omitted`; return the exit code."""
    for note in result.notes:
        warn(note)
    for file in result.unparsable:
        warn(f"warning: {file} cannot be read, so it is {result.unparsable_are}; see `kiplint check`")
    return EXIT_CODES[result.status]


def _write_report(result: Report, outputs: Sequence[Output]) -> None:
    """Write a result to all outputs and, if one of them is for GitHub, to the files of the workflow step.

    Without findings, also print how many files were checked.
    """
    for output in outputs:
        if output.file:
            try:
                with open_to_write(output.file) as out:
                    write(output.format, result, out)
            except OSError as error:
                raise UsageError(f"cannot write {output.file}: {error.strerror}") from None
        elif output.format == "github":  # a WorkflowLog would escape the workflow commands
            annotations = io.StringIO()
            write(output.format, result, annotations)
            binary_stream(sys.stdout).write(annotations.getvalue().encode())
        else:
            write(output.format, result, sys.stdout, color=use_color(sys.stdout))
    if any(output.format == "github" for output in outputs):
        record(result)
    if not result.findings and result.closing:
        print(result.closing, file=sys.stderr)


def _tell_github(command: str, reason: str, outputs: Sequence[Output]) -> None:
    """If an output is for GitHub, report an error of a command in the job summary, and on stdout as an annotation."""
    if any(output.format == "github" for output in outputs):
        if Output("github", None) in outputs:
            binary_stream(sys.stdout).write(annotation_of_failure(command, reason).encode())
        record_failure(command, reason)
