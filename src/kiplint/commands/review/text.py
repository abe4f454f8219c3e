"""A review in text and in Markdown."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Final, TextIO

from kiplint.commands.diff.text import ENTRY_COLUMNS, proof, write_proofs, write_rows
from kiplint.commands.review.command import ReviewResult
from kiplint.compat.causes import Entry
from kiplint.compat.classify import GRAVE
from kiplint.compat.rollout import in_words
from kiplint.model.headers import HEADER_WITH_ID
from kiplint.render.markdown import inline, write_table, write_verdict
from kiplint.render.table import fold, title, width_of
from kiplint.render.text import excerpt, split_for_excerpts, write_finding_rows, write_fix_hints
from kiplint.text.words import plural

MOST_ENTRIES: Final = 20
MOST_ADDITIONS: Final = 8
"""How many findings and added changes Markdown shows: 60 lines in all are read."""


def write(result: ReviewResult, out: TextIO, *, color: bool) -> None:
    """Write the entries, and what is added; nothing when nothing changed."""
    width = width_of(out)
    entries = [entry for entry in result.findings if result.is_listed(entry)]
    excerpts, rows = split_for_excerpts(entries, lambda entry: entry.severity == "error" or entry.breaks in GRAVE)
    for entry in excerpts:
        out.write(excerpt(entry, result.sources.get(entry.path), color, width).rstrip() + "\n")
        for line in _also(entry):
            out.write("\n".join(fold(f"{' ' * len(str(entry.line))} = {line}", width)) + "\n")
        proofs = [proof(change, color, width) for change in entry.changes]
        out.write("".join(dict.fromkeys(proofs)) + "\n")  # changes of the same versions have the same proof
    write_finding_rows(rows, out, color=color)
    write_rows(result.additions, out, color=color)
    if result.rollout:
        lines = fold(f"  {in_words(result.rollout, HEADER_WITH_ID)}", width)
        out.write("\n".join([title("KIP-1313", color), *lines, "\n"]))
    if result.findings or result.additions:
        hint = " `kiplint explain RULE` explains a rule." if entries or result.additions else ""
        out.write("\n".join(fold(result.verdict.sentence + hint, width)) + "\n")
    write_fix_hints(result, out)


def write_markdown(result: ReviewResult, out: TextIO, *, color: bool) -> None:
    """Write a review as Markdown for pull requests and job summaries: at most 60 lines, unless `whole` is set."""
    write_verdict(result.verdict, out)
    entries = [entry for entry in result.findings if result.is_listed(entry)]
    most_entries = len(entries) if result.whole else MOST_ENTRIES
    if entries:
        write_table(ENTRY_COLUMNS, map(_cells, entries[:most_entries]), out)
    out.write(_more(len(entries) - most_entries, "finding"))

    proofs = io.StringIO()
    write_proofs((change for entry in entries for change in entry.changes), proofs)
    if result.whole or proofs.getvalue().count("\n") <= MOST_ENTRIES:  # longer proofs are left out
        out.write(proofs.getvalue())

    most_additions = len(result.additions) if result.whole else MOST_ADDITIONS
    if result.additions:
        out.write("\nBreaks nothing:\n\n")
    for change in result.additions[:most_additions]:
        out.write(f"- {inline(change.message)}\n")
    out.write(_more(len(result.additions) - most_additions, "change"))

    if result.rollout:
        sentence = in_words(result.rollout, HEADER_WITH_ID)
        out.write(f"\nKIP-1313: {inline(sentence)} `kiplint rollout` lists the RPCs.\n")


def _more(number: int, noun: str) -> str:
    """The line about the findings or changes that are not listed; empty where the number is not positive."""
    return f"\n{plural(number, f'more {noun}')}: `kiplint review --all` lists them.\n" if number > 0 else ""


def _cells(entry: Entry) -> tuple[str, ...]:
    """The cells of the columns `ENTRY_COLUMNS`."""
    breaks = "" if entry.breaks == "none" else entry.breaks
    return entry.severity, breaks, entry.rule, f"{entry.path}:{entry.line}", "; ".join([entry.summary, *_also(entry)])


def _also(entry: Entry) -> Iterator[str]:
    """The other findings of the same cause, in a line each."""
    for finding in entry.also:
        yield f"also {finding.rule}: {finding.message}"
