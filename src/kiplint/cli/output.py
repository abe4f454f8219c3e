"""Where reports go: `--output-format F` to standard output, `--output-format F=FILE` to a file."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache

import msgspec
from msgspec.structs import replace

from kiplint.cli.terminal import use_color
from kiplint.engine.errors import UsageError
from kiplint.report.findings.formats import FORMATS, load
from kiplint.report.findings.report import Report, Status
from kiplint.report.kit.words import plural
from kiplint.text.suggest import did_you_mean

STATUSES: tuple[Status, ...] = ("ok", "findings", "error")
"""By exit code."""


class Output(msgspec.Struct, frozen=True):
    """One report to write: its format, the file (None for standard output), and whether to colour it."""

    format: str
    file: str | None
    color: bool


def open_outputs(asked: list[str], color: str) -> list[Output]:
    """The outputs that the options ask for; raises UsageError for a format that does not exist.

    Without any, annotations for GitHub where it runs us, and text elsewhere.
    """
    outputs = []
    for text in asked or ["github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"]:
        name, equals, file = text.partition("=")
        if name not in FORMATS:
            hint = did_you_mean(name, FORMATS) or f": there are {', '.join(FORMATS)}"
            raise UsageError(f"there is no format {name}{hint}")
        if equals and not file:
            raise UsageError(f"--output-format {text}: no file after the equals sign")
        colored = color == "always" if equals else use_color(color, sys.stdout)
        outputs.append(Output(name, file or None, colored))
    if len([output for output in outputs if output.file is None]) > 1:
        raise UsageError(
            "only one format can go to standard output; write the others to files, as in json=kiplint.json"
        )
    return outputs


def attended(command: str, outputs: Sequence[Output], work: Callable[[], int]) -> int:
    """Do the work of a command; when it fails, GitHub is told too if it is to get a report."""
    try:
        return work()
    except BrokenPipeError:
        raise
    except Exception as error:
        github = [output for output in outputs if output.format == "github"]
        if github:
            from kiplint.cli.github_run import record_failure

            annotate = any(output.file is None for output in github)
            record_failure(command, str(error) or type(error).__name__, annotate=annotate)
        raise


def finished(report: Report, command: str, code: int, names: Sequence[str]) -> Report:
    """The report of a command that was given these SETs and will exit with this code."""

    @cache
    def place(path: str) -> str:
        from kiplint.cli.surroundings import in_repository

        return in_repository(path, names)

    return replace(report, command=command, status=STATUSES[code], in_repository=place)


LISTS = ("text", "concise", "jsonl")  # they say nothing where nothing is wrong


def write_report(report: Report, outputs: list[Output], *, quiet: bool, statistics: bool) -> None:
    """Write a report in every format that is asked for; `quiet` keeps standard output empty."""
    for output in outputs:
        if output.file is None:
            if not quiet:
                _write_out(report, output, statistics)
            continue
        try:
            with open(output.file, "w", encoding="utf-8", newline="\n") as out:
                load(output.format)(report, out, color=output.color)
        except OSError as error:
            raise UsageError(f"cannot write {output.file}: {error.strerror}") from None
    if any(output.format == "github" for output in outputs):
        from kiplint.cli.github_run import record

        record(report)
    if not quiet and not report.findings and sys.stderr.isatty():
        print(f"{plural(report.files, 'file')}, nothing found", file=sys.stderr)


def _write_out(report: Report, output: Output, statistics: bool) -> None:
    counted = statistics and output.format in ("text", "github")
    silent = output.format in LISTS and not report.findings and not report.own
    if not silent and not (counted and output.format == "text"):
        load(output.format)(report, sys.stdout, color=output.color)
    if counted:
        sys.stdout.write(_statistics(report))


def _statistics(report: Report) -> str:
    counts = Counter((finding.rule, finding.severity) for finding in report.findings)
    width = len(str(max(counts.values(), default=0)))
    rows = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return "".join(f"{count:>{width}}  {severity:<7}  {rule}\n" for (rule, severity), count in rows)
