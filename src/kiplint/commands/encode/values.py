"""The values to encode, as the command line states them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO

import msgspec

from kiplint.engine.errors import UsageError
from kiplint.text.files import open_file, read_text, standard_input

MOST_VALUES = 256 << 20
"""The size of the largest file of values, in bytes."""


def open_lines(path: str) -> AbstractContextManager[BinaryIO]:
    """The lines of a file, or of standard input for `-`. Raises UsageError."""
    if path == "-":
        return nullcontext(standard_input())
    try:
        return open_file(path)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def parse_values(text: str | None, fields: Sequence[str]) -> dict[str, Any]:
    """The values of `--json` and of each `--value`, FIELD=VALUE. Raises UsageError."""
    values = parse_object(text, "--json") if text else {}
    for field in fields:
        name, equals, value = field.partition("=")
        if not equals:
            raise UsageError(f"--value takes FIELD=VALUE, such as groupId=g, not {field}")
        try:
            values[name] = msgspec.json.decode(value)
        except (msgspec.DecodeError, RecursionError):
            values[name] = value
    return values


def parse_object(text: str, option: str) -> dict[str, Any]:
    """The JSON object in the value of an option, or in the file that the value names. Raises UsageError."""
    if not text.lstrip().startswith("{") and os.path.lexists(text):
        try:
            text = read_text(text, MOST_VALUES)
        except OSError as error:
            raise UsageError(f"{option}: cannot read {text}: {error.strerror}") from None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UsageError(f"{option}: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(f"{option} takes a JSON object")
    return value
