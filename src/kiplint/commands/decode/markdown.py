"""Decoded bytes as Markdown: a table of frames, and one of what is wrong with them."""

from __future__ import annotations

from typing import TextIO

from kiplint.commands.decode.run import DecodeResult
from kiplint.render.markdown import inline, write_row
from kiplint.text.words import plural


def write(result: DecodeResult, out: TextIO, *, color: bool) -> None:
    """Write a result."""
    problems = [(entry, one) for entry in result.entries for one in entry.frame.problems]
    out.write(f"### {plural(len(result.entries), 'frame')}, {plural(len(problems), 'problem')}\n\n")
    if result.capture is not None:
        write_row(("API", "version", "requests", "responses"), out)
        write_row(["---"] * 4, out)
        for one in result.capture["by_api"]:
            write_row((inline(one["name"]), *(str(one[key]) for key in ("api_version", "requests", "responses"))), out)
        out.write("\n")
    if problems:
        write_row(("rule", "message", "byte", "field", "what"), out)
        write_row(["---"] * 5, out)
    for entry, problem in problems:
        name = f"{entry.frame.message} {entry.frame.version}"
        write_row(map(inline, (problem.rule, name, str(problem.offset), problem.path, problem.message)), out)
