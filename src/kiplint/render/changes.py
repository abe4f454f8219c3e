"""Changes in text and in Markdown: what breaks with its proof, and the rest below the names of RPCs and messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final, TextIO

from kiplint.compat.change import ChangeFinding
from kiplint.compat.classify import BREAKS, GRAVE
from kiplint.compat.proof import sentence
from kiplint.engine.finding import SEVERITIES
from kiplint.render.markdown import inline, write_table
from kiplint.render.table import DIM, SEVERITY, Cell, paint, table, title, width_of
from kiplint.render.text import excerpt
from kiplint.text.show import printable

ENTRY_COLUMNS: Final = ("severity", "breaks", "rule", "place", "what")


def write_changes(changes: Sequence[ChangeFinding], sources: Mapping[str, bytes], out: TextIO, *, color: bool) -> None:
    """Write the changes: the serious ones with their lines and proofs, the others below the names of RPCs."""
    width = width_of(out)
    for change in filter(_is_serious, changes):
        finding = excerpt(change, sources.get(change.path, b""), color, width)
        out.write(finding.rstrip() + "\n" + proof(change, color, width) + "\n")
    write_rows((change for change in changes if not _is_serious(change)), out, color=color)


def write_rows(changes: Iterable[ChangeFinding], out: TextIO, *, color: bool) -> None:
    """Write the changes as a line each, below the names of RPCs and messages."""
    sorted_changes = sorted(
        changes, key=lambda change: (change.rpc, BREAKS.index(change.breaks), change.rule, change.message_type)
    )
    for name, group in groupby(sorted_changes, key=attrgetter("rpc")):
        out.write(f"{title(name, color)}\n{_rows(list(group), color, width_of(out))}\n")


def write_change_table(changes: Sequence[ChangeFinding], out: TextIO) -> None:
    """Write a table of the changes, the worst first, and their proofs."""
    sorted_changes = sorted(changes, key=lambda item: (SEVERITIES.index(item.severity), BREAKS.index(item.breaks)))
    rows = (
        (
            change.severity,
            change.breaks.replace("none", "nothing"),
            change.rule,
            f"{change.path}:{change.line}",
            change.summary if _is_serious(change) else change.message,
        )
        for change in sorted_changes
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


def _is_serious(change: ChangeFinding) -> bool:
    """Whether a change is an error or breaks bytes: only then are its line, its proof and its advice shown."""
    return change.breaks in GRAVE or change.severity == "error"


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


def _rows(changes: Iterable[ChangeFinding], color: bool, width: int | None) -> str:
    """The changes of an RPC, a line each; the same change of its request and its response is one line.

    What the comments say of new versions is below, in a line each.
    """
    types_by_row: dict[tuple[str, str, str], list[str]] = {}
    notes_by_row: defaultdict[tuple[str, str, str], dict[str, list[str]]] = defaultdict(dict)  # and by note
    for change in changes:
        key = (change.severity, change.rule, change.below_heading)
        types = types_by_row.setdefault(key, [])
        if change.message_type in ("request", "response") and change.message_type not in types:
            types.append(change.message_type)
        for note in change.note.splitlines():
            notes_by_row[key].setdefault(note, []).append(change.message_type)
    rows: list[list[Cell]] = []
    for (severity, rule, text), types in types_by_row.items():
        rows.append([(severity, SEVERITY[severity]), (rule, ""), (_with_types(text, types), "")])
        for note, note_types in notes_by_row[severity, rule, text].items():
            owner = f"{note_types[0]}: " if len(types) > len(note_types) else ""
            rows.append([("", ""), ("", ""), (f"{owner}{note}", DIM)])
    return "".join(f"{line}\n" for line in table((), rows, color, width))


def _with_types(text: str, types: Sequence[str]) -> str:
    """`request and response are new` for the text ` is new`, `request: Name is new` for `: Name is new`.

    `types` are those of the messages that have the change; without any the text stands alone.
    """
    if len(types) > 1 and text.startswith(" is "):
        text = text.replace(" is ", " are ", 1)
    return f"{' and '.join(types)}{text}".lstrip(": ")
