"""Inputs made to be slow or deep. Anything worse than linear would not come to an end here."""

from __future__ import annotations

import pytest

from kiplint.engine.suppression import parse_suppressions
from kiplint.limits import DEFINITION_BYTES, DEFINITION_PROBLEMS, FIXED_PROBLEMS
from kiplint.model.load import load
from kiplint.text.decode import blank_comments, decode
from kiplint.text.diagnose import MISSING, diagnose
from kiplint.text.lines import decode_text
from kiplint.text.tree import Locator

from .test_decode import ANY

PIECES = [
    "[", "{", '{"a":', "[[],", '"', "'", "\\", '"\\', '\\"', '"\\\n', "/", "/*", "/**/", "//", "// \n", "1//\r",
    '"a//"\r', 'x//"\n', " ", "\r", "\0", "\ufeff", "\u00a0", "#\n", "1", "-", "1,", ",", ":", "}", '"a":1,', '"a" ',
    '"\\ud800"', "{a:{a:", "// kiplint: ignore[a] b\n", "// kiplint: ignore[\n", "/* kiplint: x */",
]  # fmt: skip
FRAMED_PIECES = [
    ("[", "1,", "1]"),
    ("[", "+1,", "1]"),
    ("[", '"\\u0061\\q",', "1]"),
    ("[", "'", ""),
    ("[", '{"name": "', ""),
    ("{", '"a": 1,', '"a": 1}'),
    ("{", '"a" ', "}"),
    ("{", '"a"' + " " * 999, "}"),
    ("[", "1 // x\n,", "1]"),
    ("", "\n", "{}"),
    ("{} // kiplint: ignore[a] b", "\n// kiplint: ignore[a] b", ""),
    ('{"' + "k" * 99_999 + '": [', "+1,", "1]}"),
]


ENOUGH = DEFINITION_BYTES // 32
"""Bytes of which growing squares would take minutes; a few inputs are as large as they may be."""


def exercise(data: bytes) -> None:
    diagnosis = diagnose(data)
    assert len(diagnosis.problems) <= FIXED_PROBLEMS + 1
    assert max((len(problem.pointer) + len(problem.detail) for problem in diagnosis.problems), default=0) < 3_000
    reported_problems = load("XRequest.json", data).problems
    assert len(reported_problems) <= 2 * DEFINITION_PROBLEMS
    assert sum(len(problem.pointer) + len(problem.detail) for problem in reported_problems) < DEFINITION_BYTES
    assert diagnosis.problems or diagnosis.value is not MISSING
    text = decode_text(data)
    assert len(blank_comments(data)) == len(data)
    locator = Locator(text)
    assert locator.named_pointer("/0/a").startswith(("/", "["))
    assert locator.reported_characters("/0/a") <= (len(text), len(text))
    parse_suppressions(text)
    decode(data, ANY)


@pytest.mark.parametrize("piece", PIECES, ids=repr)
def test_repeated(piece: str) -> None:
    data = piece.encode()
    exercise(data * (ENOUGH // len(data)))


@pytest.mark.parametrize(("head", "piece", "tail"), FRAMED_PIECES)
def test_wrapped(head: str, piece: str, tail: str) -> None:
    exercise((head + piece * (ENOUGH // len(piece)) + tail).encode())


@pytest.mark.parametrize("piece", ["[", "'a", '"\\', "//", "[1,"])
def test_as_large_as_allowed(piece: str) -> None:
    exercise((piece * DEFINITION_BYTES)[:DEFINITION_BYTES].encode())
