from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.text.decode import Comment, blank_comments, blank_line_comments, blank_text, comments

from .support import broken, commented, definitions, mutated, naive_blank


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", b""),
        (b"// a", b"    "),
        (b"{} // a\n//b\r\n{}", b"{}     \n   \r\n{}"),
        (b'"//" // x', b'"//"     '),
        (b'"\\"//" // x', b'"\\"//"     '),
        (b"'//' // x", b"'//'     "),
        (b"1/*a\nb*/2", b"1   \n   2"),
        (b"1/* open\r", b"1       \r"),
        (b"/*/ */1", b"      1"),
        (b"1 // /* \n2 // */", b"1       \n2      "),
        (b'"open // \n// x', b'"open // \n    '),
        ("{} // é\n".encode(), b"{}      \n"),
    ],
)
def test_exact(data: bytes, expected: bytes) -> None:
    assert blank_comments(data) == expected
    assert naive_blank(data) == expected


@given(broken | mutated() | st.text('/*"\\\n\r a', max_size=30))
def test_blanks_like_the_reference(text: str) -> None:
    data = text.encode()
    blanked = blank_comments(data)
    assert blanked == naive_blank(data)
    if text.isascii():
        assert blank_text(text).encode() == blanked


@given(st.binary(max_size=40) | st.lists(st.sampled_from([b"//", b'"', b"\n", b"\xff", b"\\"])).map(b"".join))
def test_any_bytes(data: bytes) -> None:
    blanked = blank_comments(data)
    assert blanked == naive_blank(data)
    assert len(blanked) == len(data)


@given(broken | mutated())
def test_line_comments_alone_agree_unless_there_is_a_block_comment(text: str) -> None:
    data = text.encode()
    if not any(comment.block for comment in comments(text)):
        assert blank_line_comments(data) == blank_comments(data)


@given(commented(blocks=True) | commented())
def test_comments_are_what_is_blanked(document: tuple[str, object]) -> None:
    text, _ = document
    pieces = list(text)
    for comment in comments(text):
        assert text[comment.start : comment.start + 2] == ("/*" if comment.block else "//")
        for at in range(comment.start, comment.end):
            pieces[at] = " " if pieces[at] not in "\r\n" else pieces[at]
    assert "".join(pieces) == blank_text(text)


def test_bodies() -> None:
    text = '/* a */ //  b \n"//" /* c'
    assert [(comment, comment.body(text)) for comment in comments(text)] == [
        (Comment(0, 7, block=True), "a"),
        (Comment(8, 14, block=False), "b"),
        (Comment(20, 24, block=True), "c"),
    ]


def test_corpus(corpus: Path) -> None:
    for path in definitions(corpus):
        data = path.read_bytes()
        assert blank_comments(data) == naive_blank(data), path.name
