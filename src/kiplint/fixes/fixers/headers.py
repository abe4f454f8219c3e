"""Header versions (KIP-1313): a map that is missing, starts late, overlaps or goes back."""

from __future__ import annotations

from collections.abc import Iterable

from kiplint.engine.finding import Fix
from kiplint.fixes.header_maps import map_text
from kiplint.fixes.mend import Case, as_json, fix
from kiplint.fixes.order import MESSAGE
from kiplint.model.header import HeaderRange
from kiplint.model.header_map import derived_header, derived_map
from kiplint.model.message import Message
from kiplint.text.edit import Edit
from kiplint.text.edit_document import Document
from kiplint.text.edit_insert import insert_property, rename_key, replace_value
from kiplint.versions import VersionRange


def header_map(case: Case) -> Fix | None:
    """Declare the headers that the versions have by flexibleVersions, in all messages that lack it."""
    element = case.breach.element
    messages = element.schemas.headerless if isinstance(element, Message) else ()
    return fix("safe", ((one.file, edit) for one in messages for edit in _declared(case, one)))


def header_start(case: Case) -> Fix | None:
    """Let the first range start at 0."""
    entry = case.breach.element
    node = case.node
    if not isinstance(entry, HeaderRange) or node is None or node.key is None or len(entry.versions.parts) != 1:
        return None
    return case.safe([rename_key(case.document, node, str(VersionRange.of(0, entry.versions.highest)))])


def header_overlap(case: Case) -> Fix | None:
    """Let the range before end where this one starts."""
    entry = case.breach.element
    before = entry.previous if isinstance(entry, HeaderRange) else None
    node = case.document.find(before.pointer) if before else None
    if before is None or node is None or before.versions.lowest >= entry.versions.lowest:
        return None
    shorter = VersionRange.of(before.versions.lowest, entry.versions.lowest - 1)
    return case.unsafe([rename_key(case.document, node, str(shorter))])


def header_order(case: Case) -> Fix | None:
    """Let this range and the one before trade headers; where the one before needs its own, both have that."""
    entry = case.breach.element
    before = entry.previous if isinstance(entry, HeaderRange) else None
    if before is None or before.header < 0 or entry.header < 0:
        return None
    trades = derived_header(before.message, before.versions.lowest) <= entry.header
    wanted = [(entry, before.header), *([(before, entry.header)] if trades else [])]
    nodes = [(case.document.find(one.pointer), header) for one, header in wanted]
    return case.unsafe(
        replace_value(case.document, node, as_json(str(header))) for node, header in nodes if node is not None
    )


def _declared(case: Case, message: object) -> Iterable[Edit]:
    if not isinstance(message, Message) or not message.is_rpc or not message.valid or message.header_ranges:
        return
    document = case.document_of(message)
    if document is None or message.flexible_problem or (message.flexible and not message.flexible.open):
        return
    yield from _map_edits(document, map_text(derived_map(message), document.indent_unit))


def _map_edits(document: Document, text: str) -> Iterable[Edit]:
    there = document.find("/headerVersions")
    if there is None:
        return insert_property(document, document.root, "headerVersions", text, MESSAGE)
    return (document.edit(there.start, there.end, text.replace("\n", "\n" + document.indent(there.key_start))),)
