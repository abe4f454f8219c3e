"""The JSON of a result, as a document or in lines. Fields are stable; new ones may be added."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TextIO

import msgspec

from kiplint.render.report import RunResult
from kiplint.text.show import as_json_escape, encodable, printable


def write(result: RunResult, out: TextIO) -> None:
    """Write the document of a result."""
    out.write(pretty(result.document) + "\n")


def write_lines(result: RunResult, out: TextIO) -> None:
    """Write each item of the document's main list, such as the findings, on a line; below them the accepted changes."""
    document = result.document
    for item in (*getattr(document, result.list_attribute), *getattr(document, "accepted", ())):
        out.write(as_json(item) + "\n")


def write_rows(opening: str, rows: Iterable[object], closing: str, out: TextIO) -> None:
    """Write JSON with each row on a line of its own, between the text that opens the array and the text after it."""
    text = ",".join(f"\n{as_json(row)}" for row in rows)
    out.write(f"{opening}{text}\n{closing}" if text else f"{opening}{closing}")


def as_json(value: object) -> str:
    """JSON on one line; characters that could act on a terminal are escaped as JSON escapes them."""
    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:  # a path that is not UTF-8
        data = msgspec.json.encode(_encodable(msgspec.to_builtins(value)))
    return printable(data.decode(), as_json_escape)


def _encodable(value: Any) -> Any:
    """A JSON value in which U+FFFD replaces what cannot be written as UTF-8, in every text at any depth."""
    if isinstance(value, dict):
        return {encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return list(map(_encodable, value))
    return encodable(value) if isinstance(value, str) else value


def pretty(value: object) -> str:
    """JSON as `as_json` writes it, but on several lines, indented by two blanks."""
    return msgspec.json.format(as_json(value), indent=2)
