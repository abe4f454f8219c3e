"""A diff as a page of HTML: each RPC with its bar of versions, what changed, layouts before and after, and proofs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple, TextIO

from kiplint.compat.changes.judge import BREAKS, GRAVE, Judged
from kiplint.model.message import Message
from kiplint.report.diff.bars import bar
from kiplint.report.diff.json import change_object
from kiplint.report.diff.lanes import Proof, proofs
from kiplint.report.diff.sides import Pair, sides
from kiplint.report.diff.text import heading, summary_line
from kiplint.report.kit.page import Tally, anchors, set_title, write_page
from kiplint.report.kit.strip import Strip
from kiplint.runs.diff import DiffResult
from kiplint.versions import VersionRange

MARKS = {"wire": "error", "storage": "error", "support": "warning", "semantics": "info", "source": "info", "none": ""}
TITLES = {"none": "adds"}
MOST_LAYOUTS = 6
"""How many versions of one message are laid side by side."""


class Told(NamedTuple):
    """A change as the JSON has it, the name by which it can be linked, and its proofs."""

    change: Mapping[str, Any]
    anchor: str
    proofs: list[Proof]


class Layouts(NamedTuple):
    """One version of a message before and after."""

    title: str
    pairs: list[Pair]


class Entry(NamedTuple):
    """An RPC, or a message that belongs to none: its versions, how many changes break what, and the changes."""

    name: str
    anchor: str
    key: str
    bars: list[tuple[str, Strip]]
    counts: list[tuple[str, int]]
    mark: str
    changes: list[Told]
    layouts: list[Layouts]


def write(result: DiffResult, out: TextIO, *, color: bool) -> None:
    """Write the page, what breaks most first."""
    counts = Counter(one.breaks for one in result.changes)
    entries = list(_entries(result.changes))
    rules = sorted({one.rule for one in result.changes})
    write_page(
        "diff.html",
        out,
        old=set_title(result.sets[0]),
        new=set_title(result.sets[1]),
        told=summary_line(result.changes, result.messages) if result.changes else "",
        compared=result.messages,
        tallies=[Tally(what, TITLES.get(what, what), counts[what], MARKS[what]) for what in BREAKS],
        entries=entries,
        marks=MARKS,
        titles=TITLES,
        rules=[(rule, rule) for rule in rules],
        about=result.rules,
        broken=result.broken,
    )


def _entries(changes: Sequence[Judged]) -> Iterator[Entry]:
    ordered = sorted(changes, key=lambda one: (heading(one), BREAKS.index(one.breaks), one.message_type, one.rule))
    groups = [(name, list(some)) for name, some in groupby(ordered, key=heading)]
    groups.sort(key=lambda group: (BREAKS.index(group[1][0].breaks), group[0]))
    names = anchors([name for name, _ in groups])
    for (name, group), anchor in zip(groups, names, strict=True):
        counts = Counter(one.breaks for one in group)
        message = group[0].change.message
        places = anchors([f"{anchor}.{one.rule.rpartition('/')[2]}" for one in group])
        yield Entry(
            name,
            anchor,
            "" if message.api_key is None else str(message.api_key),
            _bars(group),
            [(what, counts[what]) for what in BREAKS if counts[what]],
            MARKS[group[0].breaks],
            [Told(change_object(one), place, proofs(one)) for one, place in zip(group, places, strict=True)],
            list(_layouts(group)),
        )


def _bars(group: Sequence[Judged]) -> list[tuple[str, Strip]]:
    """A bar for each message of an entry; one for request and response where these are alike."""
    pairs = {one.change.message.type: one.change.messages for one in group}
    made: dict[Strip, list[str]] = {}
    for kind in sorted(pairs):
        grave = [one.change.versions for one in group if one.breaks in GRAVE and one.message_type == kind]
        made.setdefault(bar(*pairs[kind], grave), []).append(kind)
    return [(" and ".join(kinds), one) for one, kinds in made.items()]


def _layouts(group: Sequence[Judged]) -> Iterator[Layouts]:
    """The layouts around the changes that break bytes, each version of a message once."""
    seen: dict[tuple[str, int], tuple[Message, Message, int]] = {}
    for one in group:
        old, new = one.change.messages
        if one.breaks in GRAVE and old and new and one.change.versions:
            version = one.change.versions.lowest
            there = version if new.valid.covers(version) else new.valid.lowest if new.valid else -1
            if there >= 0 and old.valid.covers(version) and "version-dropped" not in one.rule:
                seen.setdefault((one.message_name, version), (old, new, there))
    for (name, version), (old, new, there) in list(seen.items())[:MOST_LAYOUTS]:
        pairs = sides(old, new, version, there)
        if any(pair.look not in ("same", "hidden") for pair in pairs):
            also = f", version {there} in the new set" if there != version else ""
            yield Layouts(f"{name} {VersionRange.of(version, version)}{also}", pairs)
