"""Encoding of values, and golden bytes of whole sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from kiplint.codec.catalog import Catalog
from kiplint.codec.codec import UnusableLayout
from kiplint.codec.exchange import encode_object
from kiplint.codec.values import each_null, each_rich, each_tag, minimal, rich
from kiplint.engine.errors import UsageError
from kiplint.model.message import Message
from kiplint.runs.bytes.choice import chosen_message, open_catalog
from kiplint.runs.configuration import Path
from kiplint.runs.result import RunResult
from kiplint.text.suggest import did_you_mean


class EncodeResult(RunResult, frozen=True):
    """What was written: the bytes, empty where the values have problems, and these as JSON has them."""

    message: str
    version: int
    header_version: int | None
    data: bytes
    problems: tuple[dict[str, Any], ...] = ()

    command = "encode"

    def __str__(self) -> str:
        return self.data.hex() if not self.problems else "\n".join(one["message"] for one in self.problems)


def encode(
    message: str,
    value: Mapping[str, Any],
    *,
    sets: Sequence[Path] = (".",),
    repository: Path | None = None,
    header: Mapping[str, Any] | None = None,
    with_header: bool = False,
) -> EncodeResult:
    """The bytes of a MESSAGE@VERSION with these values; fields that are left out get their defaults.

    `header` has the values of the header in front; `with_header` puts one there even if it has none. The status is
    `findings` where a value cannot be written. Raises UsageError and SourceError.
    """
    catalog = open_catalog(sets, repository)
    found, version = chosen_message(catalog, message)
    given: dict[str, Any] = {"message": found.name, "version": version, "value": dict(value)}
    if header is not None or with_header:
        given["header"] = dict(header or {})
    made = encode_object(catalog, given)
    unread = tuple(catalog.broken)
    return EncodeResult(
        status="error" if unread else "findings" if made["problems"] else "ok",
        broken=unread,
        message=found.name,
        version=version,
        header_version=made["header_version"],
        data=bytes.fromhex(made["hex"] or ""),
        problems=tuple(made["problems"]),
    )


class Vector(msgspec.Struct, frozen=True):
    """Golden bytes: what makes this one special, and the field that does.

    `value` has what the bytes have; `header` and its bytes would stand in front in a frame.
    """

    message: str
    type: str
    api_key: int | None
    version: int
    header_version: int | None
    kind: str
    field: str | None
    value: dict[str, Any]
    hex: str
    header: dict[str, Any] | None = None
    header_hex: str | None = None


def vectors(
    *sets: Path, repository: Path | None = None, messages: Sequence[str] = (), broken: list[str] | None = None
) -> Iterator[Vector]:
    """Golden bytes of every message and version, the same at every run; only of `messages` if any are named.

    Minimal, each field rich, each nullable field null, each tag present, everything rich. What lies beside a file that
    is named is written only if it is one of `messages`. The files that cannot be read
    are told in `broken`. Raises UsageError for a message that is not there.
    """
    catalog = open_catalog(sets or (".",), repository)
    unread = [] if broken is None else broken
    for name in messages:
        if name not in catalog.names:
            raise UsageError(f"no set has {name}{did_you_mean(name, catalog.names)}")
    for name in sorted({*messages} or catalog.names):
        for message in catalog.named(name)[:1]:
            if message.file in catalog.context and not messages:
                continue
            try:
                for low, high in message.valid:
                    for version in range(low, min(high, low + 1000) + 1):
                        yield from _vectors(catalog, message, version)
            except UnusableLayout:
                unread.append(message.file)
    unread += catalog.broken


def _vectors(catalog: Catalog, message: Message, version: int) -> Iterator[Vector]:
    codec = catalog.codec(message, version)
    number, header, front = None, None, None
    if message.is_rpc:
        number, headers = catalog.header(message, version)
        if headers:
            named = {"requestApiKey": message.api_key, "requestApiVersion": version}
            usual = rich(headers.body)
            header = usual | {key: one for key, one in named.items() if key in usual and message.type == "request"}
            front = headers.write(header).hex()
    seen: set[bytes] = set()
    for kind, field, value in _kinds(codec.body):
        data, problems = codec.encode(value)
        if problems or data in seen:
            continue
        seen.add(data)
        yield Vector(
            message.name, message.type, message.api_key, version, number, kind, field, codec.read(data), data.hex(),
            header, front,
        )  # fmt: skip


def _kinds(body: Any) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    yield "minimal", None, minimal(body)
    for kind, variants in (("rich-field", each_rich), ("null", each_null), ("tag", each_tag)):
        yield from ((kind, field, value) for field, value in variants(body))
    yield "rich", None, rich(body)
