"""What `encode` and `vectors` read and write."""

from __future__ import annotations

import base64
import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from kiplint.cli.output import finish
from kiplint.cli.process import CLEAN, FINDINGS
from kiplint.cli.terminal import label
from kiplint.engine.errors import UsageError
from kiplint.report.findings.json import encoded, pretty
from kiplint.runs.result import RunResult
from kiplint.text.files import open_file, read_text, standard_input
from kiplint.text.show import printable

if TYPE_CHECKING:
    from kiplint.cli.commands.encode import Options as EncodeOptions
    from kiplint.cli.commands.vectors import Options as VectorsOptions


MOST_VALUES = 256 << 20
"""The bytes of the largest file of values."""


def encode_one(options: EncodeOptions) -> int:
    """Write the bytes of one message; what is wrong with its values goes to standard error."""
    from kiplint.runs.bytes.encode import encode

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
    from kiplint.codec.exchange import encode_line
    from kiplint.runs.bytes.choice import open_catalog

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
    from kiplint.runs.bytes.encode import vectors

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
