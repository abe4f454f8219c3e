"""Encoding of values, also as the command line states them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, BinaryIO, Final

import msgspec

from kiplint.codec.catalog import chosen_message, open_catalog
from kiplint.codec.exchange import ProblemObject
from kiplint.commands.encode.objects import EncodedObject, encode_line, encode_object
from kiplint.engine.config import Path
from kiplint.engine.errors import UsageError
from kiplint.limits import VALUES_BYTES
from kiplint.render.report import RunResult
from kiplint.text.decode import NOT_JSON
from kiplint.text.files import open_file, read_text, standard_input

DOCUMENTS: Final = {"encode": EncodedObject}


class EncodeResult(RunResult, frozen=True):
    """An encoded message. `status` is `findings` where the values have problems."""

    message: str
    """The name of the message."""
    version: int
    """The version of the message."""
    header_version: int | None
    """The version of the message header; None if the message has no header."""
    data: bytes
    """The bytes; empty where the values have problems."""
    problems: tuple[ProblemObject, ...] = ()
    """The values that cannot be encoded."""

    command = "encode"
    unread = "left out"

    def __str__(self) -> str:
        return "\n".join(problem.message for problem in self.problems) if self.problems else self.data.hex()

    @property
    def document(self) -> EncodedObject:
        """The JSON document."""
        return EncodedObject(
            message=self.message,
            version=self.version,
            header_version=self.header_version,
            hex=None if self.problems else self.data.hex(),
            length=len(self.data),
            problems=self.problems,
        )


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
    result = encode_object(catalog, values)
    data = bytes.fromhex(result.hex or "")
    if with_length and not result.problems:
        data = len(data).to_bytes(4, "big") + data
    unread = tuple(catalog.broken)
    return EncodeResult(
        status="error" if unread else "findings" if result.problems else "ok",
        broken=unread,
        message=definition.name,
        version=version,
        header_version=result.header_version,
        data=data,
        problems=result.problems,
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


@contextmanager
def open_lines(path: str) -> Iterator[Iterator[bytes]]:
    """The lines of a file, or of standard input for `-`. Raises UsageError, also for a line that is too long."""
    try:
        source = nullcontext(standard_input()) if path == "-" else open_file(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    with source as file:
        yield _lines(file, "standard input" if path == "-" else path)


def _lines(file: BinaryIO, name: str) -> Iterator[bytes]:
    while line := file.readline(VALUES_BYTES + 1):
        if len(line) > VALUES_BYTES:
            raise UsageError(VALUES_BYTES.exceeded(f"a line of {name}"))
        yield line


def parse_values(text: str | None, fields: Sequence[str]) -> dict[str, Any]:
    """The values of `--json` and of each `--value`, FIELD=VALUE. Raises UsageError."""
    values = parse_object(text, "--json") if text else {}
    for field in fields:
        name, equals, value = field.partition("=")
        if not equals:
            raise UsageError(f"--value takes FIELD=VALUE, such as groupId=g, not {field}")
        try:
            values[name] = msgspec.json.decode(value)
        except NOT_JSON:
            values[name] = value
    return values


def parse_object(text: str, option: str) -> dict[str, Any]:
    """The JSON object in the value of an option, or in the file that the value names. Raises UsageError."""
    if not text.lstrip().startswith("{") and os.path.lexists(text):
        try:
            text = read_text(text, VALUES_BYTES)
        except OSError as error:
            raise UsageError(f"{option}: cannot read {text}: {error.strerror}") from None
    try:
        value = msgspec.json.decode(text)
    except NOT_JSON as error:
        raise UsageError(f"{option}: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(f"{option} takes a JSON object")
    return value
