"""Findings: a rule that is violated at a place, with the fix if there is one."""

from __future__ import annotations

import os
from typing import Any, Literal, NamedTuple

import msgspec

from kiplint.model.fields import Field, Struct
from kiplint.model.headers import HeaderRange
from kiplint.model.load import ProblemElement
from kiplint.model.message import Message
from kiplint.model.notes import TextElement
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.text.lines import character_of

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


class Span(msgspec.Struct, frozen=True):
    """A stretch of text: 1-based lines and columns, columns in characters, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class FileEdit(msgspec.Struct, frozen=True):
    """The replacement of the bytes from `start` up to `end` of the file as it is by `text`."""

    path: str
    start: int
    end: int
    text: str


class Fix(msgspec.Struct, frozen=True):
    """The edits that resolve a finding; `unsafe` if they are a guess. `others` resolve it too, the likeliest first."""

    applicability: Literal["safe", "unsafe"]
    edits: tuple[FileEdit, ...]
    others: tuple[Fix, ...] = ()


class Finding(msgspec.Struct, frozen=True):
    """One violation of a rule at one position.

    `instead` is a value for the property at the position; `"property": value` where the nearest object that can have
    the property must have this value; an object for a field that is missing from a list.
    """

    rule: str
    """The id of the rule."""
    severity: Severity
    """The severity."""
    message: str
    """What is wrong."""
    path: str
    """The path of the file."""
    span: Span
    """The position in the file."""
    pointer: str
    """The JSON pointer of the position."""
    message_name: str
    """The name of the message that the finding is about."""
    source: str
    """Where the rule comes from: a KIP, a pull request, or Kafka's generator."""
    identity: str
    """Rule, message and the names that lead to the position. Findings with the same identity are the same finding."""
    instead: str = ""
    """The correct text as JSON, or empty where no single text is correct."""
    fix: Fix | None = None
    """The edits that resolve the finding, or None."""

    @property
    def fixable(self) -> bool:
        """Whether there is a fix; False if the run computed no fixes."""
        return self.fix is not None

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """All fixes that resolve the finding, the likeliest first; each does so alone."""
        return (msgspec.structs.replace(self.fix, others=()), *self.fix.others) if self.fix else ()

    @property
    def summary(self) -> str:
        """The message and the correct text, in one line."""
        return f"{self.message}; write {self.instead}" if self.instead else self.message

    @property
    def fingerprint(self) -> str:
        """32 hexadecimal digits that depend on the rule, the message and the field, not on the line."""
        from hashlib import sha256

        return sha256(self.identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Anchor(NamedTuple):
    """A place in the sources: the file, the element's pointer, the name of its property or empty, the message's name.

    `start` and `end` are character offsets, which are used instead of the pointer, or -1.
    """

    file: str
    pointer: str
    name: str
    message_name: str
    start: int = -1
    end: int = -1


def anchor(element: Any, name: str) -> Anchor:
    """The place of an element, or of its property `name` unless that is empty; a set is at its directory."""
    if isinstance(element, TextElement):
        return _in_text(element)
    if isinstance(element, ProblemElement):
        return Anchor(element.file, element.pointer, "", element.message_name, element.start, element.end)
    if isinstance(element, SchemaSet):
        return Anchor(element.directory or os.curdir, "", "", "")
    message = message_of(element)
    if message is None:
        return Anchor("", "", "", "")
    return Anchor(message.file, getattr(element, "pointer", ""), name, message.name)


def _in_text(element: TextElement) -> Anchor:
    message = element.message
    start, end = element.place_in_file
    first, last = character_of(message.data, start), character_of(message.data, end)
    return Anchor(message.file, "", "", message.name, first, last)


def message_of(element: Any) -> Message | None:
    """The message of an element; for an RPC the request if it has one; None for a set."""
    if isinstance(element, Message):
        return element
    if isinstance(element, (Field, Struct, HeaderRange)):
        return element.message
    if isinstance(element, Rpc):
        return element.request or element.response
    return None
