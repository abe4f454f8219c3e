"""A finding: one rule broken at one place."""

from __future__ import annotations

import os
from typing import Any, Literal, NamedTuple

import msgspec

from kiplint.model.fields import Field, Struct
from kiplint.model.headers import HeaderRange
from kiplint.model.message import Message
from kiplint.model.notes import TextElement
from kiplint.model.problem import ProblemElement, ReadingElement
from kiplint.model.schemas import Rpc, SchemaSet

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


class Span(msgspec.Struct, frozen=True):
    """A stretch of text: 1-based lines and columns, columns in characters, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class FileEdit(msgspec.Struct, frozen=True):
    """The bytes of a file from `start` up to `end`, as it is, give way to `text`."""

    path: str
    start: int
    end: int
    text: str


class Fix(msgspec.Struct, frozen=True):
    """The edits that put a finding right: certainly (`safe`), or as far as can be guessed (`unsafe`)."""

    applicability: Literal["safe", "unsafe"]
    edits: tuple[FileEdit, ...]


class Finding(msgspec.Struct, frozen=True):
    """One rule broken at one place of one file, ready to be reported.

    `instead` is what to write, as JSON: a value for the property that the finding points to; `"property": value` where
    the nearest object that can have that property is to have it so; an object for a field that is missing from a list.
    It is empty where no one text puts it right.

    `identity` is rule, message and the names that lead to the place; findings that have it in common are one finding.
    """

    rule: str
    severity: Severity
    message: str
    path: str
    span: Span
    pointer: str
    message_name: str
    source: str
    identity: str
    instead: str = ""
    fix: Fix | None = None

    @property
    def fixable(self) -> bool:
        """Whether there is a fix; known only where fixes were asked for."""
        return self.fix is not None

    @property
    def summary(self) -> str:
        """The message and the correct text, in one line."""
        return f"{self.message}; write {self.instead}" if self.instead else self.message

    @property
    def fingerprint(self) -> str:
        """The same while rule, message and field are the same, whatever the line: 32 hexadecimal digits."""
        from hashlib import sha256

        return sha256(self.identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Anchor(NamedTuple):
    """A place in the sources: the file, the element's pointer, the property wanted there, and the message's name.

    `start` and `end` are character offsets where the reader knows them better than a pointer can say, else -1.
    """

    file: str
    pointer: str
    name: str
    message_name: str
    start: int = -1
    end: int = -1


def anchor(element: Any, name: str) -> Anchor:
    """The place of an element, and of one property of it when there is one wanted; a set is at its directory."""
    if isinstance(element, ProblemElement):
        noted = element.noted
        return Anchor(element.file, noted.pointer, "", element.message_name, noted.start, noted.end)
    if isinstance(element, TextElement):
        return _in_text(element)
    if isinstance(element, ReadingElement):
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
    first = len(message.data[:start].decode("utf-8", "surrogateescape"))
    return Anchor(
        message.file, "", "", message.name, first, first + len(message.data[start:end].decode(errors="replace"))
    )


def message_of(element: Any) -> Message | None:
    """The message that an element belongs to; of an RPC the request, of a set none."""
    if isinstance(element, Message):
        return element
    if isinstance(element, (Field, Struct, HeaderRange)):
        return element.message
    if isinstance(element, Rpc):
        return element.request or element.response
    return None
