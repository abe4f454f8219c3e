"""Golden bytes of the messages of whole schema sets."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from kiplint.codec.catalog import Catalog, open_catalog
from kiplint.codec.codec import Codec
from kiplint.codec.values import UNKNOWN_TAGS, each_null, each_rich, each_tag, minimal, rich
from kiplint.commands.vectors.edges import UNKNOWN, each_hard
from kiplint.commands.vectors.faults import faults
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.limits import UNFOLDED_FIELDS, VECTOR_BYTES, Counter
from kiplint.model.layout import Layout, unfolded_size
from kiplint.model.message import Message
from kiplint.text.words import did_you_mean
from kiplint.versions import VersionRange

MOST_VERSIONS: Final = 1001
"""The number of versions of an interval that get vectors."""
MOST_BYTES: Final = VECTOR_BYTES // 8
"""The bytes of all vectors of a kind and a version: each field's vector repeats the whole message."""
BYTES_OF_A_VALUE: Final = 4
"""The least number of bytes that a value counts as: encoding takes time even if it writes none."""


LAX: Final = ("tag-order", "tag-duplicate")
"""The faults that Kafka's own reader accepts."""
_HIGHEST_TAG: Final = "Kafka's Java classes read the tag 2147483647, and cannot write it again"
_UNKNOWN_TAGS: Final = f"Kafka's JSON converters have no {UNKNOWN_TAGS}"
_NO_NUMBER: Final = "Kafka's JSON converters refuse NaN and Infinity as values"
NOTES: Final = {
    "unknown-tags": f"{_HIGHEST_TAG}. {_UNKNOWN_TAGS}",
    "unknown-tags-in-header": f"{_HIGHEST_TAG}. {_UNKNOWN_TAGS}",
    **dict.fromkeys(("nan", "infinity", "-infinity"), _NO_NUMBER),
    **dict.fromkeys(LAX, "Kafka's Java reader accepts the body"),
}
"""By kind of vector: what Kafka does otherwise."""


class Vector(msgspec.Struct, frozen=True):
    """Golden bytes of a message in a version; a line of the output of `kiplint vectors`."""

    message: str
    type: str
    api_key: int | None
    version: int
    header_version: int | None
    kind: Annotated[
        str,
        Meta(
            description="`minimal`, `rich-field`, `null`, `tag`, `rich`; `long` (lengths of 127), `array-128`, "
            "`utf-8`, `lowest`, `highest`, `nan`, `infinity`, `-infinity`, `nulls`, `nulls-inside`, `unknown-tags`, "
            "`unknown-tags-in-header`; or the fault of a vector that must or may be refused."
        ),
    ]
    field: Annotated[str | None, Meta(description="The field that sets this vector apart.")]
    value: Annotated[
        dict[str, Any] | None,
        Meta(description="The values that the bytes encode; null where they must or may be refused."),
    ]
    hex: Annotated[str, Meta(description="The bytes of the body.")]
    header: Annotated[dict[str, Any] | None, Meta(description="The values of the header before the body.")] = None
    header_hex: str | None = None
    must: Annotated[
        Literal["read", "refuse", "may"],
        Meta(description="What a reader must do with the body; with `may` it refuses it or reads it."),
    ] = "read"
    offset: Annotated[
        int | None, Meta(description="The offset in the body of the fault that a reader must or may refuse.")
    ] = None
    note: Annotated[str | UnsetType, Meta(description="What a reader does otherwise; absent without any.")] = UNSET


DOCUMENTS: Final = {"vectors": Vector}


def vectors(
    *sets: Path,
    repository: Path | None = None,
    messages: Sequence[str] = (),
    broken: list[str] | None = None,
    left_out: list[str] | None = None,
) -> Iterator[Vector]:
    """Golden bytes of every message and version of the sets, the same at every run; of `messages` only, if any.

    For each version: minimal values, each field rich, each nullable field null, each tag present, and all fields rich;
    of a very large message only the first fields have vectors of their own, and only the lowest versions have any. Then
    bodies on which readers fail that pass those, and bodies that a reader must refuse, with the offset of the fault;
    they grow with the message, not with its square. The siblings of a file in `sets` get vectors only if they are in
    `messages`. The paths of files that cannot be read are appended to `broken`, and to `left_out` a line about each
    message that is too large to have all its vectors. Raises UsageError for a message that no set has, and SourceError
    for a set that cannot be opened.
    """
    catalog = open_catalog(sets or (".",), repository)
    unread = [] if broken is None else broken
    incomplete = [] if left_out is None else left_out
    for name in messages:
        if name not in catalog.names:
            raise UsageError(f"no set has {name}{did_you_mean(name, catalog.names)}")
    for name in sorted({*messages} or catalog.names):
        for message in catalog.with_name(name)[:1]:
            if message.file in catalog.context and not messages:
                continue
            remaining = Counter(VECTOR_BYTES)
            complete: list[int] = []
            for version in _versions(message):
                if catalog.codec(message, version).unusable:
                    unread += [message.file] if message.file not in unread else []
                elif not (yield from _vectors(catalog, message, version, remaining)):
                    if remaining.left < 0:
                        break
                    continue
                complete.append(version)
            if missing := message.valid - VersionRange((version, version) for version in complete):
                incomplete.append(f"{name} has not all vectors of the versions {missing}, as it is too large")
    unread += catalog.broken


def _versions(message: Message) -> Iterator[int]:
    for low, high in message.valid.intervals:
        yield from range(low, min(high + 1, low + MOST_VERSIONS))


def _vectors(catalog: Catalog, message: Message, version: int, remaining: Counter) -> Generator[Vector, None, bool]:
    """The vectors of a version, while there are `remaining` bytes; returns whether these are all."""
    codec = catalog.codec(message, version)
    header_version, header_codec = catalog.header(message, version) if message.is_rpc else (None, None)
    if header_codec and header_codec.unusable:
        header_codec = None
    header = _header(header_codec, message, version) if header_codec else None

    own: dict[str, Any] = {}
    if header_codec:
        data, problems = header_codec.encode(header)
        own = {} if problems else {"header": header, "header_hex": data.hex()}

    def vector(kind: str, field: str | None, data: bytes, **others: Any) -> Vector:
        return Vector(
            message=message.name,
            type=message.type,
            api_key=message.api_key,
            version=version,
            header_version=header_version,
            kind=kind,
            field=field,
            value=None if "offset" in others else codec.read(data),
            hex=data.hex(),
            note=NOTES.get(kind, UNSET),
            **own | others,
        )

    is_whole = True
    earlier: set[bytes] = set()
    least = BYTES_OF_A_VALUE * unfolded_size(message, UNFOLDED_FIELDS)[0]
    for kind, variants in _kinds(codec.body):
        of_kind = Counter(MOST_BYTES)
        for field, value in variants:
            data, problems = codec.encode(value)
            size = max(len(data), least)
            if not remaining.take(size):
                return False
            if not of_kind.take(size):
                is_whole = False
                break
            if not problems and data not in earlier:
                earlier.add(data)
                yield vector(kind, field, data)
    if header_codec and header and own and header_codec.body.tags is not None:
        tagged = header | {UNKNOWN_TAGS: [*UNKNOWN]}
        (front, unwritten), (data, problems) = header_codec.encode(tagged), codec.encode(minimal(codec.body))
        if not unwritten and not problems:
            yield vector("unknown-tags-in-header", None, data, header=tagged, header_hex=front.hex())
    for fault in faults(codec):
        must = "may" if fault.kind in LAX else "refuse"
        yield vector(fault.kind, fault.field or None, fault.data, must=must, offset=fault.offset)
    return is_whole


def _header(codec: Codec, message: Message, version: int) -> dict[str, Any]:
    """The values of a rich header before the body."""
    own = {"requestApiKey": message.api_key, "requestApiVersion": version} if message.type == "request" else {}
    header = rich(codec.body)
    return header | {name: value for name, value in own.items() if name in header}


def _kinds(body: Layout) -> Iterator[tuple[str, Iterable[tuple[str | None, dict[str, Any]]]]]:
    yield "minimal", [(None, minimal(body))]
    yield "rich-field", each_rich(body)
    yield "null", each_null(body)
    yield "tag", each_tag(body)
    yield "rich", [(None, rich(body))]
    for kind, value in each_hard(body):
        yield kind, [(None, value)]
