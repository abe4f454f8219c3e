"""Proofs of a break: bytes that one side writes and the other misreads or refuses."""

from __future__ import annotations

import re
from collections import deque
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from kiplint.codec.codec import Codec, DecodedBody, UnusableLayout, ValueSpan
from kiplint.codec.samples import rich, samples
from kiplint.codec.values import UNKNOWN_TAGS, key_of
from kiplint.compat.change import Change
from kiplint.model.headers import header_of
from kiplint.model.layout import Layout, unfolded_size
from kiplint.model.message import Message
from kiplint.text.show import printable

UNKNOWN = "unknown tagged field"
Side = Literal["old", "new"]
OTHER: Final[dict[Side, Side]] = {"old": "new", "new": "old"}
"""The side that reads what a side writes."""


class Proof(msgspec.Struct, frozen=True):
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


Reading = tuple[Layout, DecodedBody]
"""The layout by which one side reads bytes, and the values that it reads."""

Difference = tuple[int, ValueSpan | None, ValueSpan | None]
"""Where two readings differ first: the offset, and the value that each has there, None where it has none."""


def first_difference(left: Reading, right: Reading, *, on_disk: bool) -> Difference | None:
    """The first value that the two readings, both without problems, do not share.

    Names may differ as long as neither side has the other's name at another position: that is a rename. Tags that only
    one side knows are skipped, unless the other side has the field under another tag or as a plain field.
    """
    lefts, rights = (deque(span for span in content.spans if span.length) for _, content in (left, right))
    while lefts and rights:
        if lefts[0].type == UNKNOWN or rights[0].type == UNKNOWN:
            difference = _skip_tag(lefts, rights, left[0], right[0])
            if difference:
                return difference
            continue
        first, second = lefts.popleft(), rights.popleft()
        if _is_other(first, second, on_disk=on_disk) or _has_moved(first.path, second.path, left[0], right[0]):
            return first.offset, first, second
    if lefts or rights:
        rest = (lefts or rights)[0]
        return rest.offset, rest if lefts else None, rest if rights else None
    return None


def _is_other(left: ValueSpan, right: ValueSpan, *, on_disk: bool) -> bool:
    if (left.offset, left.length) != (right.offset, right.length):
        return True
    kinds = {_kind(left), _kind(right)}
    if kinds == {"bytes", "records"} and not on_disk:
        kinds = {"bytes"}
    return len(kinds) > 1 or (left.value or None) != (right.value or None)


def _kind(span: ValueSpan) -> str:
    """The encoding without what the bytes themselves show: compact or not, nullable or not, the type of elements."""
    words = [word for word in span.type.split() if word not in ("compact", "nullable")]
    if words[:2] == ["array", "of"]:
        return "array"
    return "struct" if words[0][:1].isupper() else " ".join(words)


def _skip_tag(lefts: deque[ValueSpan], rights: deque[ValueSpan], left: Layout, right: Layout) -> Difference | None:
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
    if len(owner) < len(names) and names[len(owner)] in _keys(blind, owner):
        return (tag.offset, tag, value) if is_left else (tag.offset, value, tag)
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


WITHOUT_BYTES: Final = ("api-key-reused", "api-key-changed", "type-changed", "version-dropped")
"""The changes of whole messages after which the new side does not read the message at all."""
MOST_TRIED: Final = 400
"""How many examples are tried for one direction."""
MOST_FIELDS_TRIED: Final = 60_000
"""How many fields all examples together may have, which bounds the time for a message of thousands of fields."""

Example = tuple[str, dict[str, Any]]
"""The field that an example is about, and its value."""


def proofs_of(
    old: Message, new: Message, version: int, field: str = "", *, new_version: int | None = None
) -> tuple[Proof, ...]:
    """The best proof for each direction that has one, misreadings first; `new_version` belongs to the new message.

    Proofs about `field`, a path of names from the schema, come first; then those that show another value or a
    failure, then misreadings, then the shortest.
    """
    name = field.rpartition(".")[2]
    name = name[:1].lower() + name[1:]

    def rank(example: tuple[str, Proof]) -> tuple[bool, int, bool, int]:
        about, proof = example
        paths = (about, proof.field, proof.read_as if proof.outcome == "misread" else "")
        is_about = bool(name) and any(name in re.split(r"[\[\].]", path) for path in paths)
        return not is_about, proof.shows, proof.outcome != "misread", len(proof.hex)

    ways = _both_ways(old, new, version, version if new_version is None else new_version)
    return tuple(sorted((min(way, key=rank)[1] for way in ways if way), key=lambda proof: proof.outcome != "misread"))


Way = tuple[tuple[str, Proof], ...]
"""The examples of one side that the other misreads or refuses: the field that each is about, and the proof."""


@lru_cache(maxsize=2)
def _both_ways(old: Message, new: Message, version: int, new_version: int) -> tuple[Way, Way]:
    """What each side misreads or refuses of the other; cached for the next change of the same message."""
    old_codec, new_codec = Codec(old, version), Codec(new, new_version)
    return _one_way(old_codec, new_codec, "old"), _one_way(new_codec, old_codec, "new")


def _one_way(writer: Codec, reader: Codec, side: Side) -> Way:
    """The examples that the reader misreads or refuses, the shortest first, each once."""
    size, _ = unfolded_size(writer.message, MOST_FIELDS_TRIED)
    most = min(MOST_TRIED, max(1, MOST_FIELDS_TRIED // max(size, 1)))
    body = writer.body
    examples = islice(samples(body), most)
    examples_by_data: dict[bytes, Example] = {}
    for example in [*examples, ("", rich(body))]:
        data = writer.encode(example[1])
        if data is not None:
            examples_by_data.setdefault(data, example)
    pairs = sorted(examples_by_data.items(), key=lambda item: len(item[0]))
    proofs = ((about, _try(writer, reader, side, (about, value), data)) for data, (about, value) in pairs)
    return tuple((about, proof) for about, proof in proofs if proof)


HARMLESS_RULES: Final = {
    f"codec/{name}"
    for name in ("boolean-invalid", "marker-invalid", "utf8-invalid", "varint-overlong", "tag-order", "tag-duplicate")
}
"""The problems with which Kafka's Java reader goes on."""


def _try(writer: Codec, reader: Codec, side: Side, example: Example, data: bytes) -> Proof | None:
    """The proof that an example makes, None where the reader understands it."""
    about, value = example
    own, theirs = writer.decode(data, spans=True), reader.decode(data, spans=True)
    problem = next((problem for problem in theirs.problems if problem.rule not in HARMLESS_RULES), None)
    if problem:
        spans = (span for span in own.spans if span.offset <= problem.offset < span.offset + span.length)
        at = next(spans, None)
        field, wrote = (at.path, at.value) if at else (about, None)
        return Proof(
            OTHER[side], writer.version, side, "refused", data.hex(), value, problem.offset, field, wrote,
            problem.field or "", problem.message, problem.rule,
        )  # fmt: skip
    difference = first_difference((writer.body, own), (reader.body, theirs), on_disk=writer.message.is_record)
    if difference is None:
        return None
    offset, mine, other = difference
    field, wrote = (mine.path, mine.value) if mine else ("", None)
    read_as, read = (other.path, other.value) if other else ("", None)
    return Proof(OTHER[side], writer.version, side, "misread", data.hex(), value, offset, field, wrote, read_as, read)


MOST_VERSIONS: Final = 4
"""In how many intervals of versions a proof is searched for."""


def prove(change: Change) -> tuple[Proof, ...]:
    """A proof for each direction that has one.

    A change that does not affect the bytes of a version that both sides have has none, nor has one whose messages have
    no layout.
    """
    (old, new), versions = change.messages, change.versions
    if old is None or new is None or change.name in WITHOUT_BYTES:
        return ()
    with suppress(UnusableLayout):
        if change.name == "header-changed":
            return _header_proofs(old, new, versions.lowest)
        if versions.lowest not in old.valid or versions.lowest not in new.valid:
            # A coordinator's record type was the version of its key, and is its API key now.
            return proofs_of(old, new, versions.lowest, change.field, new_version=new.valid.lowest)
        bounds = [bound for interval in versions.intervals[:MOST_VERSIONS] for bound in interval]
        for version in dict.fromkeys(bounds):
            if version <= new.valid.highest and (proofs := proofs_of(old, new, version, change.field)):
                return proofs
    return ()


def _header_proofs(old: Message, new: Message, version: int) -> tuple[Proof, ...]:
    """Headers, without a body, that one side writes for a version and the other does not read in the same way."""
    name = "RequestHeader" if old.type == "request" else "ResponseHeader"
    sides = ((side.schemas.by_name.get(name), header_of(side, version)) for side in (old, new))
    (before, old_version), (after, new_version) = sides
    if before and after and old_version in before.valid and new_version in after.valid:
        return proofs_of(before, after, old_version, new_version=new_version)
    return ()


MOST_HEX: Final = 40
"""How many bytes of an example are shown."""
MOST_TEXT: Final = 30
"""How many characters of a value are shown."""


def sentence(proof: Proof) -> str:
    """`old writes version 0 as 0001; new refuses at byte 2, 1 byte follows after the end of the message`."""
    data = proof.hex if len(proof.hex) <= 2 * MOST_HEX else proof.hex[: 2 * MOST_HEX] + "..."
    wrote = f"{proof.field} {_short(proof.wrote)}" if proof.field else "nothing there"
    if proof.outcome == "refused":
        what = f"refuses at byte {proof.offset}, {printable(str(proof.read))}"
    else:
        read = f"{proof.read_as} {_short(proof.read)}" if proof.read_as else "nothing"
        what = f"takes {wrote} at byte {proof.offset} for {read}"
    return f"{proof.writer} writes version {proof.version} as {data or 'no bytes'}; {proof.reader} {what}"


def _short(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return printable(text if len(text) <= MOST_TEXT else text[: MOST_TEXT - 3] + "...")
