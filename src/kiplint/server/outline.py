"""The shape of a definition: its symbols, and what may be folded away."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from kiplint.server.buffer import Buffer
from kiplint.server.cursor import child
from kiplint.text.comments import comments
from kiplint.text.nodes import Node
from kiplint.text.show import printable

_DEEPEST = 100


def symbols(buffer: Buffer) -> list[types.DocumentSymbol]:
    """The message with its fields and structs, as far as the text can be read."""
    root = buffer.root
    if root is None or root.kind != "object":
        return []
    return [_symbol(buffer, root, types.SymbolKind.Class, 0)]


def _symbol(buffer: Buffer, node: Node, kind: types.SymbolKind, depth: int) -> types.DocumentSymbol:
    name, said = child(node, "name"), " ".join(filter(None, (_text(buffer, node, "type"), _versions(buffer, node))))
    chosen = buffer.range(name.start, name.end) if name else buffer.range(node.start, node.start + 1)
    inner = list(_children(buffer, node, depth)) if depth < _DEEPEST else []
    called = printable((name.string(buffer.text) if name else None) or "?")
    return types.DocumentSymbol(
        called, kind, buffer.range(node.start, node.end), chosen, printable(said), children=inner
    )


def _children(buffer: Buffer, node: Node, depth: int) -> Iterator[types.DocumentSymbol]:
    for key, kind in (("fields", types.SymbolKind.Field), ("commonStructs", types.SymbolKind.Struct)):
        container = child(node, key)
        for one in container.children if container and container.kind == "array" else ():
            if one.kind == "object":
                yield _symbol(buffer, one, kind, depth + 1)


def _versions(buffer: Buffer, node: Node) -> str:
    return _text(buffer, node, "validVersions") or _text(buffer, node, "versions")


def _text(buffer: Buffer, node: Node, key: str) -> str:
    found = child(node, key)
    return (found.string(buffer.text) if found else None) or ""


def folds(buffer: Buffer) -> list[types.FoldingRange]:
    """Objects and lists of several lines, and comments that do not stop after one."""
    return [*_brackets(buffer), *_comments(buffer)] if buffer.fits else []


def _brackets(buffer: Buffer) -> Iterator[types.FoldingRange]:
    waiting = [buffer.root] if buffer.root else []
    while waiting:
        node = waiting.pop()
        waiting += reversed(node.children)
        first, last = (buffer.lines.line_of(one) - 1 for one in (node.start, node.end))
        if node.kind in ("object", "array") and last > first + 1:
            yield types.FoldingRange(first, last - 1)


def _comments(buffer: Buffer) -> Iterator[types.FoldingRange]:
    first = last = -2
    for one in comments(buffer.text):
        begins, ends = (buffer.lines.line_of(at) - 1 for at in (one.start, one.end))
        alone = not buffer.text[buffer.lines.starts[begins] : one.start].strip()
        if alone and begins == last + 1:
            last = ends
            continue
        if last > first:
            yield types.FoldingRange(first, last, kind=types.FoldingRangeKind.Comment)
        first, last = (begins, ends) if alone else (-2, -2)
    if last > first:
        yield types.FoldingRange(first, last, kind=types.FoldingRangeKind.Comment)
