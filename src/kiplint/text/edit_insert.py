"""Putting properties, elements and comments into a file, the way it is written already."""

from __future__ import annotations

from collections.abc import Sequence

from kiplint.text.edit import Edit
from kiplint.text.edit_document import Document, start_of
from kiplint.text.nodes import Node


def replace_value(document: Document, node: Node, value: str) -> Edit:
    """`value`, as JSON, in place of a value."""
    return document.edit(node.start, node.end, value)


def rename_key(document: Document, node: Node, key: str) -> Edit:
    """Another name for a property."""
    return document.edit(node.key_start, node.key_end, f'"{key}"')


def insert_property(
    document: Document, container: Node, key: str, value: str, order: Sequence[str] = ()
) -> tuple[Edit, ...]:
    r"""A new property of an object: after those that come before it in `order`, on a line of its own if they are.

    `value` is JSON; after a `\n` in it the indentation of the property is put. Keys are always in double quotes,
    the only ones that Kafka reads. A key that is not in `order` comes last.
    """
    rank = {name: number for number, name in enumerate(order)}
    mine = rank.get(key, len(rank))
    before = [(rank[one.key], n, one) for n, one in enumerate(container.children) if one.key and one.key in rank]
    earlier = [one for one in before if one[0] < mine]
    after = max(earlier)[2] if earlier else None
    if after is None and mine == len(rank) and container.children:
        after = container.children[-1]
    return insert_item(document, container, f'"{key}"{document.colon(container)}{value}', after)


def insert_item(document: Document, container: Node, item: str, after: Node | None) -> tuple[Edit, ...]:
    r"""A new property or element, as text, after one that is there, or as the first when `after` is None.

    Comments that finish the line of `after` stay with it. After a `\n` in the item its indentation is put.
    """
    if not container.children:
        return _into_empty(document, container, item)
    if after is None:
        return (_as_first(document, container, item),)
    if not _has_own_lines(document, container, after):
        return (document.edit(after.end, after.end, ", " + _deeper(item, document.indent(start_of(after)))),)
    indent = document.indent(start_of(after))
    line = f"\n{indent}{_deeper(item, indent)}"
    comma = document.comma_after(after)
    if comma >= 0:
        place = document.tail(comma + 1)
        return (document.edit(place, place, line + ","),)
    place = document.tail(after.end)
    if place == after.end:
        return (document.edit(place, place, "," + line),)
    return document.edit(after.end, after.end, ","), document.edit(place, place, line)


def insert_comment(document: Document, node: Node, lines: Sequence[str]) -> Edit:
    """Lines of comment, each without its marks, above a property or element."""
    start = start_of(node)
    indent = document.indent(start)
    text = "".join(f"// {line}".rstrip() + f"\n{indent}" for line in lines)
    if document.begins_line(start):
        return document.edit(start, start, text)
    return document.edit(start, start, f"\n{indent}{text}")


def _has_own_lines(document: Document, container: Node, after: Node) -> bool:
    """Whether what comes after `after` is to begin a line."""
    if not document.begins_line(start_of(after)):
        return False
    number = next(n for n, one in enumerate(container.children) if one is after)
    following = container.children[number + 1 : number + 2]
    return not document.same_line(after.end, start_of(following[0]) if following else container.end - 1)


def _as_first(document: Document, container: Node, item: str) -> Edit:
    first = start_of(container.children[0])
    if not document.begins_line(first):
        return document.edit(first, first, _deeper(item, document.indent(first)) + ", ")
    indent = document.indent(first)
    place = document.tail(container.start + 1)
    return document.edit(place, place, f"\n{indent}{_deeper(item, indent)},")


def _into_empty(document: Document, container: Node, item: str) -> tuple[Edit, ...]:
    start, end = container.start + 1, container.end - 1
    inner = document.text[start:end]
    outer = document.indent(container.start)
    indent = outer + document.indent_unit
    line = f"\n{indent}{_deeper(item, indent)}"
    if not inner.strip(" \t\r\n"):
        one_line = container.kind == "object" and container is not document.root and not _spans_lines(inner + item)
        return (document.edit(start, end, f" {item} " if one_line else f"{line}\n{outer}"),)
    place = document.tail(start)
    if place == start and not _spans_lines(inner):
        return (document.edit(end, end, f"{line}\n{outer}"),)
    return (document.edit(place, place, line),)


def _spans_lines(text: str) -> bool:
    return "\n" in text or "\r" in text


def _deeper(item: str, indent: str) -> str:
    return item.replace("\n", "\n" + indent)
