from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kiplint.text.lines import Lines, character_offset


def test_every_line_end() -> None:
    lines = Lines("é1\n2\r\n\r4")
    assert [lines.position(offset) for offset in range(9)] == [
        (1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (2, 3), (3, 1), (4, 1), (4, 2),
    ]  # fmt: skip
    assert [lines.line(number) for number in range(1, 5)] == ["é1", "2", "", "4"]
    assert len(lines.starts) == 4


def test_a_byte_order_mark_takes_no_column() -> None:
    lines = Lines("\ufeffab\n\ufeffc")
    assert [lines.position(offset) for offset in range(6)] == [(1, 1), (1, 1), (1, 2), (1, 3), (2, 1), (2, 2)]
    assert [lines.line(1), lines.line(2)] == ["ab", "\ufeffc"]


@given(st.text("ab\r\n", max_size=20))
def test_lines_put_together_are_the_text(text: str) -> None:
    lines = Lines(text)
    assert [lines.line(number) for number in range(1, len(lines.starts) + 1)] == [
        part.rstrip("\r\n") for part in text.splitlines(keepends=True)
    ] + ([""] if not text or text[-1] in "\r\n" else [])
    for offset in range(len(text)):
        line, column = lines.position(offset)
        assert lines.starts[line - 1] + column - 1 == offset


@given(st.lists(st.sampled_from(["a", "é", "€", "𝄞", "\n", "\r\n", "a" * 700]), max_size=8).map("".join), st.data())
def test_offsets_in_bytes(text: str, data: st.DataObject) -> None:
    utf8 = text.encode()
    offset = len(text[: data.draw(st.integers(0, len(text)))].encode())
    assert character_offset(utf8, offset) == len(utf8[:offset].decode())
