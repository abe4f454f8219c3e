"""What fixers take and return: a violation with the files of its set, and one or more competing fixes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

import msgspec

from kiplint.engine.finding import Fix
from kiplint.engine.ruleset import Violation
from kiplint.model.message import Message
from kiplint.text.edit import Edit
from kiplint.text.source import Document, NotEditable, replace_value
from kiplint.text.tree import Node

Fixes = tuple[Fix, ...]
"""The fixes of one finding, the likeliest first; each resolves it alone."""


@lru_cache(maxsize=8)
def _document(data: bytes, path: str) -> Document:
    return Document(data, path)


class FixerCase:
    """A violation for a fixer, with the pointer of its finding and the files of its set."""

    def __init__(self, violation: Violation, pointer: str, files: Mapping[str, bytes]) -> None:
        self.violation = violation
        self.element: Any = violation.element
        """What violates the rule. A rule names fixers for its own kind of element only."""
        self.pointer = pointer
        self._files = files

    @cached_property
    def document(self) -> Document:
        """The file that the finding is in."""
        path = self.violation.location.file
        return _document(self._files[path], path)

    def document_of(self, message: Message) -> Document | None:
        """The file of a message of the set, None when it is not among those that may be changed."""
        return _document(self._files[message.file], message.file) if message.file in self._files else None

    def find(self, pointer: str) -> Node:
        """The value at a pointer into that file; raises NotEditable when there is none."""
        node = self.document.find(pointer)
        if node is None:
            raise NotEditable(f"there is no {pointer}")
        return node

    def at(self, key: str) -> Node:
        """The property that the finding points to; raises NotEditable unless it is `key`."""
        node = self.find(self.pointer)
        if node.key != key:
            raise NotEditable(f"{self.pointer} is not {key}")
        return node

    def item(self) -> tuple[Node, Node]:
        """The object or list around the value at the pointer, and the value; raises NotEditable for the document."""
        node = self.find(self.pointer)
        if node is self.document.root:
            raise NotEditable(f"{self.pointer} is the document")
        return self.document.way(self.pointer)[-2], node

    def write_value(self, node: Node, value: object) -> Edit:
        """The edit that writes a value as JSON in the place of another."""
        return replace_value(self.document, node, as_json(value))

    def safe(self, edits: Iterable[Edit]) -> Fixes:
        """A fix of the file that certainly does what is meant."""
        return _fixes("safe", [edits])

    def unsafe(self, *choices: Iterable[Edit]) -> Fixes:
        """Fixes of the file of which one most likely does what is meant; a person has to review it."""
        return _fixes("unsafe", choices)


Fixer = Callable[[FixerCase], Fixes]
FIXERS: Final[dict[str, Fixer]] = {}
"""The fixers by the names that rules have for them."""


def fixer(function: Fixer) -> Fixer:
    """Register a fixer, a function that returns no fix for what it cannot resolve; rules name it with hyphens."""
    FIXERS[function.__name__.replace("_", "-")] = function
    return function


def _fixes(applicability: Literal["safe", "unsafe"], choices: Iterable[Iterable[Edit]]) -> Fixes:
    fixes = (Fix(applicability, tuple(edits)) for edits in choices)
    return tuple(fix for fix in fixes if fix.edits)


def as_json(value: object) -> str:
    """A value as JSON for a definition."""
    return msgspec.json.encode(value).decode()
