"""A diff as a page: every RPC with its changes, their proofs, and layouts side by side."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from itertools import islice, zip_longest
from typing import Final, TextIO

from kiplint.compat.change import ChangeFinding, MessagePair
from kiplint.compat.classify import BREAKS, GRAVE
from kiplint.compat.grouping import ChangeGroup, group_changes
from kiplint.compat.proof import sentence
from kiplint.model.layout import layout, lines, unfolded_size
from kiplint.model.message import Message
from kiplint.render.page import Block, Cell, Filter, PageEntry, Row, Section, Table, Text, write_page
from kiplint.render.report import Verdict
from kiplint.versions import VersionRange

LOOKS: Final = {"wire": "error", "storage": "error", "support": "warning", "semantics": "info", "source": "info"}
"""The style of the number of changes by what they break; changes that break nothing have no style."""
MOST_LAYOUTS: Final = 6
"""The maximum number of versions of one message that are shown side by side."""
MOST_FIELDS: Final = 1_500
"""The maximum number of fields of a message that is shown side by side."""

ChangeEntry = tuple[ChangeFinding, MessagePair]
"""A change, and its message before and after."""


def write_diff_page(
    out: TextIO,
    titles: Sequence[str],
    changes: Iterable[ChangeEntry],
    accepted: Sequence[ChangeFinding],
    unparsable: Sequence[str],
    verdict: Verdict,
) -> None:
    """Write the page, the RPCs with the worst breaks first, and the accepted changes with their reasons.

    `titles` are those of the base and of the head.
    """
    entries = list(changes)
    rules = sorted({change.rule for change, _ in entries})
    present_breaks = {change.breaks for change, _ in entries}
    breaks = [kind for kind in BREAKS if kind in present_breaks]
    warnings = (
        [Text(f"Not compared, because it cannot be read: {', '.join(unparsable)}", "error")] if unparsable else []
    )
    filters = (Filter("breaks", breaks), Filter("rule", rules)) if entries else None
    blocks = [*_entries(entries)] or [Text("Nothing changed.")]
    sections = [Section("changes", "Changes", [*warnings, *blocks], filters)]
    if accepted:
        texts = [Text(f"{change.message}; accepted: {change.accepted}") for change in accepted]
        sections.append(Section("accepted", "Accepted", texts))
    old, new = titles
    write_page(out, command="diff", title=f"{old} to {new}", verdict=verdict, sections=sections)


def _entries(changes: Sequence[ChangeEntry]) -> Iterator[Block]:
    """An entry for what many RPCs have alike, for each RPC, and for each other message, the worst breaks first."""
    pairs = {id(change): messages for change, messages in changes}
    groups_by_name: defaultdict[str, list[ChangeGroup]] = defaultdict(list)
    groups = group_changes(change for change, _ in changes)
    for group in sorted(groups, key=lambda group: BREAKS.index(group.changes[0].breaks)):
        groups_by_name[group.name].append(group)
    for number, (name, groups) in enumerate(groups_by_name.items()):
        entries = {id(change): (change, pairs[id(change)]) for group in groups for change in group.changes}.values()
        counts = Counter(change.breaks for change, _ in entries)
        rules = dict.fromkeys(change.rule for change, _ in entries)
        keys = {message.api_key for _, (old, new) in entries if (message := new or old)}
        key = keys.pop() if len(keys) == 1 else None
        yield PageEntry(
            anchor=f"change-{number}",
            name=name,
            note=f"key {key}" if key is not None else "",
            tags=[
                Cell(f"{counts[kind]} {'added' if kind == 'none' else kind}", LOOKS.get(kind, ""))
                for kind in BREAKS
                if counts[kind]
            ],
            values={"breaks": " ".join(counts), "rule": " ".join(rules)},
            blocks=[*(block for group in groups for block in _paragraphs(group)), *_layout_tables(entries)],
        )


def _paragraphs(group: ChangeGroup) -> Iterator[Block]:
    """What changed, the lines below it, what it breaks and where, the rule, and the proof."""
    change = group.changes[0]
    yield Text(group.sentence, f"message {change.severity}")
    for line in group.lines:
        if line.change and line.is_notable:
            yield Text(line.text, f"message {line.change.severity}")
            yield Text(line.change.rule, "small", line.change.url)
        else:
            yield Text(line.text)
    breaks = "" if change.breaks == "none" else f"Breaks {change.breaks}. "
    yield Text(f"{breaks}{change.path}:{change.line}:{change.column}", "small")
    yield Text(change.rule, "small", change.url)
    for example in change.proof:
        yield Text(f"Proof: {sentence(example)}.", "proof")
    if change.direction:
        yield Text(f"Breaks {change.direction}.", "small")


def _layout_tables(group: Iterable[ChangeEntry]) -> Iterator[Block]:
    """The layouts before and after, side by side, of the lowest version of each of the first breaks of bytes."""
    messages_by_version: dict[tuple[str, int], tuple[Message, Message]] = {}
    for change, (old, new) in group:
        version = VersionRange.of_text(change.versions).lowest
        if change.breaks in GRAVE and old and new and version in old.valid and version in new.valid:
            messages_by_version.setdefault((change.message_name, version), (old, new))
    for (name, version), (old, new) in islice(messages_by_version.items(), MOST_LAYOUTS):
        rows = _layout_rows(old, new, version)
        if any(row.look for row in rows):  # equal rows have no look
            yield Table(f"{name} {version}", ("before", "bytes", "after", "bytes"), rows, "sides")


def _layout_rows(old: Message, new: Message, version: int) -> list[Row]:
    """The layouts of a version in both sets, row by row; empty for messages that are too large or recursive."""
    for message in (old, new):
        if message.cycles:
            return []
        size, _ = unfolded_size(message, MOST_FIELDS)
        if size > MOST_FIELDS:
            return []
    old_lines, new_lines = ([*lines(layout(message, version))] for message in (old, new))
    matcher = SequenceMatcher(None, old_lines, new_lines, autojunk=False)
    rows = []
    for operation, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        for old_line, new_line in zip_longest(old_lines[old_start:old_end], new_lines[new_start:new_end]):
            look = "" if operation == "equal" else _look(old_line, new_line)
            rows.append(Row((*_cells(old_line), *_cells(new_line)), look))
    return rows


LayoutLine = tuple[int, str, str, str]
"""A field in a layout: its depth, name, encoding and bytes, such as `(0, "Name", "compact string", "varint+")`."""


def _look(old: LayoutLine | None, new: LayoutLine | None) -> str:
    """The style of a changed row: `renamed` if only the name differs."""
    if old is None or new is None:
        return "changed"
    (old_depth, _, *old_encoding), (new_depth, _, *new_encoding) = old, new
    return "renamed" if (old_depth, old_encoding) == (new_depth, new_encoding) else "changed"


def _cells(line: LayoutLine | None) -> tuple[str, str]:
    """The field and its bytes; empty cells where only the other side has a field."""
    if line is None:
        return "", ""
    depth, name, encoding, width = line
    return f"{'  ' * depth}{name}  {encoding}", width
