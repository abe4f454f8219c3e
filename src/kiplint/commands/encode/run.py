"""Encoding of values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kiplint.codec.catalog import chosen_message, open_catalog
from kiplint.codec.exchange import EncodedObject, encode_line, encode_object
from kiplint.commands.encode.result import EncodeResult
from kiplint.engine.config import Path


def encode(
    message: str,
    value: Mapping[str, Any],
    *,
    sets: Sequence[Path] = (".",),
    repository: Path | None = None,
    header: Mapping[str, Any] | None = None,
    with_header: bool = False,
    with_length: bool = False,
) -> EncodeResult:
    """The bytes of a message (MESSAGE@VERSION) with these values; fields without a value get their defaults.

    `header` has the values of the header before the body; `with_header` adds a header also without values, and
    `with_length` the length of the frame before all. The status is `findings` where a value cannot be encoded. Raises
    UsageError for an unknown message or version, and SourceError for a set that cannot be opened.
    """
    catalog = open_catalog(sets, repository)
    definition, version = chosen_message(catalog, message)
    values: dict[str, Any] = {"message": definition.name, "version": version, "value": dict(value)}
    if header is not None or with_header:
        values["header"] = dict(header or {})
    encoded = encode_object(catalog, values)
    data = bytes.fromhex(encoded.hex or "")
    if with_length and not encoded.problems:
        data = len(data).to_bytes(4, "big") + data
    unread = tuple(catalog.broken)
    return EncodeResult(
        status="error" if unread else "findings" if encoded.problems else "ok",
        broken=unread,
        message=definition.name,
        version=version,
        header_version=encoded.header_version,
        data=data,
        problems=encoded.problems,
    )


def encode_lines(
    lines: Iterable[bytes],
    *,
    sets: Sequence[Path] = (".",),
    repository: Path | None = None,
    broken: list[str] | None = None,
) -> Iterator[EncodedObject]:
    """The bytes of each line of JSON; empty lines are skipped.

    A line has `message`, `version` and `value`, or `direction`, `api_key`, `api_version`, `header` and `value`. The
    paths of definitions that cannot be read are appended to `broken`. Raises SourceError for a set that cannot be
    opened.
    """
    catalog = open_catalog(sets, repository)
    yield from (encode_line(catalog, line) for line in lines if line.strip())
    if broken is not None:
        broken += catalog.broken
