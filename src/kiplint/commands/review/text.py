"""A review in text and in Markdown."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final, TextIO, TypeVar

from kiplint.commands.diff.text import ENTRY_COLUMNS, proof, write_proofs, write_rows
from kiplint.commands.review.result import Entry, ReviewResult
from kiplint.compat.classify import GRAVE
from kiplint.compat.rollout import FAILING, closing
from kiplint.render.markdown import inline, write_table, write_verdict
from kiplint.render.table import fold, title, width_of
from kiplint.render.text import excerpt, split, write_fixable
from kiplint.render.text import write_rows as write_finding_rows
from kiplint.text.show import printable
from kiplint.text.words import plural

T = TypeVar("T")

MOST_ENTRIES: Final = 20
MOST_ADDITIONS: Final = 8
MOST_OF_PATCH: Final = 12
"""How many findings, added messages and lines of a patch Markdown shows: 60 lines in all are read."""


def write(result: ReviewResult, out: TextIO, *, color: bool) -> None:
    """Write the entries, and what is added; nothing when nothing changed."""
    width = width_of(out)
    entries = [entry for entry in result.findings if result.is_listed(entry)]
    excerpts, rows = split(entries, lambda entry: entry.severity == "error" or entry.breaks in GRAVE)
    for entry in excerpts:
        out.write(excerpt(entry, result.sources.get(entry.path), color, width).rstrip() + "\n")
        for line in _also(entry):
            out.write("\n".join(fold(f"{' ' * len(str(entry.line))} = {line}", width)) + "\n")
        for change in entry.changes:
            out.write(proof(change, color, width))
        out.write("\n")
    write_finding_rows(rows, out, color=color)
    write_rows(result.additions, out, color=color)
    if result.rollout:
        lines_of_rollout = [line for text in _rollout(result) for line in fold(f"  {printable(text)}", width)]
        out.write("\n".join([title("KIP-1313", color), *lines_of_rollout, "\n"]))
    if result.findings or result.additions:
        hint = " `kiplint explain RULE` explains a rule." if entries or result.additions else ""
        out.write("\n".join(fold(result.verdict.sentence + hint, width)) + "\n")
    write_fixable(result, out)


def write_markdown(result: ReviewResult, out: TextIO, *, color: bool) -> None:
    """Write it as Markdown of at most 60 lines, for a comment on a pull request and for the job summary."""
    write_verdict(result.verdict, out)
    entries = [entry for entry in result.findings if result.is_listed(entry)]
    listed, rest = _first(entries, MOST_ENTRIES, "finding", result)
    if listed:
        write_table(ENTRY_COLUMNS, map(_cells, listed), out)
    out.write(rest)
    proofs = io.StringIO()
    write_proofs((change for entry in entries for change in entry.changes), proofs)
    if result.whole or proofs.getvalue().count("\n") <= MOST_ENTRIES:
        out.write(proofs.getvalue())
    if result.additions:
        out.write("\nBreaks nothing:\n\n")
    additions = sorted(result.additions, key=attrgetter("rpc", "rule"))
    groups = [(name, [*changes]) for name, changes in groupby(additions, key=attrgetter("rpc"))]
    listed_groups, rest = _first(groups, MOST_ADDITIONS, "message", result)
    for name, changes in listed_groups:
        texts = dict.fromkeys(change.message for change in changes)
        out.write(f"- {inline(name)}: {inline('; '.join(texts))}\n")
    out.write(rest)
    if result.rollout:
        sentence, command = closing(result.rollout, 3), ""
        if any(row.status in FAILING for row in result.rollout):
            command = " `kiplint migrate kip-1313 PATH` writes what is missing."
        out.write(f"\nKIP-1313: {inline(sentence)}{command}\n")
    patch = result.patch.decode("utf-8", "replace")
    if patch.count("\n") > MOST_OF_PATCH:
        out.write("\n`kiplint review --fix` writes the fixes.\n")
    elif patch and printable(plain := re.sub(r"[\t\n]", " ", patch)) == plain:  # else it would not apply as it is shown
        out.write(f"\n{_fold(patch)}")


def _first(items: Sequence[T], most: int, what: str, result: ReviewResult) -> tuple[Sequence[T], str]:
    """The items to list, and a line about the others, if any."""
    if result.whole or len(items) <= most:
        return items, ""
    number = plural(len(items) - most, f"more {what}")
    return items[:most], f"\n{number}: `kiplint review --all` lists them.\n"


def _cells(entry: Entry) -> tuple[str, ...]:
    breaks = "" if entry.breaks == "none" else entry.breaks
    return entry.severity, breaks, entry.rule, f"{entry.path}:{entry.line}", "; ".join([entry.summary, *_also(entry)])


def _also(entry: Entry) -> Iterator[str]:
    """The other findings of the same cause, in a line each."""
    for finding in entry.also:
        yield f"also {finding.rule}: {finding.message}"


def _rollout(result: ReviewResult) -> list[str]:
    """The sentences about the rollout."""
    return [closing(result.rollout, 3), *(f"{row.name}: {row.message}" for row in result.lagging)]


def _fold(patch: str) -> str:
    """A patch as a collapsed block of Markdown, in a fence that no line of the patch can close."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", patch)), default=2))
    head = "What <code>kiplint review --fix</code> would change"
    return f"<details><summary>{head}</summary>\n\n{fence}diff\n{patch}{fence}\n\n</details>\n"
