"""A diff as a page: every RPC with its changes, their proofs, and layouts side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import groupby, islice, zip_longest
from typing import Final, TextIO

from kiplint.commands.diff.command import DiffResult
from kiplint.compat.change import MessagePair
from kiplint.compat.classify import BREAKS, GRAVE, ChangeFinding
from kiplint.compat.proof import sentence
from kiplint.model.layout import layout, lines, unfolded_size
from kiplint.model.message import Message
from kiplint.render.page import Block, Cell, Filter, PageEntry, Row, Section, Table, Text, write_page
from kiplint.render.report import set_titles
from kiplint.versions import VersionRange

LOOKS: Final = {"wire": "error", "storage": "error", "support": "warning", "semantics": "info", "source": "info"}
MOST_LAYOUTS: Final = 6
"""How many versions of one message are shown side by side."""
MOST_FIELDS: Final = 1_500
"""How many fields a message may have that is shown side by side."""

Entry = tuple[ChangeFinding, MessagePair]
"""A change, and its message before and after."""


def write(result: DiffResult, out: TextIO, *, color: bool) -> None:
    """Write the page, the RPCs with the worst breaks first."""
    rules = sorted({change.rule for change in result.changes})
    kinds = [breaks for breaks in BREAKS if any(change.breaks == breaks for change in result.changes)]
    unparsable = ", ".join(result.unparsable)
    warnings = [Text(f"Cannot be read, so not compared: {unparsable}", "error")] if unparsable else []
    entries = list(_entries([*zip(result.changes, result.pairs, strict=True)]))
    filters = (Filter("breaks", kinds), Filter("rule", rules)) if entries else None
    old, new = set_titles(*result.sets[:2])
    blocks = entries or [Text("Nothing changed.")]
    section = Section("changes", "Changes", [*warnings, *blocks], filters)
    write_page(out, command="diff", title=f"{old} to {new}", verdict=result.verdict, sections=[section])


def _entries(changes: Sequence[Entry]) -> Iterator[Block]:
    """An entry for each RPC, and for each message outside of RPCs."""

    def order(entry: Entry) -> tuple[str, int, str, str]:
        change, _ = entry
        return change.rpc, BREAKS.index(change.breaks), change.message_type, change.rule

    groups = [list(group) for _, group in groupby(sorted(changes, key=order), key=lambda entry: entry[0].rpc)]
    groups.sort(key=lambda group: (BREAKS.index(group[0][0].breaks), group[0][0].rpc))
    for number, group in enumerate(groups):
        counts = Counter(change.breaks for change, _ in group)
        first, (old, new) = group[0]
        message = new or old
        yield PageEntry(
            anchor=f"change-{number}",
            name=first.rpc,
            note="" if message is None or message.api_key is None else f"key {message.api_key}",
            tags=[
                Cell(f"{counts[what]} {what}" if what in LOOKS else f"{counts[what]} added", LOOKS.get(what, ""))
                for what in BREAKS
                if counts[what]
            ],
            values={"breaks": " ".join(counts), "rule": " ".join(dict.fromkeys(change.rule for change, _ in group))},
            blocks=[*(block for change, _ in group for block in _change(change)), *_layouts(group)],
        )


def _change(change: ChangeFinding) -> Iterator[Block]:
    yield Text(change.message, f"message {change.severity}")
    breaks = "" if change.breaks == "none" else f"Breaks {change.breaks}. "
    yield Text(f"{breaks}{change.path}:{change.line}:{change.column}", "small")
    yield Text(change.rule, "small", change.url)
    yield from (Text(f"Proof: {sentence(example)}.", "proof") for example in change.proof)


def _layouts(group: Sequence[Entry]) -> Iterator[Block]:
    """The layouts of the versions whose bytes change, before and after."""
    pairs: dict[tuple[str, int], tuple[Message, Message]] = {}
    for change, (old, new) in group:
        version = VersionRange.of_text(change.versions).lowest
        if change.breaks in GRAVE and old and new and version in old.valid and version in new.valid:
            pairs.setdefault((change.message_name, version), (old, new))
    for (name, version), (old, new) in islice(pairs.items(), MOST_LAYOUTS):
        rows = sides(old, new, version)
        if any(row.look for row in rows):
            yield Table(f"{name} {version}", ("before", "bytes", "after", "bytes"), rows, "sides")


def sides(old: Message, new: Message, version: int) -> list[Row]:
    """The layouts of a version in both sets, row by row; empty for messages that are too large or recursive."""
    if old.cycles or new.cycles or max(unfolded_size(side, MOST_FIELDS)[0] for side in (old, new)) > MOST_FIELDS:
        return []
    was, now = ([*lines(layout(message, version))] for message in (old, new))
    rows = []
    for what, low, high, start, stop in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        for left, right in zip_longest(was[low:high], now[start:stop]):
            is_renamed = left and right and (left[0], *left[2:]) == (right[0], *right[2:])
            look = "" if what == "equal" else "renamed" if is_renamed else "changed"
            cells = [("  " * row[0] + f"{row[1]}  {row[2]}", row[3]) if row else ("", "") for row in (left, right)]
            rows.append(Row((*cells[0], *cells[1]), look))
    return rows
