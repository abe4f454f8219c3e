"""The shape of a definition: its symbols, and what may be folded away."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from typing import Final, NamedTuple

from lsprotocol import types

from kiplint.model.message import Message
from kiplint.model.types import PRIMITIVES, parse_type
from kiplint.server.buffer import Buffer, Place, child, objects, place_at
from kiplint.server.workspace import Neighbours, Workspace
from kiplint.sources.schema_files import SourceError
from kiplint.text.decode import comments
from kiplint.text.locate import Locator
from kiplint.text.show import printable
from kiplint.text.tree import Node

_DEEPEST = 100


def symbols(buffer: Buffer) -> list[types.DocumentSymbol]:
    """The message with its fields and structs, as far as the text can be read."""
    root = buffer.root
    if root is None or root.kind != "object":
        return []
    return [_symbol(buffer, root, types.SymbolKind.Class, 0)]


def _symbol(buffer: Buffer, node: Node, kind: types.SymbolKind, depth: int) -> types.DocumentSymbol:
    name, detail = child(node, "name"), " ".join(filter(None, (_text(buffer, node, "type"), _versions(buffer, node))))
    selection = buffer.range(name.start, name.end) if name else buffer.range(node.start, node.start + 1)
    inner = list(_children(buffer, node, depth)) if depth < _DEEPEST else []
    label = printable((name.string(buffer.text) if name else None) or "?")
    return types.DocumentSymbol(
        label, kind, buffer.range(node.start, node.end), selection, printable(detail), children=inner
    )


def _children(buffer: Buffer, node: Node, depth: int) -> Iterator[types.DocumentSymbol]:
    for key, kind in (("fields", types.SymbolKind.Field), ("commonStructs", types.SymbolKind.Struct)):
        container = child(node, key)
        for element in container.children if container and container.kind == "array" else ():
            if element.kind == "object":
                yield _symbol(buffer, element, kind, depth + 1)


def _versions(buffer: Buffer, node: Node) -> str:
    return _text(buffer, node, "validVersions") or _text(buffer, node, "versions")


def _text(buffer: Buffer, node: Node, key: str) -> str:
    member = child(node, key)
    return (member.string(buffer.text) if member else None) or ""


MOST_SYMBOLS: Final = 500
"""How many symbols of a workspace are listed; the editor asks again when more is typed."""


def in_sets(
    sets: Iterable[Neighbours], query: str, workspace: Workspace, uri: Callable[[str], str]
) -> Iterator[types.SymbolInformation]:
    """The messages, structs and fields whose names contain a word; without a word the messages."""
    word = query.casefold()
    matches = (
        (message, kind, name, pointer)
        for neighbours in sets
        for message in neighbours.schemas.messages
        for kind, name, pointer in (_names(message) if word else islice(_names(message), 1))
        if word in name.casefold()
    )
    for message, group in groupby(islice(matches, MOST_SYMBOLS), key=lambda match: match[0]):
        try:
            buffer = workspace.buffer(message.file)
        except SourceError:  # it has just gone
            continue
        locator = Locator(buffer.text)
        for _, kind, name, pointer in group:
            place = types.Location(uri(message.file), buffer.range(*locator.member(pointer)))
            around = None if kind is types.SymbolKind.Class else printable(message.name)
            yield types.SymbolInformation(place, printable(name), kind, container_name=around)


def _names(message: Message) -> Iterator[tuple[types.SymbolKind, str, str]]:
    yield types.SymbolKind.Class, message.name, "/name"
    for struct in message.structs:
        yield types.SymbolKind.Struct, struct.name, f"{struct.pointer}/{'name' if struct.is_common else 'type'}"
    yield from ((types.SymbolKind.Field, field.name, f"{field.pointer}/name") for field in message.all_fields)


def folds(buffer: Buffer) -> list[types.FoldingRange]:
    """Objects and lists of several lines, and comments that do not stop after one."""
    return [*_brackets(buffer), *_comments(buffer)] if buffer.fits else []


def _brackets(buffer: Buffer) -> Iterator[types.FoldingRange]:
    waiting = [buffer.root] if buffer.root else []
    while waiting:
        node = waiting.pop()
        waiting += reversed(node.children)
        first, last = (buffer.lines.line_of(at) - 1 for at in (node.start, node.end))
        if node.kind in ("object", "array") and last > first + 1:
            yield types.FoldingRange(first, last - 1)


def _comments(buffer: Buffer) -> Iterator[types.FoldingRange]:
    blocks: list[tuple[int, int]] = []
    for comment in comments(buffer.text):
        first, last = (buffer.lines.line_of(at) - 1 for at in (comment.start, comment.end))
        if buffer.text[buffer.lines.starts[first] : comment.start].strip():
            continue
        if blocks and blocks[-1][1] + 1 == first:
            first, _ = blocks.pop()
        blocks.append((first, last))
    kind = types.FoldingRangeKind.Comment
    return (types.FoldingRange(first, last, kind=kind) for first, last in blocks if last > first)


_NAME: Final = r"[A-Z][A-Za-z0-9_]*"
_OF_THE_MESSAGE: Final = ("apiKey", "name", "type", "validVersions", "headerVersions", "flexibleVersions")


class NotRenamed(ValueError):  # noqa: N818
    """A name that a struct cannot have; the message says why."""


class StructName(NamedTuple):
    """The name of a struct where it stands in a text, without quotes and brackets: half-open offsets."""

    start: int
    end: int
    defines: bool


def struct_at(buffer: Buffer, offset: int) -> tuple[str, StructName] | None:
    """The name of the struct that is defined or used at an offset."""
    place = place_at(buffer, offset)
    if place is None or not place.depth or len(place.tokens) != place.depth + 1:
        return None
    for name, words in structs(buffer).items():
        for word in words:
            if word.start >= place.node.start and word.end <= place.node.end:
                return name, word
    return None


def structs(buffer: Buffer) -> dict[str, list[StructName]]:
    """The structs of a text by name, each with all places of its name, those that define it first."""
    names: dict[str, list[StructName]] = {}
    root = buffer.root
    common_structs = child(root, "commonStructs") if root else None
    common = [struct for struct in (common_structs.children if common_structs else ()) if struct.kind == "object"]
    for struct in common:
        _note(buffer, names, child(struct, "name"), defines=True)
    for struct in [*objects(root), *objects(root, "commonStructs")]:
        if struct not in common:
            has_fields = bool((inner := child(struct, "fields")) and inner.children)
            _note(buffer, names, child(struct, "type"), defines=has_fields)
    return {name: sorted(words, key=lambda word: not word.defines) for name, words in names.items()}


def other_half(buffer: Buffer, place: Place, neighbours: Neighbours) -> str | None:
    """The file of the other half of an RPC, from a property that the two have in common; None when there is none."""
    message = neighbours.message(buffer.path)
    if message is None or len(place.tokens) > 2 or place.key not in _OF_THE_MESSAGE or message.api_key is None:
        return None
    for rpc in neighbours.schemas.rpcs:
        halves = [half for half in (rpc.request, rpc.response) if half]
        if message in halves:
            return next((half.file for half in halves if half is not message), None)
    return None


def rename(buffer: Buffer, offset: int, name: str) -> list[StructName]:
    """The places where a struct's name has to change; raises NotRenamed for a name that it cannot have."""
    struct = struct_at(buffer, offset)
    if struct is None:
        raise NotRenamed("only structs can be renamed here")
    if not re.fullmatch(_NAME, name):
        raise NotRenamed(
            f"{name!r} is not a name of a struct: it begins with a capital letter, then letters and digits"
        )
    places = structs(buffer)
    if name in places and name != struct[0]:
        raise NotRenamed(f"there is a struct {name} in this message already")
    return places[struct[0]]


def _note(buffer: Buffer, names: dict[str, list[StructName]], node: Node | None, *, defines: bool) -> None:
    name = node.string(buffer.text) if node else None
    if node is None or not name:
        return
    element = parse_type(name).element
    at = buffer.text.find(element, node.start, node.end)
    if element and element not in PRIMITIVES and at >= 0:
        names.setdefault(element, []).append(StructName(at, at + len(element), defines))
