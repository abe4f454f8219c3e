"""The versions of a message in two sets as one bar: which there are, flexible, unstable, new, changed, dropped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from typing import Any, NamedTuple, TextIO

import msgspec

from kiplint.codec.codec import Codec, UnusableLayout
from kiplint.commands.diff.result import change_object
from kiplint.commands.diff.run import DiffResult
from kiplint.commands.diff.text import HEADER, heading, sentence, summary_line
from kiplint.compat.judge import BREAKS, GRAVE, Judged
from kiplint.compat.witness import Witness
from kiplint.model.layout import layout, lines, unfolded
from kiplint.model.message import Message
from kiplint.render.page import Strip, Tally, anchors, set_title, strip, write_page
from kiplint.versions import NONE, VersionRange


def bar(old: Message | None, new: Message | None, changed: Sequence[VersionRange]) -> Strip:
    """The bar of a message; `changed` are the versions whose bytes changed."""
    was, now = (one.valid if one else NONE for one in (old, new))
    flexible = (old.flexible if old else NONE) & (was - now) | (new.flexible if new else NONE) & now
    unstable = _unstable(new) if new else NONE

    def tell(version: int) -> tuple[str, str]:
        looks = []
        if version not in was:
            looks.append("new")
        elif version not in now:
            looks.append("dropped")
        elif any(version in one for one in changed):
            looks.append("changed")
        looks += ["flexible"] * (version in flexible) + ["unstable"] * (version in unstable)
        return " ".join(looks), ", ".join(looks)

    return strip([was, now, flexible, unstable, *changed], was | now, tell)


def _unstable(message: Message) -> VersionRange:
    return VersionRange.of(message.valid.highest, message.valid.highest) if message.unstable and message.valid else NONE


MOST_ROWS, MOST_BYTES, MOST_TEXT = 40, 8, 40
"""How many values of a message are shown, how many bytes of each, and how many characters."""


class Value(NamedTuple):
    """One value with its place, bytes, field, encoding; `parts` where the two sides differ first."""

    offset: int
    bytes: str
    field: str
    type: str
    value: str
    parts: bool


class Lane(NamedTuple):
    """What one side makes of the bytes; `problem` is why it stops."""

    side: str
    title: str
    values: tuple[Value, ...]
    problem: str
    left_out: int


class Proof(NamedTuple):
    """An example message in words, and on both sides; no lanes for a break of headers."""

    told: str
    lanes: tuple[Lane, ...]


def proofs(change: Judged) -> list[Proof]:
    """The proofs of a change."""
    return [Proof(sentence(one), tuple(_lanes(change, one))) for one in change.proof]


def _lanes(change: Judged, one: Witness) -> Iterator[Lane]:
    old, new = change.change.messages
    sides = {"old": old, "new": new}
    writer, reader = sides[one.writer], sides[one.reader]
    if writer is None or one.read_as == HEADER or change.rule.endswith("/header-changed"):
        return
    data = bytes.fromhex(one.hex)
    yield _lane(one.writer, f"{one.writer} writes", writer, one, data)
    can_read = reader is not None and (one.read_as or one.field or one.rule is None or one.rule.startswith("codec/"))
    if reader is None or not reader.valid or not can_read or (one.rule or "").startswith("codec/unknown-"):
        yield Lane(one.reader, f"{one.reader} reads", (), str(one.read), 0)
    else:
        yield _lane(one.reader, f"{one.reader} reads", reader, one, data)


def _lane(side: str, title: str, message: Message, one: Witness, data: bytes) -> Lane:
    version = one.version if one.version in message.valid else message.valid.lowest
    try:
        found = Codec(message, version).decode(data, spans=True)
    except UnusableLayout as error:
        return Lane(side, title, (), str(error), 0)
    spans = [span for span in found.spans if span.length]
    values = tuple(
        Value(
            span.offset,
            _hex(data[span.offset : span.offset + span.length]),
            span.path or "-",
            span.type,
            _short(span.value),
            span.offset <= one.offset < span.offset + span.length,
        )
        for span in spans[:MOST_ROWS]
    )
    problem = found.problems[0].message if found.problems else ""
    return Lane(side, f"{title} {message.name} {version}", values, problem, max(0, len(spans) - MOST_ROWS))


def _hex(data: bytes) -> str:
    return data[:MOST_BYTES].hex(" ") + (" ..." if len(data) > MOST_BYTES else "")


def _short(value: object) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= MOST_TEXT else f"{text[: MOST_TEXT - 3]}..."


MOST_FIELDS = 1_500
"""How many fields a message may have that is laid side by side."""
AROUND = 2
"""How many equal rows stand before and after what differs."""

Row = tuple[int, str, str, str]
"""A field as it travels: depth, name, encoding, and the bytes that it takes."""


class Pair(NamedTuple):
    """Two rows beside each other: `same`, `renamed`, `changed`, `gone`, `new`, or so many `hidden` ones."""

    look: str
    was: Row | None = None
    now: Row | None = None
    hidden: int = 0


def sides(old: Message, new: Message, version: int, new_version: int) -> list[Pair]:
    """The layouts of a version in both sets; empty for messages that are too large, or hold themselves."""
    if max(unfolded(old, MOST_FIELDS)[0], unfolded(new, MOST_FIELDS)[0]) > MOST_FIELDS or old.cycles or new.cycles:
        return []
    was, now = (list(lines(layout(one, at))) for one, at in ((old, version), (new, new_version)))
    return list(_folded(list(_aligned(was, now))))


def _aligned(was: Sequence[Row], now: Sequence[Row]) -> Iterator[Pair]:
    for what, low, high, start, stop in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if what == "equal":
            yield from (Pair("same", one, one) for one in was[low:high])
            continue
        for at in range(max(high - low, stop - start)):
            left = was[low + at] if low + at < high else None
            right = now[start + at] if start + at < stop else None
            yield Pair(_look(left, right), left, right)


def _look(was: Row | None, now: Row | None) -> str:
    if was is None or now is None:
        return "new" if now else "gone"
    return "renamed" if (was[0], *was[2:]) == (now[0], *now[2:]) else "changed"


def _folded(pairs: list[Pair]) -> Iterator[Pair]:
    """The pairs without long runs of equal ones, of which only the ends are kept."""
    different = [at for at, one in enumerate(pairs) if one.look != "same"]
    kept = {near for at in different for near in range(at - AROUND, at + AROUND + 1)}
    hidden = 0
    for at, one in enumerate(pairs):
        if at in kept:
            if hidden:
                yield Pair("hidden", hidden=hidden)
            hidden = 0
            yield one
        else:
            hidden += 1
    if hidden:
        yield Pair("hidden", hidden=hidden)


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
        "commands/diff/page.html",
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
            there = version if version in new.valid else new.valid.lowest if new.valid else -1
            if there >= 0 and version in old.valid and "version-dropped" not in one.rule:
                seen.setdefault((one.message_name, version), (old, new, there))
    for (name, version), (old, new, there) in list(seen.items())[:MOST_LAYOUTS]:
        pairs = sides(old, new, version, there)
        if any(pair.look not in ("same", "hidden") for pair in pairs):
            also = f", version {there} in the new set" if there != version else ""
            yield Layouts(f"{name} {VersionRange.of(version, version)}{also}", pairs)
