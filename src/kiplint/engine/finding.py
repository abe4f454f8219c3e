"""Findings: a rule that is violated at a place, with the fix if there is one."""

from __future__ import annotations

import os
from typing import Annotated, Any, Literal, NamedTuple, Self

import msgspec
from msgspec import Meta
from msgspec.structs import asdict, replace

from kiplint.model.fields import Field, Struct
from kiplint.model.headers import HeaderRange
from kiplint.model.load import ProblemElement
from kiplint.model.message import Message
from kiplint.model.notes import Note
from kiplint.model.schemas import Rpc, SchemaSet
from kiplint.text.edit import Edit
from kiplint.text.lines import character_of

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


class Span(msgspec.Struct, frozen=True):
    """A part of a text: 1-based lines and columns, columns in characters, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


Line = Annotated[int, Meta(ge=1, description="1-based; columns count characters.")]


class Fix(msgspec.Struct, frozen=True, omit_defaults=True):
    """The edits that resolve a finding, all together."""

    applicability: Annotated[
        Literal["safe", "unsafe"], Meta(description="`unsafe` fixes are most likely right: review them.")
    ]
    edits: tuple[Edit, ...]
    changes: Annotated[
        str, Meta(description="What an `unsafe` fix changes beside the text, such as the Java class; else left out.")
    ] = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One violation of a rule at one place; it is also a line of the jsonl output."""

    rule: Annotated[str, Meta(description="The rule's id, pack/rule.")]
    severity: Annotated[Severity, Meta(description="error, warning or info.")]
    message: Annotated[str, Meta(description="What is wrong, and what to write instead.")]
    path: Annotated[str, Meta(description="The file, relative to the working directory when below it.")]
    line: Annotated[int, Meta(ge=1, description="1-based.")]
    column: Annotated[int, Meta(ge=1, description="1-based, in characters.")]
    end_line: Annotated[int, Meta(ge=1, description="The last line of the place.")]
    end_column: Annotated[int, Meta(ge=1, description="Exclusive: the first column after the place.")]
    pointer: Annotated[str, Meta(description="The JSON pointer (RFC 6901) of the place.")]
    message_name: Annotated[str, Meta(description="The message, empty when its name could not be read.")]
    source: Annotated[str, Meta(description="Where the rule comes from, such as a KIP.")]
    fingerprint: Annotated[str, Meta(description="The same while rule, message and field are the same.")]
    fixable: Annotated[bool, Meta(description="Whether there is a `fix`; a safe one makes nothing worse.")]
    url: Annotated[str, Meta(description="Where the rule is documented; left out for a user's own rules.")] = ""
    fix: Annotated[Fix | None, Meta(description="The fix; left out where there is none.")] = None
    instead: Annotated[
        str,
        Meta(
            description='What to write, as JSON: a value for the property that is pointed to; `"property": value` '
            "for the nearest object that can have it; an object for a field that is missing; left out for nothing."
        ),
    ] = ""
    help: Annotated[str, Meta(description="What to do: an edit or a command; left out for nothing.")] = ""
    place: Annotated[str, Meta(description="The pointer with names for indexes; left out for the whole message.")] = ""

    @property
    def span(self) -> Span:
        """The place in the file."""
        return Span(self.line, self.column, self.end_line, self.end_column)

    @property
    def summary(self) -> str:
        """The message and what to do, in one line."""
        return f"{self.message}; {self.advice}" if self.advice else self.message

    @property
    def advice(self) -> str:
        """What to do, in words: the help of the rule, or what to write; empty where the message says it."""
        return self.help or (f"write {self.instead}" if self.instead else "")

    @property
    def remark(self) -> str:
        """What people are told below the finding: where its rule comes from."""
        return f"source: {self.source}" if self.source else ""

    def at(self, path: str, span: Span) -> Self:
        """The same finding at another place."""
        return replace(self, path=path, **asdict(span))

    def fixed_by(self, fix: Fix | None) -> Self:
        """The same finding with this fix."""
        return replace(self, fix=fix, fixable=fix is not None)


def fingerprint(*parts: str) -> str:
    """32 hexadecimal digits of what identifies a finding: its rule, its message, the names that lead to its place."""
    from hashlib import sha256

    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Location(NamedTuple):
    """A place in the sources: the file, the element's pointer, the name of its property or empty, the message's name.

    `start` and `end` are character offsets, which are used instead of the pointer, or -1.
    """

    file: str
    pointer: str
    name: str
    message_name: str
    start: int = -1
    end: int = -1


def location_of(element: Any, name: str) -> Location:
    """The place of an element, or of its property `name` unless that is empty; a set is at its directory."""
    if isinstance(element, Note):
        return _in_text(element)
    if isinstance(element, ProblemElement):
        return Location(element.file, element.pointer, "", element.message_name, element.start, element.end)
    if isinstance(element, SchemaSet):
        return Location(element.directory or os.curdir, "", "", "")
    message = message_of(element)
    if message is None:
        return Location("", "", "", "")
    return Location(message.file, getattr(element, "pointer", ""), name, message.name)


def _in_text(element: Note) -> Location:
    message = element.message
    start, end = element.place_in_file
    first, last = character_of(message.data, start), character_of(message.data, end)
    return Location(message.file, "", "", message.name, first, last)


def message_of(element: Any) -> Message | None:
    """The message of an element; for an RPC the request if it has one; None for a set."""
    if isinstance(element, Message):
        return element
    if isinstance(element, (Field, Struct, HeaderRange)):
        return element.message
    if isinstance(element, Rpc):
        return element.request or element.response
    return None
