"""Proofs of a break: bytes that one side writes and the other misreads, rejects or drops, as Kafka's readers do."""

from __future__ import annotations

import re
from collections import deque
from functools import lru_cache, partial
from itertools import islice
from typing import Annotated, Any, Final, Literal, NamedTuple, get_args

import msgspec
from msgspec import Meta

from kiplint.codec.codec import Codec, DecodedBody, ValueSpan
from kiplint.codec.samples import rich, samples
from kiplint.codec.values import UNKNOWN_TAGS, key_of
from kiplint.model.layout import Layout, unfolded_size
from kiplint.model.message import Message
from kiplint.text.show import printable

UNKNOWN_TAG = "unknown tagged field"
"""The type of the span of a tagged field that a reader does not know."""
Side = Literal["old", "new"]
Outcome = Literal["misread", "refused", "dropped"]
OTHER: Final[dict[Side, Side]] = {"old": "new", "new": "old"}
"""The side that reads what a side writes."""


class Proof(msgspec.Struct, frozen=True):
    """An example message: bytes that one side writes, and the other misreads or rejects, which proves a break.

    Or it drops the last of them unread, which is harmless: it shows that only the other direction breaks.
    """

    reader: Side
    version: Annotated[int, Meta(description="The version of the message.")]
    writer: Side
    outcome: Outcome
    hex: Annotated[str, Meta(description="The bytes of the message, in hexadecimal digits.")]
    value: Annotated[dict[str, Any], Meta(description="The message, as `kiplint decode` shows it.")]
    offset: Annotated[int, Meta(ge=0, description="The first byte that the two sides read differently.")]
    field: Annotated[str, Meta(description="The field that the writer puts there; empty for none.")]
    wrote: Annotated[Any, Meta(description="The value that the writer puts there.")]
    read_as: Annotated[str, Meta(description="The field that the reader reads instead; empty for none.")]
    read: Annotated[Any, Meta(description="The value that the reader gets, or why it fails.")]
    rule: Annotated[str | None, Meta(description="The rule of the problem, if the reader fails.")] = None


class Difference(NamedTuple):
    """The first position at which a writer and a reader have different values for the same bytes.

    A value is None where that side has read all of its fields.
    """

    offset: int
    written: ValueSpan | None
    read: ValueSpan | None


def _first_difference(writer: Codec, reader: Codec, written: DecodedBody, read: DecodedBody) -> Difference | None:
    """The first difference between what a writer wrote and a reader read from it, both without problems.

    Names may differ as long as neither side has the other's name at another position: that is a rename. Tags that only
    one side knows are skipped, unless the other side has the field under another tag or as a plain field.
    """
    written_spans = deque(span for span in written.spans if span.length)
    read_spans = deque(span for span in read.spans if span.length)
    while written_spans and read_spans:
        if UNKNOWN_TAG in (written_spans[0].type, read_spans[0].type):
            difference = _skip_unknown_tag(written_spans, read_spans, writer.body, reader.body)
            if difference:
                return difference
            continue
        written_span, read_span = written_spans.popleft(), read_spans.popleft()
        is_other_value = _is_other_value(written_span, read_span, on_disk=writer.message.is_record)
        if is_other_value or _is_other_field(written_span.path, read_span.path, writer.body, reader.body):
            return Difference(written_span.offset, written_span, read_span)
    if written_spans:
        return Difference(written_spans[0].offset, written_spans[0], None)
    if read_spans:
        return Difference(read_spans[0].offset, None, read_spans[0])
    return None


def _is_other_value(written_span: ValueSpan, read_span: ValueSpan, *, on_disk: bool) -> bool:
    """Whether writer and reader disagree on a value's position, type or content; null and empty count as the same."""
    if (written_span.offset, written_span.length) != (read_span.offset, read_span.length):
        return True
    types = {_plain_type(written_span), _plain_type(read_span)}
    is_batch = types == {"bytes", "records"} and not on_disk  # batches were bytes before they had a type of their own
    return (len(types) > 1 and not is_batch) or (written_span.value or None) != (read_span.value or None)


def _plain_type(span: ValueSpan) -> str:
    """The type without what the bytes themselves show, such as `string` for `compact nullable string`.

    The type of an array's elements and the name of a struct are omitted as well: `array`, `struct`.
    """
    words = [word for word in span.type.split() if word not in ("compact", "nullable")]
    if words[:2] == ["array", "of"]:
        return "array"
    return "struct" if words[0][:1].isupper() else " ".join(words)


def _skip_unknown_tag(
    written: deque[ValueSpan], read: deque[ValueSpan], writer_body: Layout, reader_body: Layout
) -> Difference | None:
    """Remove, from the start of both sides, a tagged field that one or both of them do not know.

    `written` and `read` are the spans of equal bytes in the layouts of the writer and of the reader. Returns a
    difference if the side that does not know the tag has a field of that name elsewhere, which the value misses.
    """
    if written[0].type == read[0].type == UNKNOWN_TAG:
        written.popleft()
        read.popleft()
    elif written[0].type == UNKNOWN_TAG:
        tag, field = _remove_tag(written, read)
        if _has_field_of_tag(writer_body, tag.path, field.path):
            return Difference(tag.offset, tag, field)
    else:  # only the reader does not know the tag
        tag, field = _remove_tag(read, written)
        if _has_field_of_tag(reader_body, tag.path, field.path):
            return Difference(tag.offset, field, tag)
    return None


def _remove_tag(skipping: deque[ValueSpan], knowing: deque[ValueSpan]) -> tuple[ValueSpan, ValueSpan]:
    """Remove an unknown tag from the side that skips it, and its values from the side that knows it.

    Returns the tag, and the first of the values.
    """
    tag, field = skipping.popleft(), knowing[0]
    while knowing and knowing[0].offset < tag.offset + tag.length:
        knowing.popleft()
    return tag, field


def _has_field_of_tag(body: Layout, tag_path: str, field_path: str) -> bool:
    """Whether the side of layout `body`, which does not know the tag, has a field of the same name in the struct."""
    *owner, _ = _names(tag_path)  # the names that lead to the struct with the tag
    names = _names(field_path)
    return len(owner) < len(names) and names[len(owner)] in _field_names(body, owner)


def _is_other_field(writer_path: str, reader_path: str, writer_body: Layout, reader_body: Layout) -> bool:
    """Whether the two sides assign a value to different fields: one side has both names, so it is not a rename."""
    writer_names, reader_names = _names(writer_path), _names(reader_path)
    for depth, (written_name, read_name) in enumerate(zip(writer_names, reader_names, strict=False)):
        if written_name == read_name or UNKNOWN_TAGS in (written_name, read_name):
            continue
        reader_has_both = written_name in _field_names(reader_body, reader_names[:depth])
        if reader_has_both or read_name in _field_names(writer_body, writer_names[:depth]):
            return True
    return False


def _names(path: str) -> list[str]:
    """The names in a path without its indexes: `["topics", "name"]` for `topics[0].name`."""
    return re.sub(r"\[\d+\]", "", path).split(".") if path else []


def _field_names(body: Layout | None, path: list[str]) -> set[str]:
    """The names that the fields of a struct have in JSON; `path` has the names that lead to the struct in `body`."""
    for name in path:
        slots = body.all_slots if body else ()
        body = next((slot.body for slot in slots if key_of(slot) == name), None)
    return {key_of(slot) for slot in body.all_slots} if body else set()


MOST_TRIED: Final = 64
"""The maximum number of examples that are tried for one direction; three messages of Kafka have more."""
MOST_VERSIONS_TRIED: Final = 8
"""In how many versions of a message proofs are searched for, over all its changes."""
MOST_FIELDS_TRIED: Final = 60_000
"""How many fields all examples together may have, which bounds the time for a message of thousands of fields."""


def proofs_of(
    base: Message, head: Message, version: int, field: str = "", *, head_version: int | None = None
) -> tuple[Proof, ...]:
    """The best proof for each direction that has one; a misreading comes before a refusal, bytes that are dropped last.

    `version` is the version of both messages, or of the base alone if the head has another, `head_version`. The
    best proof of a direction is about `field`, a path such as `Topics.Partitions.Offset`, if one is; `_rank` decides
    between several.
    """
    name = field.rpartition(".")[2]
    json_name = name[:1].lower() + name[1:]
    all_proofs = _all_proofs(base, head, version, version if head_version is None else head_version)
    best_proofs = [min(proofs, key=lambda proof: _rank(proof, json_name)) for proofs in all_proofs if proofs]
    return tuple(sorted(best_proofs, key=lambda proof: get_args(Outcome).index(proof.outcome)))


def _rank(proof: Proof, name: str) -> tuple[bool, bool, bool, bool, bool, int]:
    """A sort key that puts the best proof of one direction first; `name` is the field's name in JSON."""
    is_misread = proof.outcome == "misread"
    is_about_field = name in _names(proof.field) or (is_misread and name in _names(proof.read_as))
    is_same_value = is_misread and proof.wrote == proof.read
    return (
        proof.outcome == "dropped",
        not is_about_field,
        is_same_value,  # taken for another field with the same value, which shows the break less plainly
        is_same_value and not proof.wrote,  # and least plainly if it is empty
        not is_misread,
        len(proof.hex),
    )


@lru_cache(maxsize=MOST_VERSIONS_TRIED)
def _all_proofs(base: Message, head: Message, version: int, head_version: int) -> tuple[list[Proof], list[Proof]]:
    """The proofs of the base's examples that the head misreads or rejects, and those of the reverse.

    Cached for the other changes of the same messages.
    """
    base_codec, head_codec = Codec(base, version), Codec(head, head_version)
    return _proofs_of_writer(base_codec, head_codec, "old"), _proofs_of_writer(head_codec, base_codec, "new")


def _proofs_of_writer(writer: Codec, reader: Codec, writing_side: Side) -> list[Proof]:
    """A proof for each example that the writer writes and the reader does not read as a whole."""
    size, _ = unfolded_size(writer.message, MOST_FIELDS_TRIED)
    most_samples = min(MOST_TRIED, max(1, MOST_FIELDS_TRIED // max(size, 1)))
    proofs: dict[bytes, Proof | None] = {}
    for path, value in [*islice(samples(writer.body), most_samples), ("", rich(writer.body))]:
        data = writer.encode(value)
        if data is not None and data not in proofs:
            proofs[data] = _proof(writer, reader, writing_side, path, value, data)
    return [proof for proof in proofs.values() if proof]


TRUNCATED: Final = "codec/truncated"
TRAILING: Final = "codec/trailing-bytes"
"""Readers of RPCs and of coordinators' records ignore bytes after the end; those of the metadata log reject them."""


def _proof(
    writer: Codec, reader: Codec, writing_side: Side, path: str, value: dict[str, Any], data: bytes
) -> Proof | None:
    """The proof that an example makes, None where the reader understands all of it.

    `data` are the bytes that the writer writes for `value`, an example about the field at `path`.
    """
    written, read = writer.decode(data, spans=True), reader.decode(data, spans=True)
    make_proof = partial(
        Proof, reader=OTHER[writing_side], version=writer.version, writer=writing_side, hex=data.hex(), value=value
    )
    refuses_trailing_bytes = reader.message.type == "metadata"
    for problem in read.problems:
        if problem.severity == "warning" or (problem.rule == TRAILING and not refuses_trailing_bytes):
            continue
        spans = [span for span in written.spans if span.offset <= problem.offset < span.offset + span.length]
        text = problem.message
        if reader.message.is_rpc:
            text += ", and closes the connection"
        elif reader.message.type == "header" and problem.rule == TRUNCATED:
            text = f"the header ends here, so it reads the body as {problem.field}"
        return make_proof(
            outcome="refused",
            offset=problem.offset,
            field=spans[0].path if spans else path,
            wrote=spans[0].value if spans else None,
            read_as=problem.field or "",
            read=text,
            rule=problem.rule,
        )
    difference = _first_difference(writer, reader, written, read)
    if difference is None:
        return None
    has_trailing_bytes = any(problem.rule == TRAILING for problem in read.problems)
    is_dropped = has_trailing_bytes and difference.read is None and reader.message.type != "header"
    return make_proof(
        outcome="dropped" if is_dropped else "misread",
        offset=difference.offset,
        field=difference.written.path if difference.written else "",
        wrote=difference.written.value if difference.written else None,
        read_as=difference.read.path if difference.read else "",
        read=difference.read.value if difference.read else None,
    )


MOST_BYTES_SHOWN: Final = 40
"""The maximum number of bytes of an example that are shown."""
MOST_CHARACTERS_SHOWN: Final = 30
"""The maximum number of characters of a value that are shown."""


def sentence(proof: Proof) -> str:
    """A proof in words: `old writes version 0 as 0001; new reads errorCode 1 at byte 0 as count 1`."""
    data = proof.hex if len(proof.hex) <= 2 * MOST_BYTES_SHOWN else proof.hex[: 2 * MOST_BYTES_SHOWN] + "..."
    wrote = f"{proof.field} {_shown_value(proof.wrote)} at byte {proof.offset}" if proof.field else "no field"
    if proof.outcome == "refused":
        outcome = f"fails at byte {proof.offset}: {printable(str(proof.read))}"
    elif proof.outcome == "dropped":
        outcome = f"ignores {wrote}"
    elif proof.read_as:
        outcome = f"reads {wrote} as {proof.read_as} {_shown_value(proof.read)}"
    else:
        outcome = f"reads {wrote} as the {'number of tagged fields' if proof.read is not None else 'body'}"
    return f"{proof.writer} writes version {proof.version} as {data or 'no bytes'}; {proof.reader} {outcome}"


def _shown_value(value: Any) -> str:
    """A value as JSON, cut to `MOST_CHARACTERS_SHOWN` characters."""
    text = msgspec.json.encode(value).decode()
    return printable(text if len(text) <= MOST_CHARACTERS_SHOWN else text[: MOST_CHARACTERS_SHOWN - 3] + "...")
