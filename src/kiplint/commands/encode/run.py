"""Encoding of values, and golden bytes of whole sets."""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from kiplint.cli.output import finish
from kiplint.cli.process import CLEAN, FINDINGS, label
from kiplint.codec.catalog import Catalog, chosen_message, open_catalog
from kiplint.codec.codec import UnusableLayout
from kiplint.codec.exchange import encode_object
from kiplint.codec.values import each_null, each_rich, each_tag, minimal, rich
from kiplint.engine.configure import Path
from kiplint.engine.errors import UsageError
from kiplint.model.message import Message
from kiplint.render.findings.json import encoded, pretty
from kiplint.render.report import RunResult
from kiplint.text.files import open_file, read_text, standard_input
from kiplint.text.show import printable
from kiplint.text.words import did_you_mean

if TYPE_CHECKING:
    from kiplint.commands.encode.options import Options as EncodeOptions
    from kiplint.commands.vectors import Options as VectorsOptions


class EncodeResult(RunResult, frozen=True):
    """What was written: the bytes, empty where the values have problems, and these as JSON has them."""

    message: str
    version: int
    header_version: int | None
    data: bytes
    problems: tuple[dict[str, Any], ...] = ()

    command = "encode"
    unread = "left out"

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
                for low, high in message.valid.intervals:
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


MOST_VALUES = 256 << 20
"""The bytes of the largest file of values."""


def encode_one(options: EncodeOptions) -> int:
    """Write the bytes of one message; what is wrong with its values goes to standard error."""

    form = options.output_format or "hex"
    made = encode(
        options.message or "",
        _values(options.json, options.value),
        sets=options.set or (".",),
        repository=options.repo,
        header=_object(options.header_json, "--header-json") if options.header_json else None,
        with_header=options.header,
    )
    data = len(made.data).to_bytes(4, "big") + made.data if options.length else made.data
    if form == "json":
        print(pretty(_document(made, data)))
    elif form == "jsonl":
        print(encoded(_document(made, data)))
    elif not made.problems:
        _write(data, form)
    if form not in ("json", "jsonl"):
        for one in made.problems:
            print(f"{label('error')}[{one['rule']}]: {printable(one['message'])}", file=sys.stderr)
    return finish(made)


def encode_lines(options: EncodeOptions) -> int:
    """Write an object with `hex` for each line of a file or of standard input."""
    from kiplint.codec.catalog import open_catalog
    from kiplint.codec.exchange import encode_line

    if options.output_format not in (None, "jsonl"):
        raise UsageError("JSON lines are answered in JSON lines: leave --output-format out")
    if options.json or options.value or options.header or options.header_json or options.length:
        raise UsageError("--json, --value, --header, --header-json and --length are for one message, not for lines")
    catalog = open_catalog(options.set or (".",), options.repo)
    code = CLEAN
    with _opened(options.message or "-") as lines:
        for line in lines:
            if line.strip():
                made = encode_line(catalog, line)
                code = code or (FINDINGS if made["problems"] else CLEAN)
                print(encoded(made))
    broken = tuple(catalog.broken)
    return finish(RunResult(status="error", broken=broken)) if broken else code


def _opened(path: str) -> AbstractContextManager[BinaryIO]:
    """The lines of a file, or of standard input."""
    if path == "-":
        return nullcontext(standard_input())
    try:
        return open_file(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def write_vectors(options: VectorsOptions) -> int:
    """Write the golden bytes, one object a line."""

    broken: list[str] = []
    for one in vectors(*(options.sets or (".",)), repository=options.repo, messages=options.message, broken=broken):
        sys.stdout.write(encoded(one) + "\n")
    return finish(RunResult(status="error" if broken else "ok", broken=tuple(broken)))


def _document(made: Any, data: bytes) -> dict[str, Any]:
    return {
        "message": made.message,
        "version": made.version,
        "header_version": made.header_version,
        "hex": None if made.problems else data.hex(),
        "length": 0 if made.problems else len(data),
        "problems": [*made.problems],
    }


def _write(data: bytes, form: str) -> None:
    if form == "binary":
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
    else:
        print(data.hex() if form == "hex" else base64.b64encode(data).decode())


def _values(text: str | None, fields: Sequence[str]) -> dict[str, Any]:
    found = _object(text, "--json") if text else {}
    for one in fields:
        name, equals, value = one.partition("=")
        if not equals:
            raise UsageError(f"--value takes FIELD=VALUE, such as groupId=g, not {one}")
        try:
            found[name] = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            found[name] = value
    return found


def _object(text: str, option: str) -> dict[str, Any]:
    """The JSON object that an option gives, or that the file has which it names."""
    if not text.lstrip().startswith("{") and os.path.lexists(text):
        try:
            text = read_text(text, MOST_VALUES)
        except OSError as error:
            raise UsageError(f"{option}: cannot read {text}: {error.strerror}") from None
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"{option}: {error}") from None
    if not isinstance(found, dict):
        raise UsageError(f"{option} takes a JSON object")
    return found
