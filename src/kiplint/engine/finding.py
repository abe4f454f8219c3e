"""A finding: one rule broken at one place."""

from __future__ import annotations

from typing import Literal

import msgspec

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
    def told(self) -> str:
        """The message, and what to write instead, in one line."""
        return f"{self.message}; write {self.instead}" if self.instead else self.message

    @property
    def fingerprint(self) -> str:
        """The same while rule, message and field are the same, whatever the line: 32 hexadecimal digits."""
        from hashlib import sha256

        return sha256(self.identity.encode("utf-8", "surrogatepass")).hexdigest()[:32]
