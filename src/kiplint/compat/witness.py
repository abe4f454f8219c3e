"""Whether two readers of the same bytes understand the same, value by value."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, NamedTuple

import msgspec

from kiplint.codec.codec import Codec, UnusableLayout
from kiplint.codec.values import UNKNOWN_TAGS, each_null, each_rich, each_tag, key_of, minimal, rich
from kiplint.codec.wire import Decoded, ValueSpan
from kiplint.compat.change import Change
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, unfolded
from kiplint.model.message import Message

UNKNOWN = "unknown tagged field"


class Reading(NamedTuple):
    """What one side makes of the bytes, and the layout that it reads them by."""

    body: Layout
    decoded: Decoded


class Difference(NamedTuple):
    """Where two readings part: what each has there, None where it has nothing."""

    offset: int
    one: ValueSpan | None
    other: ValueSpan | None


def first_difference(one: Reading, other: Reading, *, on_disk: bool) -> Difference | None:
    """The first value that the two readings, both without problems, do not share.

    Names may differ as long as neither side has the other's name at another place: that is a rename. Tags that only
    one side knows are passed over, unless it is known there under another tag or as a plain field.
    """
    left, right = deque(_values(one)), deque(_values(other))
    while left and right:
        if left[0].type == UNKNOWN or right[0].type == UNKNOWN:
            lost = _pass_over(left, right, one, other)
            if lost:
                return lost
            continue
        first, second = left.popleft(), right.popleft()
        if _is_other(first, second, on_disk=on_disk) or _has_moved(first.path, second.path, one.body, other.body):
            return Difference(first.offset, first, second)
    if left or right:
        rest = (left or right)[0]
        return Difference(rest.offset, rest if left else None, rest if right else None)
    return None


def _values(reading: Reading) -> list[ValueSpan]:
    return [span for span in reading.decoded.spans if span.length]


def _is_other(one: ValueSpan, other: ValueSpan, *, on_disk: bool) -> bool:
    if (one.offset, one.length) != (other.offset, other.length):
        return True
    kinds = {_kind(one), _kind(other)}
    if kinds == {"bytes", "records"} and not on_disk:
        kinds = {"bytes"}
    return len(kinds) > 1 or (_plain(one.value) != _plain(other.value))


def _kind(span: ValueSpan) -> str:
    """The encoding without what the bytes say themselves: compact or not, nullable or not, elements by their own."""
    words = [word for word in span.type.split() if word not in ("compact", "nullable")]
    if words[:2] == ["array", "of"]:
        return "array"
    return "struct" if words[0][:1].isupper() else " ".join(words)


def _plain(value: Any) -> Any:
    return None if value == {} else value


def _pass_over(left: deque[ValueSpan], right: deque[ValueSpan], one: Reading, other: Reading) -> Difference | None:
    """Take away a tag that one side does not know; gives what the other loses by that."""
    if left[0].type == UNKNOWN and right[0].type == UNKNOWN:
        left.popleft()
        right.popleft()
        return None
    unknown, known = (left, right) if left[0].type == UNKNOWN else (right, left)
    blind = one if unknown is left else other
    hidden = unknown.popleft()
    seen = known[0]
    while known and known[0].offset < hidden.offset + hidden.length:
        known.popleft()
    names = _names(seen.path)
    inside = _keys(blind.body, _names(hidden.path)[:-1])
    depth = len(_names(hidden.path)) - 1
    if depth < len(names) and names[depth] in inside:
        pair = (hidden, seen) if unknown is left else (seen, hidden)
        return Difference(hidden.offset, *pair)
    return None


def _has_moved(one: str, other: str, left: Layout, right: Layout) -> bool:
    """Whether a place belongs to fields that both sides know, but not to the same one."""
    names, others = _names(one), _names(other)
    for depth, (name, twin) in enumerate(zip(names, others, strict=False)):
        if UNKNOWN_TAGS in (name, twin) or name == twin:
            continue
        if name in _keys(right, others[:depth]) or twin in _keys(left, names[:depth]):
            return True
    return False


def _names(path: str) -> list[str]:
    return re.sub(r"\[\d+\]", "", path).split(".") if path else []


def _keys(body: Layout | None, names: list[str]) -> set[str]:
    """The names of the fields beside each other at a place."""
    for name in names:
        slots = (*body.slots, *(body.tags or ())) if body else ()
        body = next((slot.body for slot in slots if key_of(slot) == name), None)
    return {key_of(slot) for slot in (*body.slots, *(body.tags or ()))} if body else set()


Side = Literal["old", "new"]
MOST_TRIED = 400
"""How many examples are tried for one direction; the shortest come first."""


MOST_FIELDS_TRIED = 60_000
"""How many fields the examples may have all together, so that a message of thousands of fields comes to an end."""


class Witness(msgspec.Struct, frozen=True):
    """Bytes that one side writes and the other misreads or refuses.

    `offset` is where they part; `field`, `wrote` and `read` say what the writer put there and what the reader takes it
    for; a reader that refuses has the rule of its problem, and what it says in `read`.
    """

    version: int
    writer: Side
    outcome: Literal["misread", "refused"]
    hex: str
    value: dict[str, Any]
    offset: int
    field: str
    wrote: Any
    read_as: str
    read: Any
    rule: str | None = None

    @property
    def reader(self) -> Side:
        """The side that reads."""
        return "new" if self.writer == "old" else "old"


class Sample(NamedTuple):
    """A value to try, and the field that is special in it."""

    field: str
    value: dict[str, Any]


Tried = tuple[tuple[Sample, Witness], ...]
"""Examples that prove something, the shortest first, with what they prove."""


def witnesses(
    old: Message, new: Message, version: int, field: str = "", *, new_version: int | None = None
) -> tuple[Witness, ...]:
    """The best witness for each direction that has one, misreadings first; `new_version` is that of the new message.

    Best are those about the field (a path in the words of the schema), if it is given; then misreadings, then the
    shortest.
    """
    ways = _both_ways(old, new, version, version if new_version is None else new_version)
    wanted = [name[:1].lower() + name[1:] for name in field.split(".")] if field else []
    found = [_best(way, wanted) for way in ways]
    return tuple(sorted((one for one in found if one), key=lambda one: one.outcome != "misread"))


@lru_cache(maxsize=2)
def _both_ways(old: Message, new: Message, version: int, new_version: int) -> tuple[Tried, Tried]:
    """The examples of each side that the other misreads or refuses; changes of one message ask for them in a row."""
    one, other = Codec(old, version), Codec(new, new_version)
    return _one_way(one, other, "old"), _one_way(other, one, "new")


def _one_way(writer: Codec, reader: Codec, side: Side) -> Tried:
    try:
        tried = ((example, _try(writer, reader, side, example, data)) for example, data in _examples(writer))
        return tuple((example, found) for example, found in tried if found)
    except UnusableLayout:
        return ()


def _best(tried: Tried, wanted: list[str]) -> Witness | None:
    best: tuple[tuple[bool, bool, int], Witness] | None = None
    for example, found in tried:
        about = bool(wanted) and (_is_about(example.field, wanted) or _is_about(found.field, wanted))
        rank = (not about, found.outcome != "misread", len(found.hex))
        if best is None or rank < best[0]:
            best = (rank, found)
    return best[1] if best else None


def _examples(writer: Codec) -> list[tuple[Sample, bytes]]:
    """What to try, shortest first, each once."""
    found: dict[bytes, Sample] = {}
    size, _ = unfolded(writer.message, MOST_FIELDS_TRIED)
    some = islice(_sample_values(writer.body), max(1, MOST_FIELDS_TRIED // max(size, 1)))
    for example in (*some, Sample("", rich(writer.body))):
        data, problems = writer.encode(example.value)
        if not problems:
            found.setdefault(data, example)
    ordered = sorted(found.items(), key=lambda item: len(item[0]))
    return [(example, data) for data, example in ordered[:MOST_TRIED]]


def tries_all(message: Message, version: int) -> bool:
    """Whether all examples of one version are tried, or only the shortest, as there are too many."""
    size, _ = unfolded(message, MOST_FIELDS_TRIED)
    most = min(MOST_TRIED, max(1, MOST_FIELDS_TRIED // max(size, 1)))
    return next(islice(_sample_values(Codec(message, version).body), most, None), None) is None


def _sample_values(body: Layout) -> Iterator[Sample]:
    yield Sample("", minimal(body))
    for variants in (each_null(body), each_tag(body), each_rich(body)):
        yield from (Sample(path, value) for path, value in variants)


def _try(writer: Codec, reader: Codec, side: Side, example: Sample, data: bytes) -> Witness | None:
    """The witness that an example is, if it is one."""
    read = reader.decode(data)
    if read.problems:
        problem = read.problems[0]
        wrote = writer.decode(data, spans=True)
        at = _at(wrote.spans, problem.offset)
        said = (at.path if at else example.field, at.value if at else None)
        return Witness(
            writer.version, side, "refused", data.hex(), example.value, problem.offset, *said, problem.path,
            problem.message, problem.rule,
        )  # fmt: skip
    own = Reading(writer.body, writer.decode(data, spans=True))
    theirs = Reading(reader.body, reader.decode(data, spans=True))
    parted = first_difference(own, theirs, on_disk=writer.message.is_record)
    if parted is None:
        return None
    one, other = parted.one, parted.other
    return Witness(
        writer.version, side, "misread", data.hex(), example.value, parted.offset, one.path if one else "",
        one.value if one else None, other.path if other else "", other.value if other else None,
    )  # fmt: skip


def _at(spans: tuple[ValueSpan, ...], offset: int) -> ValueSpan | None:
    """The value that stands at an offset."""
    return next((span for span in spans if span.offset <= offset < span.offset + span.length), None)


def _is_about(path: str, wanted: list[str]) -> bool:
    names = path.replace("]", "").replace("[", ".").split(".")
    plain = [name for name in names if not name.isdigit()]
    return bool(plain) and wanted[-1] in plain


WITHOUT_READER = {
    "message-removed": ("codec/unknown-message", "the new set has no such message"),
    "version-dropped": ("codec/unknown-version", "the new set does not have this version"),
    "api-key-changed": ("codec/unknown-api-key", "the new set has another API key for it"),
    "type-changed": ("codec/unknown-message", "the new set has no such message of this type"),
}
"""The changes after which the new side has nothing to read a message with: rule of the problem, and what to say."""
MOST_VERSIONS = 4
"""In how many intervals of versions a witness is looked for."""


def prove(change: Change) -> tuple[Witness, ...]:
    """A witness for each direction that has one; none for a change that leaves bytes as they are."""
    old, new = change.messages
    if change.name in WITHOUT_READER and old:
        return _unread(old, change.versions.lowest if change.versions else old.valid.lowest, change.name)
    if old is None or new is None:
        return ()
    if change.name == "header-changed":
        return _headed(old, new, change.versions.lowest)
    if change.versions.lowest not in old.valid or change.versions.lowest not in new.valid:
        # A coordinator's record type was the version of its key, and is its API key now.
        return witnesses(old, new, change.versions.lowest, change.field, new_version=new.valid.lowest)
    for low, high in change.versions.intervals[:MOST_VERSIONS]:
        for version in dict.fromkeys((low, high if high <= new.valid.highest else low)):
            if found := witnesses(old, new, version, change.field):
                return found
    return ()


def is_cut_short(change: Change) -> bool:
    """Whether a witness of a change that has none may be among the examples that are not tried."""
    old, new = change.messages
    if change.name in WITHOUT_READER or change.name == "header-changed" or old is None or new is None:
        return False
    version = change.versions.lowest
    known = [one for one in (old, new) if version in one.valid]
    try:
        return len(change.versions.intervals) > MOST_VERSIONS or not all(tries_all(one, version) for one in known)
    except UnusableLayout:
        return False


def _unread(old: Message, version: int, name: str) -> tuple[Witness, ...]:
    codec = Codec(old, version)
    try:
        value = minimal(codec.body)
        data, problems = codec.encode(value)
    except UnusableLayout:
        return ()
    rule, said = WITHOUT_READER[name]
    made = Witness(version, "old", "refused", data.hex(), value, 0, "", None, "", said, rule)
    return () if problems else (made,)


def _headed(old: Message, new: Message, version: int) -> tuple[Witness, ...]:
    """Witnesses with the header in front: header versions differ in bytes, or the sets have no message for them."""
    name = "RequestHeader" if old.type == "request" else "ResponseHeader"
    sides = [(side.schemas.by_name.get(name), header_of(side, version)) for side in (old, new)]
    heads = [Codec(head, number) for head, number in sides if head and number in head.valid]
    if len(heads) < 2:
        return ()
    found = [_one_headed(heads[0], heads[1], old, version, "old"), _one_headed(heads[1], heads[0], new, version, "new")]
    return tuple(one for one in found if one)


def _one_headed(writer: Codec, reader: Codec, message: Message, version: int, side: Side) -> Witness | None:
    """A header with the body behind it: the other header ends elsewhere, so that the body begins elsewhere."""
    body = Codec(message, version)
    value = minimal(writer.body)
    front, wrong = writer.encode(value)
    data, more = body.encode(minimal(body.body))
    read = reader.decode(front + data, whole=False)
    if wrong or more or (read.end == len(front) and not read.problems):
        return None
    said = read.problems[0].message if read.problems else f"the header ends at byte {read.end}, not {len(front)}"
    place = min(read.end, len(front))
    outcome: Literal["misread", "refused"] = "refused" if read.problems else "misread"
    rule = read.problems[0].rule if read.problems else None
    return Witness(version, side, outcome, (front + data).hex(), value, place, "", None, "header", said, rule)
