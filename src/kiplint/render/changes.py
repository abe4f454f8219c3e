"""Changes in text and in Markdown: breaking changes with their proofs, then the rest by RPC and message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Final, TextIO

from kiplint.compat.change import ChangeFinding
from kiplint.compat.classify import BREAKS
from kiplint.compat.grouping import ChangeGroup, group_changes, is_serious
from kiplint.compat.proof import sentence
from kiplint.engine.finding import SEVERITIES, Severity
from kiplint.render.markdown import inline, write_table
from kiplint.render.table import DIM, SEVERITY, Cell, fold, paint, table, title, width_of
from kiplint.render.text import excerpt
from kiplint.text.show import printable

ENTRY_COLUMNS: Final = ("severity", "breaks", "rule", "place", "what")


def write_changes(changes: Iterable[ChangeFinding], sources: Mapping[str, bytes], out: TextIO, *, color: bool) -> None:
    """Write the changes: the serious ones with their lines and proofs, the others below the names of RPCs."""
    width = width_of(out)
    for name, groups in groupby(group_changes(changes), key=lambda group: (is_serious(group.changes[0]), group.name)):
        is_excerpt, heading = name
        if not is_excerpt:
            lines = table((), [row for group in groups for row in _rows(group)], color, width)
            out.write("\n".join([title(heading, color), *lines, "\n"]))
            continue
        for group in groups:
            change = group.changes[0]
            finding = excerpt(change, sources.get(change.path, b""), color, width).rstrip()
            lines = [text for line in group.lines for text in fold(f"  {line.text}", width, color, DIM)]
            out.write("\n".join([finding, *lines, proof(change, color, width), ""]))


def write_change_table(changes: Sequence[ChangeFinding], out: TextIO) -> None:
    """Write a table of the changes, the worst first, and their proofs."""

    def severity_of(group: ChangeGroup) -> Severity:
        return min((change.severity for change in group.changes), key=SEVERITIES.index)

    def order(group: ChangeGroup) -> tuple[int, int]:
        return SEVERITIES.index(severity_of(group)), BREAKS.index(group.changes[0].breaks)

    rows = (
        (
            severity_of(group),
            group.changes[0].breaks.replace("none", "nothing"),
            ", ".join(group.rules),
            f"{group.changes[0].path}:{group.changes[0].line}",
            in_one_line(group),
        )
        for group in sorted(group_changes(changes), key=order)
    )
    write_table(ENTRY_COLUMNS, rows, out)
    write_proofs(changes, out)


def write_proofs(changes: Iterable[ChangeFinding], out: TextIO) -> None:
    """Write the example messages that prove changes as a Markdown list, each once."""
    proofs = [
        f"{change.message_name}, {change.rule}: {text}"
        for change in changes
        for text in (*map(sentence, change.proof), *([f"breaks {change.direction}"] if change.direction else []))
    ]
    if proofs:
        items = (f"- {inline(text)}\n" for text in dict.fromkeys(proofs))
        out.write("\nProof, by example messages:\n\n" + "".join(items))


def in_one_line(group: ChangeGroup) -> str:
    """A group as one text, its lines behind it: `ProduceRequest: version 11 is new; Version 11 adds an error`."""
    first = group.changes[0]
    parts = [first.summary if is_serious(first) else group.sentence, *(line.text for line in group.lines)]
    return "; ".join(part.removesuffix(".") for part in parts)


def proof(change: ChangeFinding, color: bool, width: int | None) -> str:
    """The layouts before and after, the example messages, and the only direction that breaks.

    A line each, cut to the width of a terminal.
    """
    rows = []
    for label, side in (("before", change.old), ("after", change.new)):
        if "layout" in side:
            rows.append((label, side["layout"] or "nothing"))
    rows += [("proof", sentence(example)) for example in change.proof]
    if change.direction:
        rows.append(("breaks", change.direction))
    lines = ""
    for label, text in rows:
        line = f"  {label:>6}  {printable(text)}"
        if width is not None and len(line) > width:
            line = f"{line[: width - 1]}…"
        lines += line.replace(label, paint(label, DIM, color), 1) + "\n"
    return lines


def _rows(group: ChangeGroup) -> Iterator[list[Cell]]:
    """The rows of a group: its statement, and its lines, those that are more than infos with a severity and a rule."""
    first = group.changes[0]
    yield [(first.severity, SEVERITY[first.severity]), (first.rule, ""), (group.statement, "")]
    for line in group.lines:
        if line.change and line.is_notable:
            yield [(line.change.severity, SEVERITY[line.change.severity]), (line.change.rule, ""), (line.text, "")]
        else:
            yield [("", ""), ("", ""), (line.text, DIM)]
