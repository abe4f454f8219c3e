"""The fixers of definitions: each turns the violation of a rule into the edits that resolve it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any, Final

import msgspec
from msgspec.structs import replace

from kiplint.engine.finding import Fix, Violation
from kiplint.fixes.edits import FIELD_KEYS, MESSAGE_KEYS, map_text, set_property
from kiplint.fixes.migration import bump, unusable_flexible_versions
from kiplint.model.fields import Field
from kiplint.model.headers import HeaderRange, derived_header, derived_map
from kiplint.model.message import Message
from kiplint.model.schemas import Rpc
from kiplint.model.types import PRIMITIVES
from kiplint.text.diagnose import read_json5
from kiplint.text.edit import Document, Edit, NotEditable, delete_item, insert_property, rename_key, replace_value
from kiplint.text.tree import Node, is_identifier
from kiplint.versions import ALL, NONE, VersionRange


@lru_cache(maxsize=8)
def _document(data: bytes, path: str) -> Document:
    return Document(data, path)


class FixerCase:
    """What a fixer gets: a violation, the JSON pointer of its finding, and the files of its set by path."""

    def __init__(self, violation: Violation, pointer: str, files: Mapping[str, bytes]) -> None:
        self.violation = violation
        self.element: Any = violation.element
        """What violates the rule, such as a Field; a fixer knows its type, as rules name fixers for their elements."""
        self.pointer = pointer
        self._files = files

    @cached_property
    def document(self) -> Document:
        """The file that the finding is in."""
        path = self.violation.location.file
        return _document(self._files[path], path)

    def document_of(self, message: Message) -> Document | None:
        """The file of a message of the set, None if it is not among the files that may be changed."""
        return _document(self._files[message.file], message.file) if message.file in self._files else None

    def value(self) -> Node:
        """The value at the pointer of the finding; raises NotEditable if there is none."""
        return self.node(self.pointer)

    def node(self, pointer: str) -> Node:
        """The value at a pointer into the file of the finding; raises NotEditable if there is none."""
        node = self.document.find(pointer)
        if node is None:
            raise NotEditable(f"there is no {pointer}")
        return node

    def container(self) -> Node:
        """The object or list that has the value at the pointer; raises NotEditable if there is none."""
        if self.value() is self.document.root:
            raise NotEditable(f"{self.pointer} is the document")
        return self.document.nodes_to(self.pointer)[-2]


def safe(*edits: Edit) -> Fix:
    """A fix that is certainly right."""
    return Fix("safe", edits)


def unsafe(*edits: Edit) -> Fix:
    """A fix that is most likely right; a person has to review it."""
    return Fix("unsafe", edits)


Fixer = Callable[[FixerCase], Fix | None]
FIXERS: Final[dict[str, Fixer]] = {}
"""The fixers by the names that rules use, such as `trailing-comma`."""


def fixer(function: Fixer) -> Fixer:
    """Register a fixer under its name with hyphens. It returns None for a case that it cannot resolve."""
    FIXERS[function.__name__.replace("_", "-")] = function
    return function


def make_fix(violation: Violation, pointer: str, files: Mapping[str, bytes]) -> Fix | None:
    """The fix of a violation, for the finding at a JSON pointer; None without a fixer that can resolve it.

    `files` are the files of the set that may be changed, by path.
    """
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


@fixer
def instead(case: FixerCase) -> Fix | None:
    """Apply the rule's `instead` as a safe fix."""
    return safe(*_instead_edits(case))


@fixer
def suggestion(case: FixerCase) -> Fix | None:
    """Apply the rule's `instead` as an unsafe fix."""
    return unsafe(*_instead_edits(case))


def _instead_edits(case: FixerCase) -> tuple[Edit, ...]:
    """The edits that write the rule's `instead`; none if it does not fit the element."""
    case.value()  # raises NotEditable if there is none
    return edits_of_text(case.document, case.pointer, case.violation.instead)


def edits_of_text(document: Document, pointer: str, text: str) -> tuple[Edit, ...]:
    """The edits that write what a rule says to write at a pointer; none if it does not fit there.

    A JSON value replaces a string, a word or a list; properties are set in the nearest object around that may have
    them. The pointer may end in a property that is missing.
    """
    node = document.find(pointer)
    properties = _properties(text)
    if not properties:
        kinds = ("string", "word", "array") if text.startswith("[") else ("string", "word")
        fits = node is not None and node.kind in kinds and _is_json(text)
        return (replace_value(document, node, text),) if node and fits else ()
    if node and pointer.startswith("/headerVersions/") and text[1].isdigit():
        ((key, value),) = properties.items()
        return rename_key(document, node, key), replace_value(document, node, value)
    for ancestor in reversed(document.nodes_to(pointer)):
        order = MESSAGE_KEYS if ancestor is document.root else FIELD_KEYS
        if ancestor.kind == "object" and properties.keys() <= {*order}:
            edits = (set_property(document, ancestor, key, value, order) for key, value in properties.items())
            return tuple(edit for edits_of_key in edits for edit in edits_of_key)
    return ()


def _properties(text: str) -> dict[str, str]:
    """The properties that a rule says to write, each with its value as JSON, such as `"type": "int32"`.

    In a header map the key is a range, as in `"0-3": "1"`. It is empty for a text that is a value.
    """
    try:
        values = msgspec.json.decode(f"{{{text}}}", type=dict[str, msgspec.Raw])
    except ValueError:
        return {}
    return {key: bytes(value).decode() for key, value in values.items()}


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except ValueError:
        return False
    return True


# The text


@fixer
def byte_order_mark(case: FixerCase) -> Fix | None:
    """Remove the mark; the fix is unsafe, as an editor may depend on the mark."""
    return unsafe(*_removal_of_problem(case, "byte-order-mark"))


@fixer
def trailing_comma(case: FixerCase) -> Fix | None:
    """Remove the comma."""
    return safe(*_removal_of_problem(case, "trailing-comma"))


def _removal_of_problem(case: FixerCase, kind: str) -> list[Edit]:
    """The edit that removes the text of a problem, or none if the problem is of another kind."""
    problem = case.element.problem
    return [case.document.edit(problem.start, problem.end, "")] if problem.kind == kind else []


@fixer
def unused_ignore(case: FixerCase) -> Fix | None:
    """Remove an ignore comment that ignores nothing; it is not `removable` if its rule may be misspelled."""
    document, problem = case.document, case.element.problem
    if not problem.removable:
        return None
    line_start = document.line_start(problem.start)
    if document.begins_line(problem.start):
        return unsafe(document.edit(line_start, document.next_line(problem.start), ""))
    text_before = document.text[line_start : problem.start].rstrip(" \t")
    return unsafe(document.edit(line_start + len(text_before), problem.end, ""))


MAX_LITERAL: Final = 1000
"""The longest JSON5 literal, in characters, that is read, because reading one is slow."""


@fixer
def json5(case: FixerCase) -> Fix | None:
    """Write names and strings in double quotes, integers in decimal digits, and other white space as spaces."""
    problem = case.element.problem
    if problem.kind != "json5-only" or problem.end - problem.start > MAX_LITERAL:
        return None
    source = case.document.text[problem.start : problem.end]
    if not source.strip():
        return safe(case.document.edit(problem.start, problem.end, " "))
    if source in ("Infinity", "NaN"):  # identifiers, but they mean numbers that JSON lacks
        return None
    try:
        value = source if is_identifier(source) else read_json5(source)
    except ValueError:
        return None
    if not isinstance(value, (str, int)):
        return None
    text = json.dumps(value, ensure_ascii=not str(value).isprintable())  # invisible characters stay escapes
    return safe(case.document.edit(problem.start, problem.end, text))


@fixer
def misspelt_property(case: FixerCase) -> Fix | None:
    """Rename the property to the name that was probably intended, unless that property exists."""
    name = case.element.problem.intended_property
    if not name or name in case.container().properties:
        return None
    return unsafe(rename_key(case.document, case.value(), name))


# Fields


@fixer
def default_null(case: FixerCase) -> Fix | None:
    """Replace the default null, which Kafka reads as no default.

    In a nullable field the string "null" is most likely meant, which changes the default. Others lose the property.
    """
    field: Field = case.element
    if field.nullable and field.versions <= field.nullable:
        return unsafe(replace_value(case.document, case.value(), '"null"'))
    return safe(*delete_item(case.document, case.container(), case.value()))


@fixer
def written_type(case: FixerCase) -> Fix | None:
    """Write an array type of another language, such as `List<int32>`, as `[]int32`.

    The fix is safe if the type itself names a primitive as its element, and unsafe if that is misspelled or a struct.
    """
    field: Field = case.element
    if not field.meant_type or field.meant_type == field.type:
        return None
    edit = replace_value(case.document, case.value(), json.dumps(field.meant_type))
    words = re.findall(r"\w+", field.type)
    element_type = field.meant_type.removeprefix("[]")
    return safe(edit) if element_type in PRIMITIVES and element_type in words else unsafe(edit)


# Versions of messages


@fixer
def flexible_versions(case: FixerCase) -> Fix | None:
    """Add flexibleVersions: from the first tagged version on, otherwise as in the other message of the RPC.

    Otherwise it is as flexible as in the base. A new message that has version 0 alone is flexible, others are not.
    """
    message: Message = case.element
    if message.declares_flexible:
        return None
    tagged_starts = [field.tagged.lowest for field in message.all_fields if field.tagged]
    partner = message.schemas.partner_by_name(message)
    if tagged_starts:
        versions = VersionRange.of(min(tagged_starts))
    elif message.is_rpc and partner and partner.declares_flexible and not partner.flexible_problem:
        versions = partner.flexible
    elif message.base:
        versions = message.base.flexible
    else:
        versions = ALL if message.valid.highest == 0 else NONE
    document = case.document
    return unsafe(*insert_property(document, document.root, "flexibleVersions", f'"{versions}"', MESSAGE_KEYS))


@fixer
def lagging_message(case: FixerCase) -> Fix | None:
    """Give the request or response whose versions end first the highest version of the other."""
    rpc: Rpc = case.element
    if rpc.request is None or rpc.response is None or rpc.request.valid.highest == rpc.response.valid.highest:
        return None
    return unsafe(*(edit for file in bump(rpc).files for edit in file.edits))


# Header versions


@fixer
def header_map(case: FixerCase) -> Fix | None:
    """Declare the headers that flexibleVersions implies, in all messages of the set that lack them.

    If only some declared them, the rule would be violated in the others.
    """
    edits: list[Edit] = []
    for message in case.element.schemas.headerless:
        document = case.document_of(message)
        if document is None or unusable_flexible_versions(message):
            continue
        text = map_text(derived_map(message), document.indent_unit)
        edits += set_property(document, document.root, "headerVersions", text, MESSAGE_KEYS)
    return safe(*edits)


@fixer
def frozen_rpc(case: FixerCase) -> Fix | None:
    """Give a frozen message the versions and the one header that it has to keep, in all properties at once."""
    message: Message = case.element
    params, document = case.violation.rule.params, case.document
    values = {"validVersions": params["frozen"][message.rpc_name], "flexibleVersions": "none"}
    edits = [
        edit
        for key, value in values.items()
        for edit in set_property(document, document.root, key, f'"{value}"', MESSAGE_KEYS)
    ]
    entries = document.find("/headerVersions")
    if entries and entries.children:
        first, *others = entries.children
        edits += [
            rename_key(document, first, str(ALL)),
            replace_value(document, first, f'"{params["headers"][message.type]}"'),
        ]
        edits += [edit for entry in others for edit in _remove(document, entries, entry)]
    return unsafe(*edits)


def _remove(document: Document, container: Node, item: Node) -> tuple[Edit, ...]:
    """The edits that remove an entry after the first one, but no comment."""
    try:
        return delete_item(document, container, item)
    except NotEditable:
        comma = document.comma_after(container.children[container.children.index(item) - 1])
        removal = document.edit(item.key_start, item.end, "")
        return (removal,) if comma is None else (document.edit(comma, comma + 1, ""), removal)


@fixer
def header_gap(case: FixerCase) -> Fix | None:
    """Widen the later range over the gap if flexibleVersions implies its header there, otherwise the earlier range."""
    later: HeaderRange = case.element
    earlier = later.furthest  # the range that ends where the gap starts
    if earlier is None or min(earlier.header, later.header) < 0:  # -1 is a header that cannot be read
        return None
    implied_header = derived_header(later.message, later.gap.highest)
    wider = later if implied_header == later.header else earlier
    return unsafe(rename_key(case.document, case.node(wider.pointer), str(wider.versions | later.gap)))


@fixer
def header_overlap(case: FixerCase) -> Fix | None:
    """End the previous range right before this one starts; None if both start with the same version."""
    later: HeaderRange = case.element
    earlier = later.previous
    if earlier is None or not earlier.closed:  # `closed` are its versions up to where the next range starts
        return None
    return unsafe(rename_key(case.document, case.node(earlier.pointer), str(earlier.closed)))
