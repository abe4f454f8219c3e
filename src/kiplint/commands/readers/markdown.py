"""Readers as Markdown, for pull requests and job summaries."""

from __future__ import annotations

from typing import TextIO

from kiplint.commands.readers.run import ReadersResult
from kiplint.commands.readers.text import HEAD, groups, ignored, sentence
from kiplint.render.markdown import inline, write_row


def write(result: ReadersResult, out: TextIO, *, color: bool) -> None:
    """Write the sentence, the table, and what breaks where."""
    out.write(f"{inline(sentence(result))}\n\n")
    write_row(HEAD, out)
    write_row(["---"] * len(HEAD), out)
    for row in result.rows:
        counts = (row.reads, len(row.fails), len(row.misreads))
        write_row(map(inline, (row.profile.title, *(f"{count:,}" for count in counts), ignored(row) or "-")), out)
    broken = [row for row in result.rows if row.fails or row.misreads]
    if broken:
        out.write("\n")
    for row in broken:
        for said, found in groups((*row.fails, *row.misreads)):
            first = found[0].finding
            more = f" and {len(found) - 1:,} more" if len(found) > 1 else ""
            out.write(f"- {inline(f'{row.profile.title}: {said}: {first.path}:{first.span.line}{more}')}\n")
