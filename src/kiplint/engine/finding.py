"""Violations, which the engine works with, and findings, which users get.

A violation is what a rule says of an element of the model. A finding is made of it when its file is read once more for
lines and columns: it holds text only, and is the JSON of the output.
"""

from __future__ import annotations

import os
from hashlib import sha256
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, Self

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
from kiplint.text.lines import character_offset

if TYPE_CHECKING:
    from kiplint.engine.rule import Level, Rule

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "info")


class Span(msgspec.Struct, frozen=True):
    """A span of text: 1-based lines and columns, columns in characters, the end column exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int


class Location(NamedTuple):
    """Where a violation is, in terms of the model: the file, and the JSON pointer of an element, such as `/fields/0`.

    `key` names a property of the element, such as `tag`; it is empty for the whole element. A part of the text that is
    not a JSON value, such as a comment, is at a half-open range of `characters` of the file instead.
    """

    file: str
    pointer: str = ""
    key: str = ""
    message_name: str = ""
    characters: tuple[int, int] | None = None


class Violation(msgspec.Struct, frozen=True):
    """A rule that an element of the model violates. Fixers use the element; `run.located_finding` makes the finding.

    The texts are those of the finding; the severity `off` means that the rule reports nothing in this case.
    """

    rule: Rule
    severity: Level
    message: str
    location: Location
    element: Any
    instead: str = ""
    help: str = ""


class Fix(msgspec.Struct, frozen=True, omit_defaults=True):
    """The edits that resolve a finding, all together."""

    applicability: Annotated[
        Literal["safe", "unsafe"], Meta(description="`unsafe` fixes are most likely right: review them.")
    ]
    edits: tuple[Edit, ...]
    changes: Annotated[
        str,
        Meta(description="What an `unsafe` fix changes besides the text, such as the Java class; otherwise omitted."),
    ] = ""


class Finding(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One violation of a rule at one location; it is also a line of the jsonl output."""

    rule: Annotated[str, Meta(description="The rule's id, pack/rule.")]
    severity: Annotated[Severity, Meta(description="error, warning or info.")]
    message: Annotated[str, Meta(description="What is wrong, and what to write instead.")]
    path: Annotated[str, Meta(description="The file, relative to the working directory when below it.")]
    line: Annotated[int, Meta(ge=1, description="1-based.")]
    column: Annotated[int, Meta(ge=1, description="1-based, in characters.")]
    end_line: Annotated[int, Meta(ge=1, description="The last line of the location.")]
    end_column: Annotated[int, Meta(ge=1, description="Exclusive: the first column after the location.")]
    pointer: Annotated[str, Meta(description="The JSON pointer (RFC 6901) of the location.")]
    message_name: Annotated[str, Meta(description="The message; empty if its name could not be read.")]
    source: Annotated[str, Meta(description="Where the rule comes from, such as a KIP.")]
    fingerprint: Annotated[str, Meta(description="Stays the same as long as the rule, the message and the field do.")]
    fixable: Annotated[bool, Meta(description="Whether there is a `fix`, which `--fix` tries.")]
    url: Annotated[str, Meta(description="Where the rule is documented; omitted for custom rules.")] = ""
    fix: Annotated[Fix | None, Meta(description="The fix; omitted if there is none.")] = None
    instead: Annotated[
        str,
        Meta(
            description='What to write, as JSON: a value for the property that is pointed to; `"property": value` '
            "for the nearest object that can have it; an object for a missing field; omitted if there is none."
        ),
    ] = ""
    help: Annotated[str, Meta(description="What to do: an edit or a command; omitted if there is none.")] = ""
    place: Annotated[str, Meta(description="The pointer with names for indexes; omitted for the whole message.")] = ""

    @property
    def span(self) -> Span:
        """The lines and columns of the finding."""
        return Span(self.line, self.column, self.end_line, self.end_column)

    @property
    def summary(self) -> str:
        """The message and the advice in one line: `tag 1 of B comes after a gap; write 0`."""
        return f"{self.message}; {self.advice}" if self.advice else self.message

    @property
    def advice(self) -> str:
        """What to do: the rule's `help`, or `write 0` for an `instead` of 0; empty where the rule has neither."""
        return self.help or (f"write {self.instead}" if self.instead else "")

    @property
    def remark(self) -> str:
        """The remark below a finding, such as `source: KIP-482`; empty for a rule without a source."""
        return f"source: {self.source}" if self.source else ""

    def at(self, path: str, span: Span) -> Self:
        """The same finding, reported for another file and span."""
        return replace(self, path=path, **asdict(span))

    def with_fix(self, fix: Fix | None) -> Self:
        """The same finding with this fix, or without a fix."""
        return replace(self, fix=fix, fixable=fix is not None)


def fingerprint(*parts: str) -> str:
    """The hash, in 32 hexadecimal digits, of the parts that identify a finding.

    The parts are by convention the rule, the name of the message, and the path of the field, but never the line.
    """
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def location_of(element: Any, key: str) -> Location:
    """The location of an element, or of its property `key` unless that is empty.

    An RPC is located at its request, or at its response if it has no request; a schema set at its directory.
    """
    if isinstance(element, Note):
        data = element.message.data
        start, end = element.span_in_file
        characters = character_offset(data, start), character_offset(data, end)
        return Location(element.message.file, message_name=element.message.name, characters=characters)
    if isinstance(element, ProblemElement):
        span = (element.start, element.end) if element.start >= 0 else None  # else its pointer says where it is
        return Location(element.file, element.pointer, message_name=element.message_name, characters=span)
    if isinstance(element, SchemaSet):
        return Location(element.directory or os.curdir)
    message = message_of(element)
    if message is None:
        return Location("")  # a change, which has a location of its own
    pointer = "" if isinstance(element, Rpc) else element.pointer
    return Location(message.file, pointer, key, message.name)


def message_of(element: Any) -> Message | None:
    """The message of an element; of an RPC the request, or else the response; None for a set and for a change."""
    if isinstance(element, Message):
        return element
    if isinstance(element, (Field, Struct, HeaderRange, ProblemElement)):
        return element.message
    if isinstance(element, Rpc):
        return element.request or element.response
    return None
