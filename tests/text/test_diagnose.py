from __future__ import annotations

import json

import json5
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.limits import DEFINITION_BYTES, DEFINITION_PROBLEMS
from kiplint.text.decode import Problem
from kiplint.text.diagnose import MISSING, Diagnosis, diagnose
from kiplint.text.lines import Lines, decode_text
from kiplint.text.literals import join_surrogates

from .support import mutations, random_texts


def only(data: bytes) -> Problem:
    """The single problem of a file without a value."""
    diagnosis = diagnose(data)
    assert diagnosis.value is MISSING
    (problem,) = diagnosis.problems
    return problem


def kinds(diagnosis: Diagnosis) -> list[str]:
    return [problem.kind for problem in diagnosis.problems]


@pytest.mark.parametrize(
    ("data", "detail", "end"),
    [
        (b"", "the file is empty", 0),
        (b" \r\n\t", "the file is empty", 1),
        (b"\xef\xbb\xbf\n", "the file is empty", 1),
        (b"// x\n", "the file has nothing but comments", 1),
        (b"\n/* x */\n", "the file has nothing but comments", 1),
    ],
)
def test_empty_file(data: bytes, detail: str, end: int) -> None:
    assert only(data) == Problem("empty-file", detail, "", 0, end)


def test_too_large() -> None:
    assert diagnose(b"1" + b" " * (DEFINITION_BYTES - 1)) == Diagnosis((), 1, "1" + " " * (DEFINITION_BYTES - 1))
    detail = "the file has more than 1,048,576 bytes, which is far more than any definition"
    assert diagnose(b" " * (DEFINITION_BYTES + 1)) == Diagnosis((Problem("too-large", detail, "", 0, 0),), MISSING, "")


@pytest.mark.parametrize(
    ("data", "detail", "start"),
    [
        (b'"\xc3\xa9\xff"', "byte 0xff at byte offset 3 is not UTF-8", 2),
        (b"{} // \xe9", "byte 0xe9 at byte offset 6 is not UTF-8", 6),
        (b'"\xed\xa0\x80"', "byte 0xed at byte offset 1 is not UTF-8", 1),
        ("{}".encode("utf-16"), "the file is in UTF-16, by its byte order mark; save it as UTF-8", 0),
        ("\ufeff{}".encode("utf-16-be"), "the file is in UTF-16, by its byte order mark; save it as UTF-8", 0),
        ("{}".encode("utf-32"), "the file is in UTF-32, by its byte order mark; save it as UTF-8", 0),
        ("\ufeff{}".encode("utf-32-be"), "the file is in UTF-32, by its byte order mark; save it as UTF-8", 0),
    ],
)
def test_not_utf8(data: bytes, detail: str, start: int) -> None:
    assert only(data) == Problem("not-utf8", detail, "", start, start + 1)


def test_byte_order_mark() -> None:
    diagnosis = diagnose(b'\xef\xbb\xbf{"a": 1,}')
    assert [(p.kind, p.start, p.end) for p in diagnosis.problems] == [
        ("byte-order-mark", 0, 1),
        ("trailing-comma", 8, 9),
    ]
    assert diagnosis.value == {"a": 1}
    assert diagnosis.text == '\ufeff{"a": 1,}'
    assert Lines(diagnosis.text).position(8) == (1, 8)


@pytest.mark.parametrize(
    ("text", "expected", "value"),
    [
        ('{"a": 1, "a": 2}', ["duplicate-key"], {"a": 2}),
        ("{'a': 1, 'a': 2}", ["json5-only", "json5-only", "duplicate-key"], {"a": 2}),
        ('/* // */ [1] /* " */', ["block-comment", "block-comment"], [1]),
        ("{a: +1, 'b': [0x10, .5,],}", ["json5-only"] * 5 + ["trailing-comma"] * 2, {"a": 1, "b": [16, 0.5]}),
        ('{"a": 1} }', ["trailing-content"], {"a": 1}),
        ("['\\ud83d\\ude00', '\\\\ud83d\\\\ude00']", ["json5-only"] * 2, ["\U0001f600", "\\ud83d\\ude00"]),
        ('"a\\\nb"', ["json5-only"], "ab"),
        ('"\\ud800"', ["invalid-json"], MISSING),
        ('{"\\udc00": 1}', ["invalid-json"], MISSING),
        ("[" * 65 + "]" * 65, ["too-deep"], MISSING),
        ("1" * 5000, ["invalid-json"], MISSING),
        ("0x" + "f" * 5000, ["invalid-json"], MISSING),
        ("0x" + "f" * 99, ["json5-only"], int("f" * 99, 16)),
        ("null", [], None),
    ],
)
def test_value(text: str, expected: list[str], value: object) -> None:
    diagnosis = diagnose(text.encode())
    assert sorted(kinds(diagnosis)) == sorted(expected)
    assert diagnosis.value == value


@given(st.binary(max_size=60) | (random_texts | mutations()).map(str.encode))
def test_never_raises_and_always_explains(data: bytes) -> None:
    diagnosis = diagnose(data)
    assert diagnosis.text == decode_text(data)
    assert len(diagnosis.problems) <= DEFINITION_PROBLEMS + 2
    for problem in diagnosis.problems:
        assert 0 <= problem.start <= problem.end <= len(diagnosis.text)
        assert problem.detail
        assert problem.detail.isprintable()
    if diagnosis.value is MISSING:
        assert diagnosis.problems
    elif not {"json5-only", "trailing-comma", "trailing-content"} & set(kinds(diagnosis)):
        json.dumps(diagnosis.value, allow_nan=False)


@given(mutations() | random_texts)
def test_what_is_saved_agrees_with_json5(text: str) -> None:
    diagnosis = diagnose(text.encode())
    if diagnosis.value is not MISSING and "trailing-content" not in kinds(diagnosis):
        # By repr, as NaN is not equal to itself; json5 does not tell -0 from 0.
        assert repr(diagnosis.value).replace("-0", "0") == repr(json5.loads(join_surrogates(text))).replace("-0", "0")
        json.dumps(diagnosis.value, ensure_ascii=False).encode()


# Properties given twice: with one value, and with two


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ('{"a": "0+", "a": "0+"}', [True]),
        ('{"a": "0+", "a": "1+"}', [False]),
        ('{"a": 1, "a": 1, "a": 2}', [False, False]),
        ('{"a": {"b": 1, "b": 1}, "a": {"b": 1, "b": 1}}', [True, True, True]),
        ('{"x": [{"a": 1}, {"a": 1}], "a": 1, "b": 2, "b": 3}', [False]),
    ],
)
def test_whether_a_reader_could_be_misled(text: str, harmless: list[bool]) -> None:
    problems = diagnose(text.encode()).problems
    assert [problem.harmless for problem in problems] == harmless
    assert [problem.detail.endswith(", with the same value") for problem in problems] == harmless
    assert {problem.kind for problem in problems} == {"duplicate-key"}


# Merge conflicts and pasted text: one finding each that says so (issue 11)


CONFLICT = """{
  "name": "XRequest",
<<<<<<< HEAD
  "validVersions": "0-1",
=======
  "validVersions": "0-2",
>>>>>>> theirs
  "fields": []
}
"""


def test_merge_conflict_markers_are_one_finding_that_says_so() -> None:
    result = diagnose(CONFLICT.encode())
    (only,) = result.problems
    assert (only.kind, CONFLICT[only.start : only.end]) == ("invalid-json", "<<<<<<< HEAD")
    assert only.detail.startswith("a merge conflict that was not resolved; ")
    assert result.value is MISSING


@pytest.mark.parametrize(
    "text", ["{ =======", "<<<<<<< a\n{", ">>>>>>> b\n{\n<<<<<<< a", '{\n"a": "<<<<<<< HEAD >>>>>>> b" x}']
)
def test_what_only_looks_like_a_conflict(text: str) -> None:
    assert not any("conflict" in problem.detail for problem in diagnose(text.encode()).problems)


@pytest.mark.parametrize(
    ("text", "first", "output"),
    [
        ("{ “name”: “X” }", "“", "with 4 curly quotes"),
        ("{ «name»: 1 }", "«", "with 2 curly quotes"),
        ('{ "name": "X"\u200b}', "\u200b", "with 1 no-break or other odd space"),
        ("{\u00a0“name”:\u00a01 }", "“", "with 2 no-break or other odd spaces and 2 curly quotes"),
        ('{ "about": "it’s “so”\u00a0", “name”: 1, "x": “y” }', None, ""),
    ],
)
def test_pasted_text_is_one_finding_that_says_so(text: str, first: str | None, output: str) -> None:
    problems = diagnose(text.encode()).problems
    if first is None:  # the quotes inside a string would end it: there is no guess
        assert not any("pasted" in problem.detail for problem in problems)
        return
    (only,) = problems
    assert (only.kind, text[only.start : only.end]) == ("invalid-json", first)
    assert output in only.detail


def test_no_break_spaces_are_one_finding() -> None:
    text = '{\u00a0"name":\u00a0"X",\u00a0"about": "a\u00a0b" }'
    result = diagnose(text.encode())
    (only,) = result.problems
    assert (only.kind, only.start) == ("json5-only", 1)
    assert "U+00A0 is not white space in JSON; write a space, here and 2 times more" in only.detail
    assert result.value == {"name": "X", "about": "a\u00a0b"}
    twice = diagnose('{\u00a0"name":\u00a0"X" }'.encode()).problems
    assert [problem.detail.partition("; ")[2] for problem in twice] == [
        "write a space, here and once more, as in text from a web page"
    ]
