"""The shortest example message that proves a break, in each direction."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, Literal, NamedTuple

import msgspec

from kiplint.codec.codec import Codec, UnusableLayout
from kiplint.codec.span import Span
from kiplint.codec.values import each_null, each_rich, each_tag, minimal, rich
from kiplint.compat.witness.reading import Reading, first_difference
from kiplint.model.layout import Body
from kiplint.model.message import Message
from kiplint.model.unfolding import unfolded

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


class Example(NamedTuple):
    """A value to try, and the field that is special in it."""

    field: str
    value: dict[str, Any]


Tried = tuple[tuple[Example, Witness], ...]
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


def _examples(writer: Codec) -> list[tuple[Example, bytes]]:
    """What to try, shortest first, each once."""
    found: dict[bytes, Example] = {}
    size, _ = unfolded(writer.message, MOST_FIELDS_TRIED)
    some = islice(_values(writer.body), max(1, MOST_FIELDS_TRIED // max(size, 1)))
    for example in (*some, Example("", rich(writer.body))):
        data, problems = writer.encode(example.value)
        if not problems:
            found.setdefault(data, example)
    ordered = sorted(found.items(), key=lambda item: len(item[0]))
    return [(example, data) for data, example in ordered[:MOST_TRIED]]


def tries_all(message: Message, version: int) -> bool:
    """Whether all examples of one version are tried, or only the shortest, as there are too many."""
    size, _ = unfolded(message, MOST_FIELDS_TRIED)
    most = min(MOST_TRIED, max(1, MOST_FIELDS_TRIED // max(size, 1)))
    return next(islice(_values(Codec(message, version).body), most, None), None) is None


def _values(body: Body) -> Iterator[Example]:
    yield Example("", minimal(body))
    for variants in (each_null(body), each_tag(body), each_rich(body)):
        yield from (Example(path, value) for path, value in variants)


def _try(writer: Codec, reader: Codec, side: Side, example: Example, data: bytes) -> Witness | None:
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


def _at(spans: tuple[Span, ...], offset: int) -> Span | None:
    """The value that stands at an offset."""
    return next((span for span in spans if span.offset <= offset < span.offset + span.length), None)


def _is_about(path: str, wanted: list[str]) -> bool:
    names = path.replace("]", "").replace("[", ".").split(".")
    plain = [name for name in names if not name.isdigit()]
    return bool(plain) and wanted[-1] in plain
