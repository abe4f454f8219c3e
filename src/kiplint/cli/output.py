"""Where reports go: `--output-format F` to standard output, `--output-format F=FILE` to a file."""

from __future__ import annotations

import sys
from collections import Counter

import msgspec

from kiplint.cli.terminal import use_color
from kiplint.engine.errors import UsageError
from kiplint.report.formats import FORMATS, load
from kiplint.report.model import Report, plural
from kiplint.text.suggest import did_you_mean


class Output(msgspec.Struct, frozen=True):
    """One report to write: its format, the file (None for standard output), and whether to colour it."""

    format: str
    file: str | None
    color: bool


def open_outputs(asked: list[str], color: str) -> list[Output]:
    """The outputs that the options ask for; raises UsageError for a format that does not exist."""
    outputs = []
    for text in asked or ["text"]:
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


LISTS = ("text", "concise", "jsonl")  # they say nothing where nothing is wrong


def write_report(report: Report, outputs: list[Output], *, quiet: bool, statistics: bool) -> None:
    """Write a report in every format that is asked for; `quiet` keeps standard output empty."""
    for output in outputs:
        if output.file is None:
            if statistics and output.format == "text" and not quiet:
                sys.stdout.write(_statistics(report))
            elif not quiet and (output.format not in LISTS or report.findings or report.own):
                load(output.format)(report, sys.stdout, color=output.color)
            continue
        try:
            with open(output.file, "w", encoding="utf-8", newline="\n") as out:
                load(output.format)(report, out, color=output.color)
        except OSError as error:
            raise UsageError(f"cannot write {output.file}: {error.strerror}") from None
    if not quiet and not report.findings and sys.stderr.isatty():
        print(f"{plural(report.files, 'file')}, nothing found", file=sys.stderr)


def _statistics(report: Report) -> str:
    counts = Counter((finding.rule, finding.severity) for finding in report.findings)
    width = len(str(max(counts.values(), default=0)))
    rows = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return "".join(f"{count:>{width}}  {severity:<7}  {rule}\n" for (rule, severity), count in rows)
