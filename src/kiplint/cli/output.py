"""Where results go: `--output-format F` to standard output, `--output-format F=FILE` to a file; and the exit code.

With `--open` a page of HTML goes to a file, its own where none is named, and is shown in the browser.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import msgspec

from kiplint.cli.groups import Reporting
from kiplint.cli.process import CLEAN, FINDINGS, USAGE, describe, use_color, warn
from kiplint.engine.errors import UsageError
from kiplint.render.formats import format_names, write
from kiplint.text.files import open_to_write
from kiplint.text.show import as_escape, printable
from kiplint.text.words import did_you_mean, plural

if TYPE_CHECKING:
    from kiplint.commands.check.run import CheckResult
    from kiplint.render.report import Report, RunResult

CODES = {"ok": CLEAN, "findings": FINDINGS, "error": USAGE}
"""Exit codes by the status of a result."""

PAGE = "html"


class Output(msgspec.Struct, frozen=True):
    """One report to write: its format, the file (None for standard output), and whether to colour it.

    One that is `opened` goes to a file of its own where none is named.
    """

    format: str
    file: str | None
    color: bool
    opened: bool = False

    @property
    def is_out(self) -> bool:
        """Whether it goes to standard output."""
        return self.file is None and not self.opened


def report(command: str, asked: Reporting, work: Callable[[], Report], *, statistics: bool = False) -> int:
    """Do the work of a command and write what it found; when it fails, GitHub is told too if it is to get a report."""
    outputs = open_outputs(asked)
    try:
        result = work()
        _write_report(result, outputs, quiet=asked.quiet, statistics=statistics)
    except BrokenPipeError:
        raise
    except Exception as error:
        github = [output for output in outputs if output.format == "github"]
        if github:
            from kiplint.render.findings.github import record_failure

            annotate = any(output.is_out for output in github)
            record_failure(command, describe(error) or type(error).__name__, annotate=annotate)
        raise
    for note in result.notes if not asked.quiet else ():
        warn(note)
    return finish(result)


def report_patch(asked: Reporting, work: Callable[[], CheckResult], found: Callable[[], CheckResult]) -> int:
    """Write the patch of a check to standard output, and what is `found` in the files as they are to files.

    The exit code is 1 when there is a patch.
    """
    outputs = open_outputs(asked)
    for one in outputs:
        if asked.output_format and one.is_out and one.format != "text":
            raise UsageError(
                f"with --diff the patch goes to standard output; write the report to a file: "
                f"--output-format {one.format}=FILE"
            )
    result = work()
    written = [one for one in outputs if not one.is_out]
    if written:
        _write_report(found(), written, quiet=asked.quiet, statistics=False)
    if not asked.quiet:
        write_bytes(result.patch or b"")
        for note in result.notes:
            warn(note)
    return FINDINGS if result.patch else CLEAN


def present_patch(result: RunResult, patch: bytes) -> int:
    """Write a patch to standard output in place of the result."""
    write_bytes(patch)
    return finish(result)


def write_bytes(data: bytes) -> None:
    """Write bytes as they are to what keeps them; on a terminal nothing in them acts."""
    sys.stdout.flush()
    if sys.stdout.isatty():
        shown = (printable(line, _but_tabs) for line in data.decode("utf-8", "replace").split("\n"))
        sys.stdout.write("\n".join(shown))
        return
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def _but_tabs(char: str) -> str:
    return char if char == "\t" else as_escape(char)


def present(result: RunResult, form: str, color: str, *, opened: bool = False) -> int:
    """Write a result that is no list of findings to standard output, or have its page `opened` in the browser."""
    if opened:
        from kiplint.cli.opening import open_page

        open_page(result.command, lambda out: write("html", result, out))
    if not opened or form not in ("text", "html"):
        write(form, result, sys.stdout, color=use_color(color, sys.stdout))
    for note in result.notes:
        warn(note)
    return finish(result)


def finish(result: RunResult) -> int:
    """Say what could not be read; the exit code."""
    for file in result.broken:
        warn(f"warning: {file} cannot be read, so it is {result.unread}; see `kiplint check`")
    return CODES[result.status]


def open_outputs(asked: Reporting) -> list[Output]:
    """The outputs that the options ask for; raises UsageError for a format that does not exist.

    Without any, annotations for GitHub where it runs us, and text elsewhere; only a page where that is to be opened.
    """
    usual = [PAGE] if asked.open else ["github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"]
    outputs = []
    for text in asked.output_format or usual:
        name, equals, file = text.partition("=")
        if name not in format_names():
            hint = did_you_mean(name, format_names()) or f": there are {', '.join(format_names())}"
            raise UsageError(f"there is no format {name}{hint}")
        if equals and not file:
            raise UsageError(f"--output-format {text}: no file after the equals sign")
        colored = asked.color == "always" if equals else use_color(asked.color, sys.stdout)
        outputs.append(Output(name, file or None, colored, asked.open and name == PAGE))
    if asked.open and not any(output.opened for output in outputs):
        outputs.append(Output(PAGE, None, False, opened=True))
    if len([output for output in outputs if output.is_out]) > 1:
        raise UsageError(
            "only one format can go to standard output; write the others to files, as in json=kiplint.json"
        )
    return outputs


def _write_report(result: Report, outputs: Sequence[Output], *, quiet: bool, statistics: bool) -> None:
    """Write a result in every format that is asked for; `quiet` keeps standard output empty."""
    for output in outputs:
        if output.is_out:
            if not quiet:
                _write_out(result, output, statistics)
            continue
        if output.file is not None:
            try:
                with open_to_write(output.file) as out:
                    write(output.format, result, out, color=output.color)
            except OSError as error:
                raise UsageError(f"cannot write {output.file}: {error.strerror}") from None
        if output.opened:
            from kiplint.cli.opening import open_page, show_page

            if output.file is not None:
                show_page(output.file, quiet=quiet)
            else:
                open_page(result.command, lambda out: write(PAGE, result, out), quiet=quiet)
    if any(output.format == "github" for output in outputs):
        from kiplint.render.findings.github import record

        record(result)
    if not quiet and not result.findings and sys.stderr.isatty():
        print(f"{plural(result.files, 'file')}, nothing found", file=sys.stderr)


def _write_out(result: Report, output: Output, statistics: bool) -> None:
    counted = statistics and output.format in ("text", "github")
    if not (counted and output.format == "text"):
        write(output.format, result, sys.stdout, color=output.color)
    if counted:
        sys.stdout.write(_statistics(result))


def _statistics(result: Report) -> str:
    counts = Counter((finding.rule, finding.severity) for finding in result.findings)
    width = len(str(max(counts.values(), default=0)))
    rows = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return "".join(f"{count:>{width}}  {severity:<7}  {rule}\n" for (rule, severity), count in rows)
