"""The fixers of definitions: each turns the violation of a rule into edits; and the fixes of a violation."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from kiplint.engine.ruleset import Violation
from kiplint.fixes import texts  # noqa: F401  # registers its fixers
from kiplint.fixes.case import FIXERS, FixerCase, Fixes, fixer
from kiplint.fixes.edits import FIELD, MESSAGE, map_text, note_edit, set_property
from kiplint.model.fields import Field
from kiplint.model.headers import HeaderRange, derived_header, derived_map
from kiplint.model.message import Message, rpc_of
from kiplint.model.schemas import FROZEN, Rpc
from kiplint.model.spec import FieldSpec, MessageSpec, StructSpec
from kiplint.model.types import NO_VALUE, PRIMITIVES, coerce
from kiplint.text.edit import Edit
from kiplint.text.source import (
    Document,
    NotEditable,
    delete_items,
    insert_property,
    rename_key,
    replace_value,
)
from kiplint.text.tree import Node
from kiplint.text.words import nearest
from kiplint.versions import ALL, NONE, VersionRange


@fixer
def header_map(case: FixerCase) -> Fixes:
    """Declare the headers that the versions have by flexibleVersions, in all messages that lack it."""
    messages: Iterable[Message] = case.element.schemas.headerless
    return case.safe(edit for message in messages for edit in _declare_headers(case, message))


@fixer
def header_start(case: FixerCase) -> Fixes:
    """Let the first range start at 0."""
    entry: HeaderRange = case.element
    node = case.find(case.pointer)
    if node.key is None or len(entry.versions.parts) != 1:
        return ()
    return case.safe([rename_key(case.document, node, str(VersionRange.of(0, entry.versions.highest)))])


@fixer
def header_gap(case: FixerCase) -> Fixes:
    """Let either range beside the gap have its versions, first that whose header they have by flexibleVersions."""
    entry: HeaderRange = case.element
    before = entry.furthest
    if before is None or not entry.gap or min(before.header, entry.header) < 0:
        return ()
    if any(len(neighbour.versions.parts) != 1 for neighbour in (before, entry)):
        return ()
    longer = str(VersionRange.of(before.versions.lowest, entry.gap.highest))
    sooner = str(VersionRange.of(entry.gap.lowest, entry.versions.highest))
    choices = [(before.pointer, longer), (entry.pointer, sooner)]
    if derived_header(entry.message, entry.gap.highest) == entry.header:
        choices.reverse()
    return case.unsafe(*([rename_key(case.document, case.find(pointer), key)] for pointer, key in choices))


@fixer
def header_overlap(case: FixerCase) -> Fixes:
    """Let the range before end where this one starts."""
    entry: HeaderRange = case.element
    before = entry.previous
    if before is None or before.versions.lowest >= entry.versions.lowest:
        return ()
    shorter = VersionRange.of(before.versions.lowest, entry.versions.lowest - 1)
    return case.unsafe([rename_key(case.document, case.find(before.pointer), str(shorter))])


@fixer
def header_order(case: FixerCase) -> Fixes:
    """Let this range and the one before trade headers; where the one before needs its own, both have that."""
    entry: HeaderRange = case.element
    before = entry.previous
    if before is None or before.header < 0 or entry.header < 0:
        return ()
    trades = derived_header(before.message, before.versions.lowest) <= entry.header
    headers = [(entry, before.header), *([(before, entry.header)] if trades else [])]
    return case.unsafe(case.write_value(case.find(entry.pointer), str(header)) for entry, header in headers)


def _declare_headers(case: FixerCase, message: Message) -> Iterable[Edit]:
    document = case.document_of(message)
    if document is None or message.flexible_problem or (message.flexible and not message.flexible.open):
        return ()
    text = map_text(derived_map(message), document.indent_unit)
    return set_property(document, document.root, "headerVersions", text, MESSAGE)


_PAIRS: Final = (("request", "response"), ("coordinator-key", "coordinator-value"))


@fixer
def lagging_message(case: FixerCase) -> Fixes:
    """Let the request or response whose versions end first go as far as the other."""
    rpc: Rpc = case.element
    message = rpc.lagging if rpc.rpc_name not in FROZEN else None
    document = case.document_of(message) if message else None
    node = document.find("/validVersions") if document else None
    if message is None or document is None or node is None or not message.valid:
        return ()
    valid = message.valid
    highest = max(side.valid.highest for side in (rpc.request, rpc.response) if side)
    if highest <= valid.highest or len(valid.parts) > 1:
        return ()
    versions = replace_value(document, node, f'"{VersionRange.of(valid.lowest, highest)}"')
    next_version = valid.highest + 1
    words = f"Versions {next_version} to {highest} come" if next_version < highest else f"Version {highest} comes"
    note = note_edit(document, f"{words} with the {'response' if message is rpc.request else 'request'}.")
    return case.unsafe([versions, *note])


@fixer
def frozen(case: FixerCase) -> Fixes:
    """The versions that a frozen request or response has, none of them flexible, and the header that it has."""
    message: Message = case.element
    if message.rpc_name not in FROZEN:
        return ()
    values = {"/validVersions": str(FROZEN[message.rpc_name]), "/flexibleVersions": "none"}
    nodes = ((case.document.find(pointer), value) for pointer, value in values.items())
    edits = [case.write_value(node, value) for node, value in nodes if node is not None]
    return case.unsafe([*edits, *_one_header(case.document, derived_header(message, 1, NONE))])


@fixer
def header_zero(case: FixerCase) -> Fixes:
    """Header 0 for all versions."""
    return case.unsafe(_one_header(case.document, 0))


def _one_header(document: Document, header: int) -> Iterable[Edit]:
    """A header map with one range for all versions: its first entry is changed, the others go, and comments stay."""
    node = document.find("/headerVersions")
    if node is None or node.kind != "object" or not node.children:
        return
    first, *others = node.children
    if (first.key, document.text[first.start : first.end]) != ("0+", f'"{header}"'):
        yield rename_key(document, first, "0+")
        yield replace_value(document, first, f'"{header}"')
    yield from delete_items(document, node, others) if others else ()


@fixer
def next_api_key(case: FixerCase) -> Fixes:
    """The API key after all that the set has; the other message of a copied RPC is given the same."""
    message: Message = case.element
    node = case.at("apiKey")
    if not message.is_newcomer:
        return ()
    types = next((pair for pair in _PAIRS if message.type in pair), (message.type,))
    keys = [other.api_key for other in message.schemas.messages if other.type in types and other.api_key is not None]
    return case.unsafe([case.write_value(node, max(keys) + 1)])


@fixer
def flexible_versions(case: FixerCase) -> Fixes:
    """The versions from the first tagged one on, or as in the other message of the RPC; else all, or none.

    A message of a single version is most likely new, and new messages are flexible.
    """
    message: Message = case.element
    if message.declares_flexible:
        return ()
    tagged = [field.tagged.lowest for field in message.all_fields if field.tagged]
    name = rpc_of(message.name)
    partner = message.schemas.by_name.get(f"{name}{'Response' if message.type == 'request' else 'Request'}")
    if tagged:
        likely = [VersionRange.of(min(tagged))]
    elif message.is_rpc and partner and partner.declares_flexible and not partner.flexible_problem:
        likely = [partner.flexible]
    else:
        likely = [NONE, ALL] if message.valid.highest else [ALL, NONE]
    document = case.document
    return case.unsafe(
        *(insert_property(document, document.root, "flexibleVersions", f'"{versions}"', MESSAGE) for versions in likely)
    )


@fixer
def flag(case: FixerCase) -> Fixes:
    """A bool, where the default is not a third state such as -1."""
    field: Field = case.element
    edits = [case.write_value(case.at("type"), "bool")]
    default = case.document.find(f"{field.pointer}/default")
    if default is not None:
        if field.default not in ("0", "1"):
            return ()
        edits.append(case.write_value(default, "true" if field.default == "1" else "false"))
    return case.unsafe(edits)


_WORD: Final = re.compile(r"[A-Za-z0-9_]+")
_CONTAINERS: Final = frozenset({"array", "list", "seq", "vector"})


@fixer
def coerced_value(case: FixerCase) -> Fixes:
    """Write the value as Kafka's reader reads it."""
    container, node = case.item()
    try:
        value = json.loads(case.document.text[node.start : node.end])
    except (ValueError, RecursionError):
        return ()
    path = [int(token) if token.isdigit() else token for token in case.pointer.split("/")[1:]]
    kafka_value = coerce(path, value)
    if kafka_value is NO_VALUE:
        return ()
    if kafka_value is None:
        return case.safe(delete_items(case.document, container, [node]))
    if isinstance(value, (dict, list)):
        inner = case.document.text[node.start : node.end]
        return case.safe([replace_value(case.document, node, f"[{inner}]")])
    return case.safe([case.write_value(node, kafka_value)])


@fixer
def default_null(case: FixerCase) -> Fixes:
    """Null in quotes, which changes the default, where the field is nullable; else no default, as Kafka reads it."""
    field: Field = case.element
    node = case.at("default")
    if field.nullable and field.versions <= field.nullable:
        return case.unsafe([case.write_value(node, "null")])
    container, item = case.item()
    return case.safe(delete_items(case.document, container, [item]))


@fixer
def default_octal(case: FixerCase) -> Fixes:
    """The number without its leading zeros; unsafe where Java reads the digits as an octal number."""
    field: Field = case.element
    node = case.at("default")
    if field.default_mistake != "octal":
        return ()
    decimal = str(int(field.default))
    edits = [case.write_value(node, decimal)]
    digits = field.default.lstrip("+-")
    if not set(digits) <= set("01234567") or int(digits, 8) == abs(int(decimal)):
        return case.safe(edits)
    sign = "-" if field.default.startswith("-") else ""
    changes = f"the default in Java from {sign}{int(digits, 8)} to {decimal}"
    return tuple(replace(choice, changes=changes) for choice in case.unsafe(edits))


@fixer
def written_type(case: FixerCase) -> Fixes:
    """An array as Kafka writes it, for the notation of another language; unsafe for a misspelt primitive."""
    field: Field = case.element
    node = case.at("type")
    words = _WORD.findall(field.type)
    primitives = [word for word in words if word in PRIMITIVES]
    others = {word.lower() for word in words if word not in PRIMITIVES}
    if len(primitives) == 1 and others <= _CONTAINERS and not _WORD.fullmatch(field.type):
        return case.safe([case.write_value(node, f"[]{primitives[0]}")])
    new_type = ("[]" if field.is_array else "") + field.type_hint
    return case.unsafe([case.write_value(node, new_type)]) if field.type_hint and new_type != field.type else ()


@fixer
def misspelt_property(case: FixerCase) -> Fixes:
    """Rename the property to the nearest known name, unless that is present."""
    container, node = case.item()
    if node.key is None:
        return ()
    spec: type[MessageSpec | FieldSpec | StructSpec] = MessageSpec if container is case.document.root else FieldSpec
    if case.pointer.startswith("/commonStructs/") and case.pointer.count("/") == 3:
        spec = StructSpec
    present = {child.key for child in container.children}
    nearest_name = nearest(node.key, [name for name in spec.__struct_encode_fields__ if name not in present])
    return case.unsafe([rename_key(case.document, node, nearest_name)]) if nearest_name else ()


_PROPERTY: Final = re.compile(r'"([A-Za-z0-9+-]+)": ?(.+)', re.DOTALL)
_HEADER_ENTRY: Final = "/headerVersions/"


@fixer
def instead(case: FixerCase) -> Fixes:
    """Apply the rule's `instead` as a safe fix."""
    return case.safe(_instead_edits(case))


@fixer
def suggestion(case: FixerCase) -> Fixes:
    """Apply the rule's `instead` as an unsafe fix."""
    return case.unsafe(_instead_edits(case))


@fixer
def owner_versions(case: FixerCase) -> Fixes:
    """The versions that the field and its owner have; the nullable versions are narrowed with them."""
    field: Field = case.element
    versions = field.versions & field.owner.versions
    node = case.document.find(f"{field.pointer}/nullableVersions")
    is_narrower = node is not None and not field.nullable <= versions
    nullable = [case.write_value(node, str(field.nullable & versions))] if node and is_narrower else []
    return case.unsafe([*_instead_edits(case), *nullable])


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
    way = case.document.way(case.pointer)
    objects = [(node, MESSAGE if node is case.document.root else FIELD) for node in way if node.kind == "object"]
    return next((node for node, order in reversed(objects) if key in order), None)


def _is_json(text: str) -> bool:
    try:
        msgspec.json.decode(text)
    except ValueError:
        return False
    return True


def make_fixes(violation: Violation, pointer: str, files: Mapping[str, bytes]) -> Fixes:
    """The fixes of a violated rule that names a fixer; none if the fixer cannot resolve this case."""
    function = FIXERS.get(violation.rule.spec.fix)
    if function is None or violation.location.file not in files:
        return ()
    try:
        fixes = function(FixerCase(violation, pointer, files))
    except NotEditable:
        return ()
    changes = violation.rule.spec.changes
    return tuple(
        replace(choice, changes=choice.changes or changes) if choice.applicability == "unsafe" else choice
        for choice in fixes
    )
