from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.text.edit import (
    Document,
    Edit,
    NotEditable,
    apply_edits,
    collides,
    delete_item,
    insert_comment,
    insert_property,
)
from kiplint.text.tree import Node

ORDER = ("name", "type", "versions", "default", "about", "fields")


def node(document: Document, pointer: str) -> Node:
    result = document.find(pointer)
    assert result is not None
    return result


def insert(text: str, key: str, value: str, pointer: str = "") -> str:
    document = Document(text.encode())
    edits = insert_property(document, node(document, pointer), key, value, ORDER)
    return apply_edits(document.data, edits).decode()


def delete(text: str, pointer: str) -> str:
    document = Document(text.encode())
    return apply_edits(document.data, delete_item(document, *document.nodes_to(pointer)[-2:])).decode()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"name": "X"}', '{"name": "X", "type": "t"}'),
        ('{ "about": "" }', '{ "type": "t", "about": "" }'),
        ('{\n  "name": "X" // its name\n}\n', '{\n  "name": "X", // its name\n  "type": "t"\n}\n'),
        ('{\n\t"name": "X", // ours\n\t"about": ""}', '{\n\t"name": "X", // ours\n\t"type": "t",\n\t"about": ""}'),
        ('{ // it\n  "about": ""\n}', '{ // it\n  "type": "t",\n  "about": ""\n}'),
        ('{\n  // why\n  "about": ""\n}', '{\n  // why\n  "type": "t",\n  "about": ""\n}'),
        ('{\r\n  "name": "X"\r\n}', '{\r\n  "name": "X",\r\n  "type": "t"\r\n}'),
        ('\ufeff{\n "name": "é",\n "about": "ü"}', '\ufeff{\n "name": "é",\n "type": "t",\n "about": "ü"}'),
        ('{ "name": "X",\n  "about": "" }', '{ "name": "X", "type": "t",\n  "about": "" }'),
        ("{}", '{\n  "type": "t"\n}'),
        ("{ // empty\n}", '{\n  "type": "t"\n // empty\n}'),
        ('{"name": "X" /* a, b */ , "about": ""}', '{"name": "X", "type": "t" /* a, b */ , "about": ""}'),
    ],
)
def test_a_property_is_inserted_as_its_neighbours_are_written(before: str, after: str) -> None:
    assert insert(before, "type", '"t"') == after


def test_a_value_of_several_lines_is_indented_like_its_property() -> None:
    text = '{\n  "a": {\n    "name": "X"\n  }\n}'
    assert '    "fields": {\n      1\n    }\n' in insert(text, "fields", "{\n  1\n}", "/a")


@pytest.mark.parametrize(
    ("before", "pointer", "after"),
    [
        ('{"a": 1, "b": 2}', "/a", '{"b": 2}'),
        ('{ "a": 1, "b": 2 }', "/b", '{ "a": 1 }'),
        ('{ "a": 1 }', "/a", "{  }"),
        ("[1, 2, 3]", "/1", "[1, 3]"),
        ('{\r\n  "a": 1,\r\n  "b": 2 // two\r\n}', "/b", '{\r\n  "a": 1 // two\r\n}'),
        ('{ "a": 1, "b": 2,\n  "c": 3 }', "/c", '{ "a": 1, "b": 2 }'),
    ],
)
def test_a_property_is_deleted_with_its_comma(before: str, pointer: str, after: str) -> None:
    assert delete(before, pointer) == after


@pytest.mark.parametrize("text", ['{"a": 1, "b": /* why */ 2}', '{"a": 1, // one\n "b": 2}'])
def test_a_property_is_not_deleted_with_a_comment(text: str) -> None:
    with pytest.raises(NotEditable, match="there is a comment"):
        delete(text, "/b")


def test_comments_are_written_above_a_property() -> None:
    document = Document(b'{\r\n  "a": 1,\r\n  "b": 2\r\n}')
    edit = insert_comment(document, node(document, "/b"), ["one", "", "two"])
    assert apply_edits(document.data, [edit]) == (b'{\r\n  "a": 1,\r\n  // one\r\n  //\r\n  // two\r\n  "b": 2\r\n}')


def test_bytes_that_are_not_text_cannot_be_edited() -> None:
    with pytest.raises(NotEditable, match="byte 3 is not UTF-8"):
        Document(b'{"a\xff": 1}')


@given(st.binary(max_size=30), st.lists(st.tuples(st.integers(0, 30), st.integers(0, 5), st.text(max_size=3))))
def test_untouched_bytes_stay(data: bytes, rows: list[tuple[int, int, str]]) -> None:
    edits = [Edit("", start, start + length, text) for start, length, text in rows if start + length <= len(data)]
    try:
        result = apply_edits(data, edits)
    except ValueError:
        assert any(collides(left, [other]) for left in edits for other in edits if left is not other)
        return
    expected, end = b"", 0
    unique = [edit for n, edit in enumerate(edits) if edit.start == edit.end or edit not in edits[:n]]
    for edit in sorted(unique, key=lambda item: (item.start, item.end)):
        expected += data[end : edit.start] + edit.text.encode()
        end = edit.end
    assert result == expected + data[end:]
