"""Witnesses: bytes that one side writes and the other misreads or refuses, which prove a break."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Annotated, Any, Final, Literal, NamedTuple

import msgspec
from msgspec import Meta

from kiplint.codec.codec import Codec, UnusableLayout
from kiplint.codec.values import (
    UNKNOWN_TAGS,
    each_high,
    each_null,
    each_rich,
    each_tag,
    key_of,
    minimal,
    number_values,
    rich,
)
from kiplint.codec.wire import DecodedBody, ValueSpan
from kiplint.compat.change import Change
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, unfolded_size
from kiplint.model.message import Message
from kiplint.text.show import printable

UNKNOWN = "unknown tagged field"
Side = Literal["old", "new"]
OTHER: Final[dict[Side, Side]] = {"old": "new", "new": "old"}
"""The side that reads what a side writes."""


class Witness(msgspec.Struct, frozen=True):
    """An example message that proves a break: bytes that one side writes and the other misreads or refuses."""

    reader: Side
    version: Annotated[int, Meta(description="The version of the message.")]
    writer: Side
    outcome: Literal["misread", "refused"]
    hex: Annotated[str, Meta(description="The bytes of the message, in hexadecimal digits.")]
    value: Annotated[dict[str, Any], Meta(description="The message, as `kiplint decode` shows it.")]
    offset: Annotated[int, Meta(ge=0, description="The first byte that the two sides read differently.")]
    field: Annotated[str, Meta(description="The field that the writer puts there; empty for none.")]
    wrote: Annotated[Any, Meta(description="The value that the writer puts there.")]
    read_as: Annotated[str, Meta(description="The field that the reader takes it for; empty for none.")]
    read: Annotated[Any, Meta(description="The value that the reader takes it for, or why it refuses.")]
    rule: Annotated[str | None, Meta(description="The rule that a refusing reader names.")] = None

    @property
    def shows(self) -> int:
        """How plainly it shows the break: 0 for another value or a failure, 2 for an empty value that is the same."""
        return 0 if self.outcome == "refused" or self.wrote != self.read else 2 - bool(self.wrote)


class Reading(NamedTuple):
    """The values that one side reads from the bytes, and the layout by which it reads."""

    body: Layout
    content: DecodedBody


class Difference(NamedTuple):
    """Where two readings differ first: the value that each has there, None where it has none."""

    offset: int
    left: ValueSpan | None
    right: ValueSpan | None


def first_difference(left: Reading, right: Reading, *, on_disk: bool) -> Difference | None:
    """The first value that the two readings, both without problems, do not share.

    Names may differ as long as neither side has the other's name at another place: that is a rename. Tags that only
    one side knows are skipped, unless the other side has the field under another tag or as a plain field.
    """
    lefts, rights = deque(_values(left)), deque(_values(right))
    while lefts and rights:
        if lefts[0].type == UNKNOWN or rights[0].type == UNKNOWN:
            difference = _skip_tag(lefts, rights, left, right)
            if difference:
                return difference
            continue
        first, second = lefts.popleft(), rights.popleft()
        if _is_other(first, second, on_disk=on_disk) or _has_moved(first.path, second.path, left.body, right.body):
            return Difference(first.offset, first, second)
    if lefts or rights:
        rest = (lefts or rights)[0]
        return Difference(rest.offset, rest if lefts else None, rest if rights else None)
    return None


def _values(reading: Reading) -> list[ValueSpan]:
    return [span for span in reading.content.spans if span.length]


def _is_other(left: ValueSpan, right: ValueSpan, *, on_disk: bool) -> bool:
    if (left.offset, left.length) != (right.offset, right.length):
        return True
    kinds = {_kind(left), _kind(right)}
    if kinds == {"bytes", "records"} and not on_disk:
        kinds = {"bytes"}
    return len(kinds) > 1 or (_plain(left.value) != _plain(right.value))


def _kind(span: ValueSpan) -> str:
    """The encoding without what the bytes themselves show: compact or not, nullable or not, the type of elements."""
    words = [word for word in span.type.split() if word not in ("compact", "nullable")]
    if words[:2] == ["array", "of"]:
        return "array"
    return "struct" if words[0][:1].isupper() else " ".join(words)


def _plain(value: Any) -> Any:
    return None if value == {} else value


def _skip_tag(lefts: deque[ValueSpan], rights: deque[ValueSpan], left: Reading, right: Reading) -> Difference | None:
    """Remove a tag that one side does not know; return the difference if a field is lost by that."""
    if lefts[0].type == UNKNOWN and rights[0].type == UNKNOWN:
        lefts.popleft()
        rights.popleft()
        return None
    is_left = lefts[0].type == UNKNOWN
    skipping, reading, blind = (lefts, rights, left) if is_left else (rights, lefts, right)
    tag, value = skipping.popleft(), reading[0]
    while reading and reading[0].offset < tag.offset + tag.length:
        reading.popleft()
    *owner, _ = _names(tag.path)
    names = _names(value.path)
    if len(owner) < len(names) and names[len(owner)] in _keys(blind.body, owner):
        return Difference(tag.offset, *((tag, value) if is_left else (value, tag)))
    return None


def _has_moved(path: str, other_path: str, left: Layout, right: Layout) -> bool:
    """Whether two values belong to different fields, and both sides have one of the fields."""
    names, others = _names(path), _names(other_path)
    for depth, (name, other) in enumerate(zip(names, others, strict=False)):
        if UNKNOWN_TAGS in (name, other) or name == other:
            continue
        if name in _keys(right, others[:depth]) or other in _keys(left, names[:depth]):
            return True
    return False


def _names(path: str) -> list[str]:
    return re.sub(r"\[\d+\]", "", path).split(".") if path else []


def _keys(body: Layout | None, names: list[str]) -> set[str]:
    """The names of the fields of the struct at a path."""
    for name in names:
        slots = body.all_slots if body else ()
        body = next((slot.body for slot in slots if key_of(slot) == name), None)
    return {key_of(slot) for slot in body.all_slots} if body else set()


MOST_TRIED = 400
"""How many examples are tried for one direction; the shortest come first."""


MOST_FIELDS_TRIED = 60_000
"""How many fields all examples together may have, which bounds the time for a message of thousands of fields."""


class Sample(NamedTuple):
    """A value to try, and the field that it is about."""

    field: str
    value: dict[str, Any]


Proofs = tuple[tuple[Sample, Witness], ...]
"""Examples that prove a break, the shortest first, with their witnesses."""


def witnesses(
    old: Message, new: Message, version: int, field: str = "", *, new_version: int | None = None
) -> tuple[Witness, ...]:
    """The best witness for each direction that has one, misreadings first; `new_version` belongs to the new message.

    Witnesses about `field`, a path of names from the schema, come first; then those that show another value or a
    failure, then misreadings, then the shortest.
    """
    ways = _both_ways(old, new, version, version if new_version is None else new_version)
    path = [name[:1].lower() + name[1:] for name in field.split(".")] if field else []
    best = (_best(way, path) for way in ways)
    return tuple(sorted(filter(None, best), key=lambda witness: witness.outcome != "misread"))


@lru_cache(maxsize=2)
def _both_ways(old: Message, new: Message, version: int, new_version: int) -> tuple[Proofs, Proofs]:
    """The examples of each side that the other misreads or refuses; cached for the next change of the same message."""
    old_codec, new_codec = Codec(old, version), Codec(new, new_version)
    return _one_way(old_codec, new_codec, "old"), _one_way(new_codec, old_codec, "new")


def _one_way(writer: Codec, reader: Codec, side: Side) -> Proofs:
    try:
        proofs = _try_examples(writer, reader, side, _examples(writer, _sample_values(writer.body)))
        if any(witness.shows for _, witness in proofs):
            more = (Sample(path, value) for path, value in each_high(writer.body))
            proofs += _try_examples(writer, reader, side, _examples(writer, more))
        return proofs
    except UnusableLayout:
        return ()


def _try_examples(writer: Codec, reader: Codec, side: Side, examples: list[tuple[Sample, bytes]]) -> Proofs:
    attempts = ((example, _try(writer, reader, side, example, data)) for example, data in examples)
    return tuple((example, witness) for example, witness in attempts if witness)


def _best(proofs: Proofs, path: list[str]) -> Witness | None:
    best: tuple[tuple[bool, int, bool, int], Witness] | None = None
    for example, witness in proofs:
        names = (example.field, witness.field, witness.read_as if witness.outcome == "misread" else "")
        about = bool(path) and any(_is_about(name, path) for name in names)
        rank = (not about, witness.shows, witness.outcome != "misread", len(witness.hex))
        if best is None or rank < best[0]:
            best = (rank, witness)
    return best[1] if best else None


def _examples(writer: Codec, samples: Iterable[Sample]) -> list[tuple[Sample, bytes]]:
    """The examples to try, shortest first, each once."""
    examples: dict[bytes, Sample] = {}
    size, _ = unfolded_size(writer.message, MOST_FIELDS_TRIED)
    some = islice(samples, max(1, MOST_FIELDS_TRIED // max(size, 1)))
    for example in (*some, Sample("", rich(writer.body))):
        data, problems = writer.encode(example.value)
        if not problems:
            examples.setdefault(data, example)
    pairs = sorted(examples.items(), key=lambda item: len(item[0]))
    return [(example, data) for data, example in pairs[:MOST_TRIED]]


def tries_all(message: Message, version: int) -> bool:
    """Whether all examples of one version are tried, and not only the shortest of too many."""
    size, _ = unfolded_size(message, MOST_FIELDS_TRIED)
    most = min(MOST_TRIED, max(1, MOST_FIELDS_TRIED // max(size, 1)))
    return next(islice(_sample_values(Codec(message, version).body), most, None), None) is None


def _sample_values(body: Layout) -> Iterator[Sample]:
    yield Sample("", minimal(body))
    yield Sample("", number_values(body))
    for variants in (each_null(body), each_tag(body), each_rich(body)):
        yield from (Sample(path, value) for path, value in variants)


HARMLESS_RULES: Final = {
    f"codec/{name}"
    for name in ("boolean-invalid", "marker-invalid", "utf8-invalid", "varint-overlong", "tag-order", "tag-duplicate")
}
"""The problems with which Kafka's Java reader goes on."""


def _try(writer: Codec, reader: Codec, side: Side, example: Sample, data: bytes) -> Witness | None:
    """The witness that an example makes, None where the reader understands it."""
    read = reader.decode(data)
    if problem := next((problem for problem in read.problems if problem.rule not in HARMLESS_RULES), None):
        wrote = writer.decode(data, spans=True)
        at = _at(wrote.spans, problem.offset)
        place = (at.path if at else example.field, at.value if at else None)
        return Witness(
            OTHER[side], writer.version, side, "refused", data.hex(), example.value, problem.offset, *place,
            problem.field or "", problem.message, problem.rule,
        )  # fmt: skip
    own = Reading(writer.body, writer.decode(data, spans=True))
    theirs = Reading(reader.body, reader.decode(data, spans=True))
    difference = first_difference(own, theirs, on_disk=writer.message.is_record)
    if difference is None:
        return None
    mine, other = difference.left, difference.right
    return Witness(
        OTHER[side], writer.version, side, "misread", data.hex(), example.value, difference.offset,
        mine.path if mine else "", mine.value if mine else None, other.path if other else "",
        other.value if other else None,
    )  # fmt: skip


def _at(spans: tuple[ValueSpan, ...], offset: int) -> ValueSpan | None:
    """The value at an offset."""
    return next((span for span in spans if span.offset <= offset < span.offset + span.length), None)


def _is_about(path: str, field: list[str]) -> bool:
    names = path.replace("]", "").replace("[", ".").split(".")
    plain = [name for name in names if not name.isdigit()]
    return bool(plain) and field[-1] in plain


WITHOUT_READER = {
    "message-removed": ("codec/unknown-message", "the new set has no such message"),
    "version-dropped": ("codec/unknown-version", "the new set does not have this version"),
    "api-key-changed": ("codec/unknown-api-key", "the new set has another API key for it"),
    "type-changed": ("codec/unknown-message", "the new set has no such message of this type"),
}
"""The changes after which the new side cannot read a message at all: the rule of the problem, and its message."""
MOST_VERSIONS = 4
"""In how many intervals of versions a witness is searched for."""


def prove(change: Change) -> tuple[Witness, ...]:
    """A witness for each direction that has one; none for a change that does not affect bytes, or whose messages have
    no layout.
    """
    try:
        return _proof(change)
    except UnusableLayout:
        return ()


def _proof(change: Change) -> tuple[Witness, ...]:
    old, new = change.messages
    if change.name in WITHOUT_READER and old:
        return _unread(old, change.versions.lowest if change.versions else old.valid.lowest, change.name)
    if old is None or new is None or change.name == "api-key-reused":
        return ()
    if change.name == "header-changed":
        return _header_witnesses(old, new, change.versions.lowest)
    if change.versions.lowest not in old.valid or change.versions.lowest not in new.valid:
        # A coordinator's record type was the version of its key, and is its API key now.
        return witnesses(old, new, change.versions.lowest, change.field, new_version=new.valid.lowest)
    for low, high in change.versions.intervals[:MOST_VERSIONS]:
        for version in dict.fromkeys((low, high if high <= new.valid.highest else low)):
            if proof := witnesses(old, new, version, change.field):
                return proof
    return ()


def is_cut_short(change: Change) -> bool:
    """Whether a change without a witness may have one among the examples that are not tried."""
    old, new = change.messages
    if change.name in (*WITHOUT_READER, "header-changed", "api-key-reused") or old is None or new is None:
        return False
    version = change.versions.lowest
    messages = [message for message in (old, new) if version in message.valid]
    try:
        return len(change.versions.intervals) > MOST_VERSIONS or not all(tries_all(item, version) for item in messages)
    except UnusableLayout:
        return False


def _unread(old: Message, version: int, name: str) -> tuple[Witness, ...]:
    codec = Codec(old, version)
    value = minimal(codec.body)
    data, problems = codec.encode(value)
    rule, message = WITHOUT_READER[name]
    witness = Witness("new", version, "old", "refused", data.hex(), value, 0, "", None, "", message, rule)
    return () if problems else (witness,)


def _header_witnesses(old: Message, new: Message, version: int) -> tuple[Witness, ...]:
    """Witnesses with the header in front, where the header versions differ in bytes."""
    name = "RequestHeader" if old.type == "request" else "ResponseHeader"
    sides = [(side.schemas.by_name.get(name), header_of(side, version)) for side in (old, new)]
    heads = [Codec(head, number) for head, number in sides if head and number in head.valid]
    if len(heads) < 2:
        return ()
    before, after = heads
    ways = (_header_witness(before, after, old, version, "old"), _header_witness(after, before, new, version, "new"))
    return tuple(filter(None, ways))


def _header_witness(writer: Codec, reader: Codec, message: Message, version: int, side: Side) -> Witness | None:
    """A header with the body behind it: the other header ends elsewhere, so that the body begins elsewhere."""
    body = Codec(message, version)
    value = minimal(writer.body)
    front, wrong = writer.encode(value)
    data, more = body.encode(minimal(body.body))
    read = reader.decode(front + data, whole=False)
    if wrong or more or (read.end == len(front) and not read.problems):
        return None
    text = read.problems[0].message if read.problems else f"the header ends at byte {read.end}, not {len(front)}"
    place = min(read.end, len(front))
    outcome: Literal["misread", "refused"] = "refused" if read.problems else "misread"
    rule = read.problems[0].rule if read.problems else None
    return Witness(
        OTHER[side], version, side, outcome, (front + data).hex(), value, place, "", None, "header", text, rule
    )


HEADER: Final = "header"
"""What a reader with another header takes the first bytes of the body for."""
MOST_HEX: Final = 40
"""How many bytes of an example are shown."""
MOST_TEXT: Final = 30
"""How many characters of a value are shown."""


def sentence(witness: Witness) -> str:
    """`old writes version 0 as 0001; new refuses at byte 2, 1 byte follows after the end of the message`."""
    data = witness.hex if len(witness.hex) <= 2 * MOST_HEX else witness.hex[: 2 * MOST_HEX] + "..."
    wrote = f"{witness.field} {_short(witness.wrote)}" if witness.field else "nothing there"
    if witness.read_as == HEADER:
        what = f"begins the body elsewhere: {printable(str(witness.read))}"
    elif witness.outcome == "refused":
        what = f"refuses at byte {witness.offset}, {printable(str(witness.read))}"
    else:
        read = f"{witness.read_as} {_short(witness.read)}" if witness.read_as else "nothing"
        what = f"takes {wrote} at byte {witness.offset} for {read}"
    return f"{witness.writer} writes version {witness.version} as {data or 'no bytes'}; {witness.reader} {what}"


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return printable(text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 3] + "...")
