"""The fixers of definitions: each turns the violation of a rule into the edits that resolve it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from kiplint.engine.finding import Fix, Violation
from kiplint.fixes.edits import FIELD, MESSAGE, comment_edit, map_text, set_property
from kiplint.model.fields import Field
from kiplint.model.headers import HeaderRange, derived_header, derived_map
from kiplint.model.message import Message
from kiplint.model.schemas import FROZEN, Rpc
from kiplint.model.types import PRIMITIVES
from kiplint.text.diagnose import read_json5
from kiplint.text.edit import Document, Edit, NotEditable, delete_item, insert_property, rename_key, replace_value
from kiplint.text.tree import Node, is_identifier
from kiplint.versions import ALL, NONE, VersionRange


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

    def item(self) -> tuple[Node, Node]:
        """The object or list around the value at the pointer, and the value; raises NotEditable for the document."""
        node = self.find(self.pointer)
        if node is self.document.root:
            raise NotEditable(f"{self.pointer} is the document")
        return self.document.nodes_to(self.pointer)[-2], node

    def write_value(self, node: Node, value: object) -> Edit:
        """The edit that writes a value as JSON in the place of another."""
        return replace_value(self.document, node, msgspec.json.encode(value).decode())

    def safe(self, edits: Iterable[Edit]) -> Fix:
        """A fix that certainly does what is meant."""
        return Fix("safe", tuple(edits))

    def unsafe(self, edits: Iterable[Edit]) -> Fix:
        """A fix that most likely does what is meant; a person has to review it."""
        return Fix("unsafe", tuple(edits))


Fixer = Callable[[FixerCase], Fix | None]
FIXERS: Final[dict[str, Fixer]] = {}
"""The fixers by the names that rules have for them."""


def fixer(function: Fixer) -> Fixer:
    """Register a fixer, a function that returns None for what it cannot resolve; rules name it with hyphens."""
    FIXERS[function.__name__.replace("_", "-")] = function
    return function


def make_fix(violation: Violation, pointer: str, files: Mapping[str, bytes]) -> Fix | None:
    """The fix of a violated rule that names a fixer; None if the fixer cannot resolve this case."""
    function = FIXERS.get(violation.rule.spec.fix)
    if function is None or violation.location.file not in files:
        return None
    try:
        fix = function(FixerCase(violation, pointer, files))
    except NotEditable:
        return None
    if fix is None or not fix.edits:
        return None
    return replace(fix, changes=violation.rule.spec.changes) if fix.applicability == "unsafe" else fix


# What a rule says to write


_PROPERTY: Final = re.compile(r'"([A-Za-z0-9+-]+)": ?(.+)', re.DOTALL)
_HEADER_ENTRY: Final = "/headerVersions/"


@fixer
def instead(case: FixerCase) -> Fix | None:
    """Apply the rule's `instead` as a safe fix."""
    return case.safe(_instead_edits(case))


@fixer
def suggestion(case: FixerCase) -> Fix | None:
    """Apply the rule's `instead` as an unsafe fix."""
    return case.unsafe(_instead_edits(case))


def _instead_edits(case: FixerCase) -> tuple[Edit, ...]:
    """The edits that write a rule's `instead`; none when it is not a text for the place, or is there already."""
    text = case.violation.instead
    if not text:
        return ()
    node = case.find(case.pointer)
    match = _PROPERTY.fullmatch(text)
    if match is None:
        plain = node.kind in ("string", "word") and _is_json(text)
        return (replace_value(case.document, node, text),) if plain else ()
    key, value = match.groups()
    if not _is_json(value):
        return ()
    if case.pointer.startswith(_HEADER_ENTRY) and key[0].isdigit():
        return rename_key(case.document, node, key), replace_value(case.document, node, value)
    container = _owner(case, key)
    if container is None:
        return ()
    return set_property(case.document, container, key, value, MESSAGE if container is case.document.root else FIELD)


def _owner(case: FixerCase, key: str) -> Node | None:
    """The nearest object that can have the property: the message or a field."""
    way = case.document.nodes_to(case.pointer)
    objects = [(node, MESSAGE if node is case.document.root else FIELD) for node in way if node.kind == "object"]
    return next((node for node, order in reversed(objects) if key in order), None)


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except ValueError:
        return False
    return True


# The text


@fixer
def byte_order_mark(case: FixerCase) -> Fix | None:
    """Remove the mark, although an editor may depend on it."""
    return case.unsafe(_without_text(case, "byte-order-mark"))


@fixer
def trailing_comma(case: FixerCase) -> Fix | None:
    """Remove the comma."""
    return case.safe(_without_text(case, "trailing-comma"))


def _without_text(case: FixerCase, kind: str) -> list[Edit]:
    problem = case.element.problem
    return [case.document.edit(problem.start, problem.end, "")] if problem.kind == kind else []


@fixer
def unused_ignore(case: FixerCase) -> Fix | None:
    """Remove an ignore comment that ignores nothing, unless its rule may be misspelt."""
    document, problem = case.document, case.element.problem
    if not problem.removable:
        return None
    start, end = problem.start, problem.end
    if document.begins_line(start):
        return case.unsafe([document.edit(document.line_start(start), document.next_line(start), "")])
    code = document.text[document.line_start(start) : start].rstrip(" \t")
    return case.unsafe([document.edit(document.line_start(start) + len(code), end, "")])


MOST_LITERAL: Final = 1000
"""The characters of a literal of JSON5 that is read, which takes long."""


@fixer
def json5(case: FixerCase) -> Fix | None:
    """Write a name, a string, a whole number or white space as JSON: in double quotes, decimal digits, or a blank."""
    problem = case.element.problem
    if problem.kind != "json5-only" or problem.end - problem.start > MOST_LITERAL:
        return None
    source = case.document.text[problem.start : problem.end]
    if not source.strip():
        return case.safe([case.document.edit(problem.start, problem.end, " ")])
    try:
        value = source if is_identifier(source) else read_json5(source)
    except ValueError:
        return None
    if not isinstance(value, (str, int)) or source in ("Infinity", "NaN"):
        return None
    text = json.dumps(value, ensure_ascii=not str(value).isprintable())
    return case.safe([case.document.edit(problem.start, problem.end, text)])


@fixer
def misspelt_property(case: FixerCase) -> Fix | None:
    """Rename the property to the name that is probably meant, unless that is present."""
    container, node = case.item()
    name = case.element.problem.intended_property
    if not name or any(child.key == name for child in container.children):
        return None
    return case.unsafe([rename_key(case.document, node, name)])


# Fields


@fixer
def default_null(case: FixerCase) -> Fix | None:
    """Null in quotes, which changes the default, where the field is nullable; else no default, as Kafka reads it."""
    field: Field = case.element
    container, node = case.item()
    if field.nullable and field.versions <= field.nullable:
        return case.unsafe([case.write_value(node, "null")])
    return case.safe(delete_item(case.document, container, node))


@fixer
def written_type(case: FixerCase) -> Fix | None:
    """An array as Kafka writes it, for the notation of another language; unsafe for a misspelt primitive."""
    field: Field = case.element
    if not field.meant_type or field.meant_type == field.type:
        return None
    edits = [case.write_value(case.find(case.pointer), field.meant_type)]
    is_certain = field.meant_type.removeprefix("[]") in PRIMITIVES.intersection(re.findall(r"\w+", field.type))
    return case.safe(edits) if is_certain else case.unsafe(edits)


# Versions of messages


@fixer
def flexible_versions(case: FixerCase) -> Fix | None:
    """The versions from the first tagged one on, or as in the other message of the RPC; else all, or none.

    A message of a single version is most likely new, and new messages are flexible.
    """
    message: Message = case.element
    if message.declares_flexible:
        return None
    tagged = [field.tagged.lowest for field in message.all_fields if field.tagged]
    partner = message.schemas.partner_by_name(message)
    if tagged:
        versions = VersionRange.of(min(tagged))
    elif message.is_rpc and partner and partner.declares_flexible and not partner.flexible_problem:
        versions = partner.flexible
    else:
        versions = NONE if message.valid.highest else ALL
    document = case.document
    return case.unsafe(insert_property(document, document.root, "flexibleVersions", f'"{versions}"', MESSAGE))


@fixer
def lagging_message(case: FixerCase) -> Fix | None:
    """Let the request or response whose versions end first go as far as the other."""
    rpc: Rpc = case.element
    message = rpc.lagging if rpc.rpc_name not in FROZEN else None
    document = case.document_of(message) if message else None
    node = document.find("/validVersions") if document else None
    if message is None or document is None or node is None or not message.valid:
        return None
    valid = message.valid
    highest = max(side.valid.highest for side in (rpc.request, rpc.response) if side)
    if highest <= valid.highest or len(valid.parts) > 1:
        return None
    versions = replace_value(document, node, f'"{VersionRange.of(valid.lowest, highest)}"')
    next_version = valid.highest + 1
    words = f"Versions {next_version} to {highest} come" if next_version < highest else f"Version {highest} comes"
    partner = "response" if message is rpc.request else "request"
    return case.unsafe([versions, comment_edit(document, node, f"{words} with the {partner}.")])


# Header versions


@fixer
def header_map(case: FixerCase) -> Fix | None:
    """Declare the headers that the versions have by flexibleVersions, in all messages that lack it."""
    messages: Iterable[Message] = case.element.schemas.headerless
    return case.safe(edit for message in messages for edit in _declare_headers(case, message))


def _declare_headers(case: FixerCase, message: Message) -> Iterable[Edit]:
    document = case.document_of(message)
    if document is None or message.flexible_problem or (message.flexible and not message.flexible.open):
        return ()
    text = map_text(derived_map(message), document.indent_unit)
    return set_property(document, document.root, "headerVersions", text, MESSAGE)


@fixer
def header_gap(case: FixerCase) -> Fix | None:
    """Let a range beside the gap have its versions: the later one if that is their header by flexibleVersions."""
    entry: HeaderRange = case.element
    before = entry.furthest
    if before is None or not entry.gap or min(before.header, entry.header) < 0:
        return None
    wider = entry if derived_header(entry.message, entry.gap.highest) == entry.header else before
    return case.unsafe([rename_key(case.document, case.find(wider.pointer), str(wider.versions | entry.gap))])


@fixer
def header_overlap(case: FixerCase) -> Fix | None:
    """Let the range before end where this one starts."""
    entry: HeaderRange = case.element
    before = entry.previous
    if before is None or before.versions.lowest >= entry.versions.lowest:
        return None
    shorter = VersionRange.of(before.versions.lowest, entry.versions.lowest - 1)
    return case.unsafe([rename_key(case.document, case.find(before.pointer), str(shorter))])
