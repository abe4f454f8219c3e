from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kiplint.limits import DEFINITION_BYTES, DEFINITION_PROBLEMS
from kiplint.text.decode import Problem
from kiplint.text.diagnose import MISSING, Diagnosis, diagnose, read_json5
from kiplint.text.lines import decode_text

from .support import mutations, random_texts


def kinds(diagnosis: Diagnosis) -> list[str]:
    return [problem.kind for problem in diagnosis.problems]


@pytest.mark.parametrize(
    ("data", "kind", "detail", "start"),
    [
        (b" \r\n\t", "empty-file", "the file has no definition", 0),
        (b"\xef\xbb\xbf// x\n", "empty-file", "the file has no definition", 0),
        (b"# x", "invalid-json", "'#' does not begin a comment; write //", 0),
        (b'"\xc3\xa9\xff"', "not-utf8", "byte 0xff at byte offset 3 is not UTF-8", 2),
        (b'"\xed\xa0\x80"', "not-utf8", "byte 0xed at byte offset 1 is not UTF-8", 1),
        ("{}".encode("utf-16-le"), "invalid-json", "expected a property name in double quotes, found '\\u0000'", 1),
        ("\ufeff{}".encode("utf-16-be"), "not-utf8", "byte 0xfe at byte offset 0 is not UTF-8", 0),
    ],
)
def test_files_without_a_value(data: bytes, kind: str, detail: str, start: int) -> None:
    diagnosis = diagnose(data)
    assert diagnosis.value is MISSING
    assert [(p.kind, p.detail, p.start) for p in diagnosis.problems] == [(kind, detail, start)]


def test_too_large() -> None:
    assert diagnose(b"1" + b" " * (DEFINITION_BYTES - 1)) == Diagnosis((), 1)
    detail = "the file has more than 1,048,576 bytes, which is far more than any definition"
    assert diagnose(b" " * (DEFINITION_BYTES + 1)) == Diagnosis((Problem("too-large", detail, "", 0, 0),), MISSING)


def test_byte_order_mark() -> None:
    diagnosis = diagnose(b'\xef\xbb\xbf{"a": 1,}')
    assert [(p.kind, p.start, p.end) for p in diagnosis.problems] == [
        ("byte-order-mark", 0, 1),
        ("trailing-comma", 8, 9),
    ]
    assert diagnosis.value == {"a": 1}


@pytest.mark.parametrize(
    ("text", "expected", "value"),
    [
        ("{'a': 1, 'a': 2}", ["json5-only", "json5-only", "duplicate-key"], {"a": 2}),
        ('/* // */ [1] /* " */', ["block-comment", "block-comment"], [1]),
        ("/* x */", ["block-comment", "empty-file"], MISSING),
        ("{a: +1, 'b': [0x10, .5,],}", ["json5-only"] * 5 + ["trailing-comma"] * 2, {"a": 1, "b": [16, 0.5]}),
        ('{"a": 1} }', ["trailing-content"], {"a": 1}),
        ("['\\ud83d\\ude00', '\\\\ud83d\\\\ude00']", ["json5-only"] * 2, ["\U0001f600", "\\ud83d\\ude00"]),
        ('{\u00a0"a":\u00a0"a\u00a0b" }', ["json5-only"] * 2, {"a": "a\u00a0b"}),
        ('"\\ud800"', ["invalid-json"], MISSING),
        ('{"\\udc00": 1}', ["invalid-json"], MISSING),
        ("[" * 65 + "]" * 65, ["too-deep"], MISSING),
        ("1" * 5000, ["invalid-json"], MISSING),
        ("0x" + "f" * 5000, ["json5-only"], MISSING),
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
    assert len(diagnosis.problems) <= DEFINITION_PROBLEMS + 2
    for problem in diagnosis.problems:
        assert 0 <= problem.start <= problem.end <= len(decode_text(data))
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
        assert repr(diagnosis.value).replace("-0", "0") == repr(read_json5(text)).replace("-0", "0")
        json.dumps(diagnosis.value, ensure_ascii=False).encode()


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
def test_duplicates_are_harmless_if_no_reader_could_be_misled(text: str, harmless: list[bool]) -> None:
    problems = diagnose(text.encode()).problems
    assert [problem.harmless for problem in problems] == harmless
    assert [problem.detail.endswith(", with the same value") for problem in problems] == harmless
    assert {problem.kind for problem in problems} == {"duplicate-key"}


@pytest.mark.parametrize(
    ("text", "is_conflict"),
    [
        ('{\n<<<<<<< HEAD\n  "validVersions": "0-1",\n=======\n  "validVersions": "0-2",\n>>>>>>> theirs\n}\n', True),
        ("<<<<<<< a\n{", False),
        (">>>>>>> b\n{\n<<<<<<< a", False),
        ('{\n"a": "<<<<<<< HEAD >>>>>>> b" x}', False),
    ],
)
def test_merge_conflict(text: str, is_conflict: bool) -> None:
    result = diagnose(text.encode())
    details = [problem.detail.partition(";")[0] for problem in result.problems]
    assert (details == ["an unresolved merge conflict"]) == is_conflict
    assert result.value is MISSING
