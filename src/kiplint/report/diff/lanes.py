"""An example message that proves a break, byte by byte: as its writer means it, and as its reader takes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from kiplint.codec.codec import Codec, UnusableLayout
from kiplint.compat.changes.judge import Judged
from kiplint.compat.witness.find import Witness
from kiplint.model.message import Message
from kiplint.report.diff.witness import HEADER, sentence

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
    version = one.version if message.valid.covers(one.version) else message.valid.lowest
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
