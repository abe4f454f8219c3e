"""Positions as editors count them, and texts that change under them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from kiplint.server.buffer import Buffer

TEXTS = st.text(alphabet='ab"{}\r\n\u00e9\u2028\x85\U0001f980\ufeff', max_size=40)
ENCODINGS = st.sampled_from([*types.PositionEncodingKind])


@given(TEXTS, st.integers(0, 40), ENCODINGS)
def test_there_and_back(text: str, offset: int, encoding: types.PositionEncodingKind) -> None:
    buffer = Buffer("/x.json", text, 1, encoding)
    offset = min(offset, len(text))
    back = buffer.offset(buffer.position(offset))
    assert back == offset or text[back:offset] in ("\r", "\n", "\r\n")  # the end of a line is before what ends it


@given(TEXTS, st.data(), TEXTS, ENCODINGS)
def test_a_change_is_a_splice(text: str, data: st.DataObject, new: str, encoding: types.PositionEncodingKind) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    if any(0 < at < len(text) and text[at - 1 : at + 1] == "\r\n" for at in (start, end)):
        return  # no position is inside of a line's end
    buffer = Buffer("/x.json", text, 1, encoding)
    change = types.TextDocumentContentChangePartial(range=buffer.range(start, end), text=new)
    assert buffer.changed([change], 2).text == text[:start] + new + text[end:]


@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        (types.PositionEncodingKind.Utf8, 6),
        (types.PositionEncodingKind.Utf16, 4),
        (types.PositionEncodingKind.Utf32, 3),
    ],
)
def test_what_is_counted(encoding: types.PositionEncodingKind, expected: int) -> None:
    assert Buffer("/x.json", 'a\n"\U0001f980"', 1, encoding).position(5) == types.Position(1, expected)


def test_what_lies_outside_is_the_nearest_end() -> None:
    buffer = Buffer("/x.json", "ab\ncd", 1, "utf-16")
    assert buffer.offset(types.Position(0, 99)) == 2
    assert buffer.offset(types.Position(99, 0)) == 5
    assert buffer.position(99) == types.Position(1, 2)


def test_bytes_of_an_edit() -> None:
    text = '{ "about": "\U0001f980", "tag": 0 }'
    buffer = Buffer("/x.json", text, 1, "utf-16")
    start = text.encode().index(b"0 }")
    assert buffer.range_of_bytes(start, start + 1) == types.Range(types.Position(0, 24), types.Position(0, 25))


@given(TEXTS, st.integers(0, 40), st.integers(0, 40))
def test_bytes_are_those_of_the_text(text: str, start: int, end: int) -> None:
    start, end = sorted(min(at, len(text)) for at in (start, end))
    buffer = Buffer("/x.json", text, 1, "utf-16")
    before, inside = (len(part.encode()) for part in (text[:start], text[start:end]))
    assert buffer.range_of_bytes(before, before + inside) == buffer.range(start, end)


def test_half_a_character_is_one_sign() -> None:
    buffer = Buffer("/x.json", '"\ud800"x', 1, "utf-16")
    assert buffer.range_of_bytes(3, 4) == types.Range(types.Position(0, 3), types.Position(0, 4))


def test_the_middle_of_a_character_is_its_end() -> None:
    assert Buffer("/x.json", "a\U0001f980b", 1, "utf-16").offset(types.Position(0, 2)) == 2


def test_what_is_larger_than_any_definition_has_no_tree() -> None:
    assert Buffer("/x.json", "[" + " " * 1_048_575, 1, "utf-16").root is not None
    assert Buffer("/x.json", "[" + " " * 1_048_576, 1, "utf-16").root is None
