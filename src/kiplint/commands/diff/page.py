"""A diff as a page of HTML: every RPC with its versions, its changes with proofs, and layouts side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple, TextIO

from kiplint.codec.codec import Codec, UnusableLayout
from kiplint.codec.rows import ValueRow, value_rows
from kiplint.commands.diff.run import DiffResult
from kiplint.compat.change import MessagePair, Witness
from kiplint.compat.judge import BREAKS, GRAVE, ChangeFinding
from kiplint.compat.released import unstable_version
from kiplint.compat.witness import HEADER, sentence
from kiplint.model.layout import layout, lines, unfolded_size
from kiplint.model.message import Message
from kiplint.render.links import PagesBeside
from kiplint.render.page import Strip, Tally, anchors, set_titles, strip, to_pack, write_page
from kiplint.versions import NONE, VersionRange

MARKS = {"wire": "error", "storage": "error", "support": "warning", "semantics": "info", "source": "info", "none": ""}
TITLES = {"none": "adds"}
MEANINGS = {
    "wire": "peers misread or refuse the bytes of a released version",
    "storage": "records that are on disk can no longer be read",
    "support": "versions or messages are no longer served; peers that need them fail",
    "semantics": "both sides read the bytes, but mean something else by them",
    "source": "the bytes stay the same; code that uses the generated classes has to change",
}
"""What it means that a change breaks something."""
MOST_PROOFS = 200
"""The bytes of proofs are shown field by field up to the RPC with this one; later ones are sentences."""
MOST_LAYOUTS = 6
"""How many versions of one message are shown side by side."""


Pairs = Mapping[int, MessagePair]
"""By id of a change: its message before and after."""


class DiffEntry(NamedTuple):
    """An RPC, or a message outside of RPCs: its versions, how many changes break what, and the changes.

    A change has the anchor that links to it, its proofs, and the addresses of its layouts in pages of `show`, each with
    a word. Layouts of a version, before and after, have a title.
    """

    name: str
    anchor: str
    key: str
    bars: list[tuple[str, Strip]]
    counts: list[tuple[str, int]]
    mark: str
    changes: list[tuple[ChangeFinding, str, list[Proof], list[tuple[str, str]]]]
    layouts: list[tuple[str, list[Pair]]]

    @property
    def parts(self) -> list[dict[str, str]]:
        """What filters choose a change by, each once."""
        kinds = dict.fromkeys((change.breaks, change.rule) for change, *_ in self.changes)
        return [{"breaks": breaks, "rule": rule} for breaks, rule in kinds]


def write(result: DiffResult, out: TextIO, *, color: bool) -> None:
    """Write the page, the RPCs with the worst breaks first."""
    counts = Counter(change.breaks for change in result.changes)
    beside = PagesBeside(out)
    pairs = {id(change): pair for change, pair in zip(result.changes, result.pairs, strict=True)}
    entries = list(
        _entries(result.changes, pairs, lambda change: list(_layouts_beside(change, pairs, result.sets, beside)))
    )
    old, new = set_titles(*result.sets[:2])
    write_page(
        "commands/diff/page.html",
        out,
        subject=("diff", *result.sets),
        title=f"{old} to {new}",
        verdict=result.verdict,
        compared=result.messages,
        tallies=[Tally(what, TITLES.get(what, what), counts[what], MARKS[what]) for what in BREAKS],
        entries=entries,
        packed=to_pack(len(result.changes)),
        marks=MARKS,
        titles=TITLES,
        meanings=MEANINGS,
        rules=[(rule, rule) for rule in sorted({change.rule for change in result.changes})],
        about=result.rules,
        broken=result.broken,
        configuration=result.configuration,
    )


def _layouts_beside(
    change: ChangeFinding, pairs: Pairs, sets: tuple[str, ...], beside: PagesBeside
) -> Iterator[tuple[str, str]]:
    """The message of a change, before and after, in the pages of `show` that are beside the page."""
    version = VersionRange.of_text(change.versions).lowest
    for word, name, message in zip(("before", "after"), sets, pairs[id(change)], strict=False):
        if message is not None:
            (anchor,) = anchors([message.name])
            if address := beside.link("show", (name,), f"{anchor}@{version}", anchor):
                yield word, address


def _entries(
    changes: Sequence[ChangeFinding], pairs: Pairs, layouts_beside: Callable[[ChangeFinding], list[tuple[str, str]]]
) -> Iterator[DiffEntry]:
    sorted_changes = sorted(
        changes, key=lambda change: (change.rpc, BREAKS.index(change.breaks), change.message_type, change.rule)
    )
    groups = [(name, list(group)) for name, group in groupby(sorted_changes, key=attrgetter("rpc"))]
    groups.sort(key=lambda group: (BREAKS.index(group[1][0].breaks), group[0]))
    names = anchors([name for name, _ in groups])
    proven = 0
    for (name, group), anchor in zip(groups, names, strict=True):
        counts = Counter(change.breaks for change in group)
        proven += sum(len(change.proof) for change in group)
        old_message, new_message = pairs[id(group[0])]
        message = new_message or old_message
        places = anchors([f"{anchor}.{change.rule.rpartition('/')[2]}" for change in group])
        yield DiffEntry(
            name,
            anchor,
            "" if message is None or message.api_key is None else str(message.api_key),
            _bars(group, pairs),
            [(what, counts[what]) for what in BREAKS if counts[what]],
            MARKS[group[0].breaks],
            [
                (
                    change,
                    place,
                    proofs(change, pairs[id(change)])
                    if proven <= MOST_PROOFS
                    else [(sentence(witness), ()) for witness in change.proof],
                    layouts_beside(change),
                )
                for change, place in zip(group, places, strict=True)
            ],
            list(_layouts(group, pairs)),
        )


def _bars(group: Sequence[ChangeFinding], pairs: Pairs) -> list[tuple[str, Strip]]:
    """The bars of an entry's messages; request and response share one where theirs are equal."""
    by_type = {change.message_type: pairs[id(change)] for change in group}
    types: dict[Strip, list[str]] = {}
    for kind in sorted(by_type):
        grave = [
            VersionRange.of_text(change.versions)
            for change in group
            if change.breaks in GRAVE and change.message_type == kind
        ]
        types.setdefault(bar(*by_type[kind], grave), []).append(kind)
    return [(" and ".join(kinds), strip) for strip, kinds in types.items()]


def _layouts(group: Sequence[ChangeFinding], pairs: Pairs) -> Iterator[tuple[str, list[Pair]]]:
    """The layouts that changes of bytes concern, each version of a message once."""
    versions: dict[tuple[str, int], tuple[Message, Message, int]] = {}
    for change in group:
        old, new = pairs[id(change)]
        if change.breaks in GRAVE and old and new and change.versions:
            version = VersionRange.of_text(change.versions).lowest
            new_version = version if version in new.valid else new.valid.lowest
            if new_version >= 0 and version in old.valid and "version-dropped" not in change.rule:
                versions.setdefault((change.message_name, version), (old, new, new_version))
    for (name, version), (old, new, new_version) in list(versions.items())[:MOST_LAYOUTS]:
        rows = sides(old, new, version, new_version)
        if any(row.look not in ("same", "hidden") for row in rows):
            also = f", version {new_version} in the new set" if new_version != version else ""
            yield f"{name} {VersionRange.of(version, version)}{also}", rows


def bar(old: Message | None, new: Message | None, changed_versions: Sequence[VersionRange]) -> Strip:
    """The versions of a message in two sets; `changed_versions` are those whose bytes changed."""
    was, now = (message.valid if message else NONE for message in (old, new))
    flexible = (old.flexible if old else NONE) & (was - now) | (new.flexible if new else NONE) & now
    unstable = unstable_version(new) if new else NONE

    def look_and_meaning(version: int) -> tuple[str, str]:
        looks = []
        if version not in was:
            looks.append("new")
        elif version not in now:
            looks.append("dropped")
        elif any(version in versions for versions in changed_versions):
            looks.append("changed")
        looks += ["flexible"] * (version in flexible) + ["unstable"] * (version in unstable)
        return " ".join(looks), ", ".join(looks)

    return strip([was, now, flexible, unstable, *changed_versions], was | now, look_and_meaning)


MOST_ROWS = 40
"""How many values of a message are shown."""


class Lane(NamedTuple):
    """The values that one side reads in the bytes, the problem at which it stops, and how many values are left out."""

    title: str
    rows: Sequence[ValueRow]
    problem: str
    left_out: int = 0


Proof = tuple[str, tuple[Lane, ...]]
"""An example message as a sentence, and as both sides read it; no lanes for a break of headers."""


def proofs(change: ChangeFinding, messages: MessagePair) -> list[Proof]:
    """The proofs of a change of messages, before and after."""
    is_header = change.name == "header-changed"
    return [(sentence(proof), () if is_header else tuple(_lanes(messages, proof))) for proof in change.proof]


def _lanes(messages: MessagePair, witness: Witness) -> Iterator[Lane]:
    by_side = dict(zip(("old", "new"), messages, strict=True))
    writer, reader = by_side[witness.writer], by_side[witness.reader]
    if writer is None or witness.read_as == HEADER:
        return
    yield _lane(f"{witness.writer} writes", writer, witness)
    rule = witness.rule or ""
    can_read = witness.read_as or witness.field or not rule or rule.startswith("codec/")
    if reader is None or not reader.valid or not can_read or rule.startswith("codec/unknown-"):
        yield Lane(f"{witness.reader} reads", (), str(witness.read))
    else:
        yield _lane(f"{witness.reader} reads", reader, witness)


def _lane(title: str, message: Message, witness: Witness) -> Lane:
    """What a side makes of the bytes; the value in which the two sides differ first is the wrong one."""
    version = witness.version if witness.version in message.valid else message.valid.lowest
    data = bytes.fromhex(witness.hex)
    try:
        body = Codec(message, version).decode(data, spans=True)
    except UnusableLayout as error:
        return Lane(title, (), str(error))
    rows = value_rows(data, body.spans, [witness.offset], len(data))
    problem = body.problems[0].message if body.problems else ""
    return Lane(f"{title} {message.name} {version}", rows[:MOST_ROWS], problem, max(0, len(rows) - MOST_ROWS))


MOST_FIELDS = 1_500
"""How many fields a message may have that is shown side by side."""
AROUND = 2
"""How many equal rows stand before and after a different one."""

LayoutRow = tuple[int, str, str, str]
"""A field of a layout: depth, name, encoding, and bytes."""


class Pair(NamedTuple):
    """Two rows beside each other: `same`, `renamed`, `changed`, `gone`, `new`, or so many `hidden` ones."""

    look: str
    was: LayoutRow | None = None
    now: LayoutRow | None = None
    hidden: int = 0


def sides(old: Message, new: Message, version: int, new_version: int) -> list[Pair]:
    """The layouts of a version in both sets; empty for messages that are too large or recursive."""
    if old.cycles or new.cycles or max(unfolded_size(side, MOST_FIELDS)[0] for side in (old, new)) > MOST_FIELDS:
        return []
    was, now = (list(lines(layout(message, at))) for message, at in ((old, version), (new, new_version)))
    return list(_fold(list(_align(was, now))))


def _align(was: Sequence[LayoutRow], now: Sequence[LayoutRow]) -> Iterator[Pair]:
    for what, low, high, start, stop in SequenceMatcher(None, was, now, autojunk=False).get_opcodes():
        if what == "equal":
            yield from (Pair("same", row, row) for row in was[low:high])
            continue
        for at in range(max(high - low, stop - start)):
            old = was[low + at] if low + at < high else None
            new = now[start + at] if start + at < stop else None
            yield Pair(_look(old, new), old, new)


def _look(was: LayoutRow | None, now: LayoutRow | None) -> str:
    if was is None or now is None:
        return "new" if now else "gone"
    return "renamed" if (was[0], *was[2:]) == (now[0], *now[2:]) else "changed"


def _fold(pairs: list[Pair]) -> Iterator[Pair]:
    """The pairs; of a long run of equal ones only the ends are kept."""
    different = [at for at, pair in enumerate(pairs) if pair.look != "same"]
    positions = {near for at in different for near in range(at - AROUND, at + AROUND + 1)}
    for is_kept, group in groupby(enumerate(pairs), key=lambda item: item[0] in positions):
        run = [pair for _, pair in group]
        yield from run if is_kept else [Pair("hidden", hidden=len(run))]
