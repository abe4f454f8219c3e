"""A diff as a page: every RPC with its versions, its changes with proofs, and layouts side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby, islice
from operator import attrgetter
from typing import Final, TextIO

from kiplint.commands.diff.run import DiffResult
from kiplint.compat.classify import BREAKS, GRAVE, ChangeFinding
from kiplint.compat.pairs import MessagePair
from kiplint.compat.proof import sentence
from kiplint.model.layout import layout, lines, unfolded_size
from kiplint.model.message import Message
from kiplint.render.page import Block, Cell, Filter, PageEntry, Row, Section, Table, Text, write_page
from kiplint.render.report import set_titles
from kiplint.versions import NONE, VersionRange, boundaries

LOOKS: Final = {"wire": "error", "storage": "error", "support": "warning", "semantics": "info", "source": "info"}
MEANINGS: Final = {
    "wire": "peers misread or refuse the bytes of a released version",
    "storage": "records that are on disk can no longer be read",
    "support": "versions or messages are no longer served; peers that need them fail",
    "semantics": "both sides read the bytes, but mean something else by them",
    "source": "the bytes stay the same; code that uses the generated classes has to change",
}
"""What it means that a change breaks something."""
MOST_LAYOUTS: Final = 6
"""How many versions of one message are shown side by side."""
MOST_FIELDS: Final = 1_500
"""How many fields a message may have that is shown side by side."""

Pairs = Mapping[int, MessagePair]
"""By id of a change: its message before and after."""


def write(result: DiffResult, out: TextIO, *, color: bool) -> None:
    """Write the page, the RPCs with the worst breaks first."""
    pairs = {id(change): pair for change, pair in zip(result.changes, result.pairs, strict=True)}
    rules = sorted({change.rule for change in result.changes})
    kinds = [breaks for breaks in BREAKS if any(change.breaks == breaks for change in result.changes)]
    filters = (Filter("breaks", kinds), Filter("rule", rules))
    unread = [Text(f"Cannot be read, so not compared: {', '.join(result.broken)}", "error")] if result.broken else []
    entries = list(_entries(result.changes, pairs)) or [Text(f"Nothing changed; {result.closing}.")]
    about = [Row((rule, result.rules[rule].why or result.rules[rule].title)) for rule in rules if rule in result.rules]
    old, new = set_titles(*result.sets[:2])
    changes = Section("changes", "Changes", [*unread, *entries], filters if result.changes else None)
    write_page(
        out,
        command="diff",
        title=f"{old} to {new}",
        verdict=result.verdict,
        sections=[changes, Section("rules", "Rules", [Table("Why", (), about, has_heads=True)])]
        if about
        else [changes],
    )


def _entries(changes: Sequence[ChangeFinding], pairs: Pairs) -> Iterator[Block]:
    """An entry for each RPC, and for each message outside of RPCs."""
    by_rpc = sorted(changes, key=lambda item: (item.rpc, BREAKS.index(item.breaks), item.message_type, item.rule))
    groups = [(name, list(group)) for name, group in groupby(by_rpc, key=attrgetter("rpc"))]
    groups.sort(key=lambda group: (BREAKS.index(group[1][0].breaks), group[0]))
    for number, (name, group) in enumerate(groups):
        counts = Counter(change.breaks for change in group)
        message = pairs[id(group[0])][1] or pairs[id(group[0])][0]
        yield PageEntry(
            anchor=f"change-{number}",
            name=name,
            note="" if message is None or message.api_key is None else f"key {message.api_key}",
            bar=_bar(group, pairs),
            tags=[
                Cell(f"{counts[what]} {what}" if what in LOOKS else f"{counts[what]} added", LOOKS.get(what, ""))
                for what in BREAKS
                if counts[what]
            ],
            values={"breaks": " ".join(counts), "rule": " ".join(dict.fromkeys(change.rule for change in group))},
            blocks=[*(block for change in group for block in _change(change)), *_layouts(group, pairs)],
        )


def _bar(group: Sequence[ChangeFinding], pairs: Pairs) -> list[Cell]:
    """The versions of the entry's first message, and what has become of them."""
    old, new = pairs[id(group[0])]
    kind = group[0].message_type
    was, now = (message.valid if message else NONE for message in (old, new))
    changed_versions = [
        VersionRange.of_text(change.versions)
        for change in group
        if change.breaks in GRAVE and change.message_type == kind
    ]
    cells = []
    for versions in boundaries([was, now, *changed_versions], was | now):
        version = versions.lowest
        if version not in was:
            look, meaning = "new", "new"
        elif version not in now:
            look, meaning = "dropped", "dropped"
        elif any(version in some for some in changed_versions):
            look, meaning = "changed", "with other bytes"
        else:
            look, meaning = "", "in both"
        cells.append(Cell(str(versions), look, f"{kind} {versions}: {meaning}"))
    return cells


def _change(change: ChangeFinding) -> Iterator[Block]:
    yield Text(change.message, f"message {change.severity}")
    breaks = f"Breaks {change.breaks}: {MEANINGS[change.breaks]}. " if change.breaks in MEANINGS else ""
    yield Text(f"{breaks}{change.path}:{change.line}:{change.column}", "small")
    yield Text(change.rule, "small", change.url)
    yield from (Text(f"Proof: {sentence(example)}.", "proof") for example in change.proof)


def _layouts(group: Sequence[ChangeFinding], pairs: Pairs) -> Iterator[Block]:
    """The layouts of the versions whose bytes change, before and after."""
    versions: dict[tuple[str, int], tuple[Message, Message, int]] = {}
    for change in group:
        old, new = pairs[id(change)]
        if change.breaks in GRAVE and old and new and change.versions:
            version = VersionRange.of_text(change.versions).lowest
            new_version = version if version in new.valid else new.valid.lowest
            if new_version >= 0 and version in old.valid and "version-dropped" not in change.rule:
                versions.setdefault((change.message_name, version), (old, new, new_version))
    for (name, version), (old, new, new_version) in islice(versions.items(), MOST_LAYOUTS):
        also = f", version {new_version} in the new set" if new_version != version else ""
        rows = sides(old, new, version, new_version)
        if any(row.look for row in rows):
            yield Table(f"{name} {version}{also}", ("before", "bytes", "after", "bytes"), rows, "sides")


def sides(old: Message, new: Message, version: int, new_version: int) -> list[Row]:
    """The layouts of a version in both sets, row by row; empty for messages that are too large or recursive."""
    if old.cycles or new.cycles or max(unfolded_size(side, MOST_FIELDS)[0] for side in (old, new)) > MOST_FIELDS:
        return []
    was, now = ([*lines(layout(message, at))] for message, at in ((old, version), (new, new_version)))
    rows = []
    for what, low, high, start, stop in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        for at in range(max(high - low, stop - start)):
            left = was[low + at] if low + at < high else None
            right = now[start + at] if start + at < stop else None
            is_renamed = left and right and (left[0], *left[2:]) == (right[0], *right[2:])
            look = "" if what == "equal" else "renamed" if is_renamed else "changed"
            rows.append(Row((*_side(left), *_side(right)), look))
    return rows


def _side(row: tuple[int, str, str, str] | None) -> tuple[str, str]:
    if row is None:
        return "", ""
    depth, name, encoding, size = row
    return f"{'  ' * depth}{name}  {encoding}", size
